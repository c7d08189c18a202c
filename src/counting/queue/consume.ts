import { clickStatements } from '#attribution';
import { shardOf } from '#catalogue';
import { batchWithRetry, isTransient, retryTransient } from '#db';
import { versionOf } from '#env';
import { chunksOf } from '#lib/collections/chunks';
import { inParallel } from '#lib/collections/in-parallel';
import { logLine, logWarning } from '#lib/log';
import {
  type CheckedMessage,
  checkMessage,
  type EventWithText,
  PARK_REASON,
  type Parked,
  parkedWhole,
  parkStatements,
} from '#rollup';
import { packTexts } from '../log.ts';
import { type CounterStub, counterName, counterOf, readCounterName } from '../shards.ts';
import { logBatch, logMessage } from './consume-log.ts';
import { type Delayed, forgetDelayed, noteDelayed, type OwnMessage } from './delayed.ts';
import { DEAD_LETTER_DELAY_SECONDS, eventDelaySeconds, FILED_FROM_ATTEMPT } from './retry-schedule.ts';
import { fileUndelivered } from './undelivered.ts';

/** An invocation may open 6 connections. */
const MAX_CALLS = 6;
/** Clicks per statement: about 600 bytes each, and a value may have 2 MB. */
const MAX_CLICKS = 1_000;

/** Messages of one queue. */
export type Messages = Pick<MessageBatch, 'queue' | 'messages'>;

/**
 * Passes a batch of the event queue to its counters, without counting. Never throws: a message is acknowledged once all its counters have
 * accepted their part and D1 its clicks; every other message is retried later. Redelivering messages, in whole or in part and in any order,
 * adds nothing.
 */
export async function consumeEvents(batch: Messages, env: Env): Promise<void> {
  const version = versionOf(env);
  const checked = await Promise.all(batch.messages.map((message) => checkMessage(message, version)));
  const failed: Failed = new Map();
  const delayed: Delayed[] = [];
  const calls = [append, appendOpen].flatMap((send) => {
    const own = checked.filter(({ creditOpen }) => creditOpen === (send === appendOpen));
    return [...groupByCounter(own)].map(
      ([name, group]) =>
        () =>
          deliver(env, name, group, send, failed, delayed),
    );
  });
  calls.push(() => storeInD1(env.DB, checked, failed));
  await inParallel(calls, MAX_CALLS, (call) => call());
  await keepBacklog(env.DB, batch.queue, checked, failed, delayed);
  await Promise.all(
    checked.map(async (item) => {
      const { message } = item;
      const failure = failed.get(message);
      if (!failure) return message.ack();
      const { error, isRefused } = failure;
      const delay = eventDelaySeconds(message.attempts);
      if (!isRefused) return retryLater(message, error, delay);
      // Retrying would not help. When the message is replayed, counters recognize the events that they already have.
      const parked = await parkedWhole(message, PARK_REASON.unlogged);
      try {
        await park(env.DB, message, parked, applicationsOf(item), error);
      } catch (reason) {
        retryLater(message, reason, delay);
      }
    }),
  );
  logBatch(batch, checked, failed.size);
}

/**
 * Parks messages that the queue gave up delivering. What D1 does not accept is tried again every hour for four days, and then filed in R2:
 * see `undelivered.ts`. Never throws.
 */
export async function consumeDeadLetters(batch: Messages, env: Env): Promise<void> {
  const { queue, messages } = batch;
  logLine('error', 'dead letters', { queue, messages: messages.length });
  await Promise.all(
    messages.map(async (message) => {
      const parked = await parkedWhole(message, PARK_REASON.undelivered);
      try {
        await park(env.DB, message, parked, applicationsOf(await checkMessage(message, null)), null);
      } catch (error) {
        if (message.attempts < FILED_FROM_ATTEMPT)
          return retryLater(message, error, DEAD_LETTER_DELAY_SECONDS);
        await fileOrRetry(env.RAW_EVENTS, message, parked);
      }
    }),
  );
}

type OfCounter = { message: Message; events: EventWithText[] };

/** Groups events by counter and message. Clicks have no device yet, so the application's first counter counts them. */
function groupByCounter(checked: readonly CheckedMessage[]): Map<string, OfCounter[]> {
  const groups = new Map<string, OfCounter[]>();
  for (const { message, events } of checked) {
    const byCounter = Map.groupBy(events, ({ event }) => counterName(event.application_id, shardOf(event)));
    for (const [name, own] of byCounter) {
      const group = groups.get(name) ?? [];
      groups.set(name, group);
      group.push({ message, events: own });
    }
  }
  return groups;
}

type Failed = Map<Message, { error: unknown; isRefused: boolean }>;

/**
 * Sends items together. A permanent failure is narrowed down to the messages that cause it, which are refused if the receiver accepts another
 * one at the same moment. If it accepts none, it is to blame itself, and all are delivered again. Returns the items to deliver again.
 */
