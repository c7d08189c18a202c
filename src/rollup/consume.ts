import { ClickRecord, clickStatement } from '#attribution';
import { batchWithRetry, isTransient, needsLessData } from '#db';
import { describeFaults, toFaults } from '#http';
import {
  appendStatement,
  type Backlog,
  backlogStatement,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
} from './append.ts';
import { EventMessage, LoggedEvent } from './event.ts';
import { foldIsDue, foldLog } from './fold.ts';
import { applicationIdOf, PARK_REASON, type Parked, parkedBody, parkedId, parkStatements } from './park.ts';

const LONGEST_RETRY_DELAY_SECONDS = 300;

/** A message whose parts were checked, with what of it has to be parked. */
type Checked = {
  message: Message;
  events: LoggedEvent[];
  clicks: ClickRecord[];
  parked: Parked[];
  bytes: number;
};

/**
 * Takes a batch of the event queue into the log. Never throws: a message is acked once its events are in the log or parked,
 * and every other one comes back later. Redelivered messages, whole or in part and in any order, add nothing.
 */
export async function consumeEvents(batch: MessageBatch, env: Env): Promise<void> {
  let backlog: Backlog | null = null;
  const checked = await Promise.all(batch.messages.map(check));
  for (const group of groupsThatFit(checked)) backlog = (await appendGroup(env.DB, group)) ?? backlog;
  if (!backlog || !foldIsDue(backlog, Date.now())) return;
  try {
    await foldLog(env.DB, Date.now());
  } catch (error) {
    // Nothing is lost: the log waits for the next batch, report or minute.
    console.warn(JSON.stringify({ level: 'warn', message: 'fold put off', error: String(error) }));
  }
}

/** One structured line a message and delivery: what became of it, never what is in it. */
function logSettled(message: Message, outcome: 'logged' | 'parked' | 'retried', parts?: Checked): void {
  console.log(
    JSON.stringify({
      level: 'info',
      message_id: message.id,
      attempts: message.attempts,
      outcome,
      ...(parts && { events: parts.events.length, clicks: parts.clicks.length, parked: parts.parked.length }),
    }),
  );
}

/** Parks what the queue gave up delivering. Never throws. */
export async function consumeDeadLetters(batch: MessageBatch, env: Env): Promise<void> {
  console.error(
    JSON.stringify({
      level: 'error',
      message: 'dead letters',
      queue: batch.queue,
      messages: batch.messages.length,
    }),
  );
  await Promise.all(
    batch.messages.map(async (message) =>
      parkOrRetry(env.DB, message, await parkedWhole(message, PARK_REASON.undelivered)),
    ),
  );
}

async function parkedWhole(message: Message, reason: string): Promise<Parked> {
  return {
    id: await parkedId(message.id, 'whole'),
    applicationId: applicationIdOf(message.body),
    body: parkedBody(message.body),
    reason,
  };
}

async function check(message: Message): Promise<Checked> {
  const parsed = EventMessage.safeParse(message.body);
  if (!parsed.success) {
    const reason = `not a message of this version: ${describeFaults(toFaults(parsed.error))}`;
    return { message, events: [], clicks: [], parked: [await parkedWhole(message, reason)], bytes: 0 };
  }
  const events: LoggedEvent[] = [];
  const parked: Parked[] = [];
  for (const [index, item] of parsed.data.events.entries()) {
    const event = LoggedEvent.safeParse(item);
    if (event.success) {
      events.push(event.data);
      continue;
    }
    parked.push({
      id: await parkedId(message.id, index),
      applicationId: applicationIdOf(item),
      body: parkedBody({ v: 1, events: [item] }),
      reason: `not an event of this version: ${describeFaults(toFaults(event.error))}`,
    });
  }
  const clicks: ClickRecord[] = [];
  for (const [index, item] of parsed.data.clicks.entries()) {
    const click = ClickRecord.safeParse(item);
    if (click.success) {
      clicks.push(click.data);
      continue;
    }
    parked.push({
      id: await parkedId(message.id, parsed.data.events.length + index),
      applicationId: applicationIdOf(item),
      body: parkedBody({ v: 1, events: [], clicks: [item] }),
      reason: `not a click of this version: ${describeFaults(toFaults(click.error))}`,
    });
  }
  return { message, events, clicks, parked, bytes: JSON.stringify({ events, clicks }).length };
}

/** Splits a batch into transactions of a size that D1 takes. A message is never split. */
function groupsThatFit(checked: Checked[]): Checked[][] {
  const groups: Checked[][] = [];
  let [events, bytes] = [0, 0];
  for (const item of checked) {
    events += item.events.length;
    bytes += item.bytes;
    if (groups.length === 0 || events > MAX_APPEND_EVENTS || bytes > MAX_APPEND_BYTES) {
      groups.push([]);
      [events, bytes] = [item.events.length, item.bytes];
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}

/** One transaction for the group; a failure that will not go away is narrowed down to the one message that causes it. */
async function appendGroup(db: D1Database, group: Checked[]): Promise<Backlog | null> {
  const now = Date.now();
  const events = new Map(group.flatMap((item) => item.events.map((event) => [event.id, event])));
  const clicks = group.flatMap((item) => item.clicks);
  const parked = group.flatMap((item) => item.parked);
  try {
    const results = await batchWithRetry<Backlog>(db, () => [
      ...parkStatements(db, parked, now),
      ...(events.size > 0 ? [appendStatement(db, [...events.values()], now)] : []),
      ...(clicks.length > 0 ? [clickStatement(db, clicks)] : []),
      backlogStatement(db),
    ]);
    for (const item of group) {
      item.message.ack();
      logSettled(item.message, 'logged', item);
    }
    return results.at(-1)?.results[0] ?? null;
  } catch (error) {
    console.warn(
      JSON.stringify({
        level: 'warn',
        message: 'append failed',
        message_ids: group.map(({ message }) => message.id),
        error: String(error),
      }),
    );
    const isTooMuch = needsLessData(error) && group.length > 1;
    if (isTransient(error) && !isTooMuch) {
      for (const { message } of group) retryLater(message);
      return null;
    }
    const [first] = group;
    if (first && group.length === 1) {
      await parkOrRetry(db, first.message, await parkedWhole(first.message, PARK_REASON.unlogged));
      return null;
    }
    const middle = Math.ceil(group.length / 2);
    const left = await appendGroup(db, group.slice(0, middle));
    const right = await appendGroup(db, group.slice(middle));
    return right ?? left;
  }
}

async function parkOrRetry(db: D1Database, message: Message, parked: Parked): Promise<void> {
  try {
    await batchWithRetry(db, () => parkStatements(db, [parked], Date.now()));
    message.ack();
    logSettled(message, 'parked');
  } catch (error) {
    console.error(JSON.stringify({ level: 'error', message: 'parking failed', error: String(error) }));
    retryLater(message);
  }
}

/** Backs off from 2 s to 5 min, so that an outage of the database is outlived. */
function retryLater(message: Message): void {
  message.retry({ delaySeconds: Math.min(2 ** message.attempts, LONGEST_RETRY_DELAY_SECONDS) });
  logSettled(message, 'retried');
}
