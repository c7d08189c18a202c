import { type ClickRecord, clickStatement } from '#attribution';
import { isOfDevice } from '#catalogue';
import { batchWithRetry, isTransient } from '#db';
import { versionOf } from '#env';
import { type LogFields, logLine } from '#lib/log';
import { isSampled, LOG_SAMPLE } from '#lib/log-sample';
import { PARK_REASON, type Parked, parkStatements, readMessage } from '#rollup';
import { type CheckedMessage, checkMessage, parkedWhole } from './check-message.ts';
import { type EventWithText, packTexts } from './pack.ts';
import { counterName, counterOf, readCounterName } from './shards.ts';

const MAX_RETRY_DELAY_SECONDS = 300;
/** An invocation may open 6 connections. */
const MAX_CALLS = 6;
/** Clicks per statement: about 600 bytes each, and a value may have 2 MB. */
const MAX_CLICKS = 1_000;

/**
 * Passes a batch of the event queue to its counters, without counting. Never throws: a message is acknowledged once all its counters have
 * accepted their part and D1 its clicks; every other message is retried later. Redelivering messages, in whole or in part and in any order,
 * adds nothing.
 */
export async function consumeEvents(batch: MessageBatch, env: Env): Promise<void> {
  const version = versionOf(env);
  const checked = await Promise.all(batch.messages.map((message) => checkMessage(message, version)));
  const failed = new Map<Message, unknown>();
  const calls = [...groupByCounter(checked)].map(
    ([name, group]) =>
      () =>
        append(env, name, group, failed),
  );
  calls.push(() => storeInD1(env.DB, checked, failed));
  await runAll(calls, MAX_CALLS);
  await Promise.all(
    checked.map(async ({ message }) => {
      if (!failed.has(message)) return message.ack();
      const error = failed.get(message);
      if (isPassing(error)) return retryLater(message, error);
      // Retrying would not help. When the message is replayed, counters recognize the events that they already have.
      return parkOrRetry(env.DB, message, await parkedWhole(message, PARK_REASON.unlogged), error);
    }),
  );
  logBatch(batch, checked, failed.size);
}

/** Parks messages that the queue gave up delivering. Never throws. */
export async function consumeDeadLetters(batch: MessageBatch, env: Env): Promise<void> {
  const { queue, messages } = batch;
  logLine('error', 'dead letters', { queue, messages: messages.length });
  await Promise.all(
    messages.map(async (message) =>
      parkOrRetry(env.DB, message, await parkedWhole(message, PARK_REASON.undelivered), null),
    ),
  );
}

type Group = { message: Message; events: EventWithText[] }[];

/** Groups events by counter and message. Clicks have no device yet, so the application's first counter counts them. */
function groupByCounter(checked: readonly CheckedMessage[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const { message, events } of checked) {
    let [applicationId, shard]: [string | null, number] = [null, 0];
    let own: EventWithText[] = [];
    for (const each of events) {
      const { event } = each;
      const eventShard = isOfDevice(event) ? (event.shard ?? 0) : 0;
      // Nearly always, all events of a message are for the same counter.
      if (event.application_id !== applicationId || eventShard !== shard) {
        [applicationId, shard] = [event.application_id, eventShard];
        own = eventsFor(groups, counterName(applicationId, shard), message);
      }
      own.push(each);
    }
  }
  return groups;
}

/** The list of a message's events in a counter's group. */
function eventsFor(groups: Map<string, Group>, name: string, message: Message): EventWithText[] {
  const group = groups.get(name) ?? [];
  groups.set(name, group);
  let last = group.at(-1);
  if (last?.message !== message) {
    last = { message, events: [] };
    group.push(last);
  }
  return last.events;
}

/** One call for the group. A permanent failure is narrowed down to the messages that cause it. */
async function append(env: Env, name: string, group: Group, failed: Map<Message, unknown>): Promise<void> {
  const { applicationId, shard } = readCounterName(name);
  const batch = packTexts(
    applicationId,
    group.flatMap(({ events }) => events),
  );
  try {
    await counterOf(env, applicationId, shard).append(batch);
  } catch (error) {
    if (group.length === 1 || isPassing(error)) {
      for (const { message } of group) failed.set(message, error);
      return;
    }
    const middle = Math.ceil(group.length / 2);
    await append(env, name, group.slice(0, middle), failed);
    await append(env, name, group.slice(middle), failed);
  }
}