async function sendAll<Item extends { message: Message }>(
  items: readonly Item[],
  send: (items: readonly Item[]) => Promise<unknown>,
  failed: Failed,
): Promise<Item[]> {
  const waiting: [Item, unknown][] = [];
  const alone: [Item, unknown][] = [];
  let isAnyAccepted = false;
  const attempt = async (part: readonly Item[]): Promise<void> => {
    try {
      await send(part);
      isAnyAccepted = true;
    } catch (error) {
      if (isPassing(error)) waiting.push(...part.map((item): [Item, unknown] => [item, error]));
      else if (part.length === 1) alone.push(...part.map((item): [Item, unknown] => [item, error]));
      else {
        const middle = Math.ceil(part.length / 2);
        await attempt(part.slice(0, middle));
        await attempt(part.slice(middle));
      }
    }
  };
  await attempt(items);
  const refused = isAnyAccepted ? alone : [];
  if (!isAnyAccepted) waiting.push(...alone);
  for (const [{ message }, error] of waiting) failed.set(message, { error, isRefused: false });
  for (const [{ message }, error] of refused) failed.set(message, { error, isRefused: true });
  return waiting.map(([item]) => item);
}

type Send = (counter: CounterStub, applicationId: string, events: EventWithText[]) => Promise<unknown>;

const append: Send = (counter, applicationId, events) => counter.append(packTexts(applicationId, events));

/** Of devices whose credit was open. */
const appendOpen: Send = (counter, _, events) => counter.appendOpen(events.map(({ text }) => text));

/** Hands a group to its counter. Adds what the counter did not accept to `delayed`. */
async function deliver(
  env: Env,
  name: string,
  group: readonly OfCounter[],
  sendTo: Send,
  failed: Failed,
  delayed: Delayed[],
): Promise<void> {
  const { applicationId, shard } = readCounterName(name);
  const counter = counterOf(env, applicationId, shard);
  const send = (part: readonly OfCounter[]) => {
    const events = part.flatMap((own) => own.events);
    return sendTo(counter, applicationId, events);
  };
  for (const { message, events } of await sendAll(group, send, failed)) {
    const receivedAt = events.reduce((first, { event }) => Math.min(first, event.received_at), Date.now());
    delayed.push({ applicationId, messageId: message.id, events: events.length, receivedAt });
  }
}

/** Notes what counters did not accept, and forgets what they accepted at last. A message that cannot be forgotten is delivered again. */
async function keepBacklog(
  db: D1Database,
  queue: string,
  checked: readonly CheckedMessage[],
  failed: Failed,
  delayed: readonly Delayed[],
): Promise<void> {
  await noteDelayed(db, queue, delayed).catch((error) => logWarning('backlog not noted', error));
  const late = checked.filter(({ message }) => message.attempts > 1 && !failed.has(message));
  if (late.length === 0) return;
  try {
    await retryTransient(() => forgetDelayed(db, late.flatMap(applicationsOf)).run());
  } catch (error) {
    for (const { message } of late) failed.set(message, { error, isRefused: false });
  }
}

/** The applications that a message has events of. */
function applicationsOf({ message, events }: CheckedMessage): OwnMessage[] {
  const ids = new Set(events.map(({ event }) => event.application_id));
  return [...ids].map((applicationId) => ({ applicationId, messageId: message.id }));
}

/** Stores what does not go through a counter: clicks for attribution, and messages that could not be read. */
async function storeInD1(db: D1Database, checked: readonly CheckedMessage[], failed: Failed): Promise<void> {
  const concerned = checked.filter(({ clicks, parked }) => clicks.length + parked.length > 0);
  if (concerned.length === 0) return;
  await sendAll(
    concerned,
    (part) => {
      const clicks = part.flatMap((item) => item.clicks);
      const parked = part.flatMap((item) => item.parked);
      return batchWithRetry(db, () => [
        ...parkStatements(db, parked, Date.now()),
        ...[...chunksOf(clicks, MAX_CLICKS)].flatMap((own) => clickStatements(db, own)),
      ]);
    },
    failed,
  );
}

/** Whether an error of D1 or of an object may go away by itself. Objects mark such errors with a property. */
function isPassing(error: unknown): boolean {
  if (isTransient(error)) return true;
  if (!(error instanceof Error)) return false;
  const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
  return retryable === true || overloaded === true;
}

/** Parks a message and acknowledges it. Throws if D1 does not accept it. */
async function park(
  db: D1Database,
  message: Message,
  parked: Parked,
  own: readonly OwnMessage[],
  cause: unknown,
): Promise<void> {
  await batchWithRetry(db, () => [...parkStatements(db, [parked], Date.now()), forgetDelayed(db, own)]);
  message.ack();
  logMessage('message parked', message, cause);
}

async function fileOrRetry(bucket: Env['RAW_EVENTS'], message: Message, parked: Parked): Promise<void> {
  try {
    await fileUndelivered(bucket, message.id, parked, Date.now());
    message.ack();
    logMessage('message filed', message, null);
  } catch (error) {
    retryLater(message, error, DEAD_LETTER_DELAY_SECONDS);
  }
}

function retryLater(message: Message, error: unknown, delaySeconds: number): void {
  message.retry({ delaySeconds });
  logMessage('message put off', message, error);
}