/** Stores what does not go through a counter: clicks for attribution, and messages that could not be read. */
async function storeInD1(
  db: D1Database,
  checked: readonly CheckedMessage[],
  failed: Map<Message, unknown>,
): Promise<void> {
  const concerned = checked.filter(({ clicks, parked }) => clicks.length + parked.length > 0);
  if (concerned.length === 0) return;
  const clicks = concerned.flatMap((item) => item.clicks);
  const parked = concerned.flatMap((item) => item.parked);
  try {
    await batchWithRetry(db, () => [
      ...parkStatements(db, parked, Date.now()),
      ...partsOf(clicks).map((part) => clickStatement(db, part)),
    ]);
  } catch (error) {
    const [first] = concerned;
    if (isPassing(error) || (concerned.length === 1 && first)) {
      for (const { message } of concerned) failed.set(message, error);
      return;
    }
    const middle = Math.ceil(concerned.length / 2);
    await storeInD1(db, concerned.slice(0, middle), failed);
    await storeInD1(db, concerned.slice(middle), failed);
  }
}

const partsOf = (clicks: readonly ClickRecord[]): ClickRecord[][] =>
  Array.from({ length: Math.ceil(clicks.length / MAX_CLICKS) }, (_, part) =>
    clicks.slice(part * MAX_CLICKS, (part + 1) * MAX_CLICKS),
  );

/** Whether an error of D1 or of an object may go away by itself. Objects mark such errors with a property. */
function isPassing(error: unknown): boolean {
  if (isTransient(error)) return true;
  if (!(error instanceof Error)) return false;
  const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
  return retryable === true || overloaded === true;
}

async function runAll(work: readonly (() => Promise<void>)[], atOnce: number): Promise<void> {
  const waiting = [...work];
  const next = async (): Promise<void> => {
    for (let call = waiting.shift(); call; call = waiting.shift()) await call();
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

async function parkOrRetry(db: D1Database, message: Message, parked: Parked, cause: unknown): Promise<void> {
  try {
    await batchWithRetry(db, () => parkStatements(db, [parked], Date.now()));
    message.ack();
    logMessage('message parked', message, cause);
  } catch (error) {
    retryLater(message, error);
  }
}

/** Backs off from 2 s to 5 min, which is enough to survive an outage. */
function retryLater(message: Message, error: unknown): void {
  message.retry({ delaySeconds: Math.min(2 ** message.attempts, MAX_RETRY_DELAY_SECONDS) });
  logMessage('message put off', message, error);
}

/** The log fields of a message, never its content. The first event's id represents all of them. */
const logFields = (messageId: string, eventId: unknown): LogFields => ({
  message_id: messageId,
  ...(typeof eventId === 'string' ? { event_id: eventId } : {}),
});

/** The log fields of a message that may not be valid. */
function fieldsOf({ id, body }: Message): LogFields {
  const { message } = readMessage(body);
  const { events } = (message ?? {}) as { events?: unknown };
  const [first] = (Array.isArray(events) ? events : []) as { id?: unknown }[];
  return logFields(id, first?.id);
}

/** Logs one line for each message that failed. */
function logMessage(what: string, message: Message, error: unknown): void {
  const { attempts } = message;
  logLine('warn', what, {
    ...fieldsOf(message),
    attempt: attempts,
    ...(error ? { error: String(error) } : {}),
  });
}

/** Logs one line for a batch in which something failed or was parked, and one for 1 in 100 of all messages. */
function logBatch(batch: MessageBatch, checked: readonly CheckedMessage[], failed: number): void {
  const sum = (count: (item: CheckedMessage) => number) =>
    checked.reduce((total, item) => total + count(item), 0);
  for (const { message, events, clicks } of checked) {
    const eventId = events[0]?.event.id;
    if (!isSampled(eventId ?? message.id)) continue;
    const counts = { events: events.length, clicks: clicks.length };
    logLine('info', 'message taken', { ...logFields(message.id, eventId), ...counts, sampled: LOG_SAMPLE });
  }
  const parked = sum((item) => item.parked.length);
  if (failed + parked === 0) return;
  logLine('warn', 'batch taken', {
    messages: batch.messages.length,
    failed,
    events: sum(({ events }) => events.length),
    clicks: sum(({ clicks }) => clicks.length),
    parked,
  });
}
