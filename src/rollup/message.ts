import * as z from 'zod';
import { ClickRecord } from '#attribution';
import { LoggedEvent, shardOf } from '#catalogue';
import { queueFor } from '#env';
import { describeFaults, toFaults, unavailable } from '#http';
import { chunksBySize } from '#lib/collections/chunks';
import { logWarning } from '#lib/log';
import { retry } from '#lib/retry';
import { TimedOut, withTimeout } from '#lib/timeout';
import { applicationIdOf, type Parked, parkedBody, parkedId } from './park.ts';

// The messages of the queue, and the only place that knows their form: how they are written, sent, read and checked.

/**
 * A queue message: events for the log, and records for the rows of clicks. `application_id` belongs to all events that do not name their own.
 * `v` changes if an older consumer could not count the message correctly. `v` 2: the credit of the events' devices was open when they were sent,
 * so their counter fills in the creative: see `CounterApi.appendOpen`.
 */
export const EventMessage = z.lazy(() =>
  z
    .object({
      v: z.literal([1, 2]),
      application_id: z.string().optional(),
      events: z.array(z.unknown()),
      clicks: z.array(z.unknown()).default([]),
    })
    .refine(({ events, clicks }) => events.length + clicks.length > 0, 'must have an event or a click'),
);
export type EventMessage = { v: 1 | 2; events: LoggedEvent[]; clicks?: ClickRecord[] };

// Events that clients send, which are nearly all, travel as text: a line for the message itself, then a line per event, as the log stores
// it. Each event is therefore serialized once, by the Worker that received it, and the size of a message is known exactly.

/** An event as text: JSON without `application_id` and without fields that are undefined. */
export const eventText = (event: Omit<LoggedEvent, 'application_id'>): string => {
  if (!('application_id' in event)) return JSON.stringify(event);
  const { application_id: _, ...kept } = event;
  return JSON.stringify(kept);
};

/**
 * The first line of a message as text. `checkedBy` is the version of the Worker that validated the events; null if it is unknown. `creditOpen`: see
 * `EventMessage`.
 */
export const messageHead = (applicationId: string, checkedBy: string | null, creditOpen: boolean): string =>
  JSON.stringify({
    v: creditOpen ? 2 : 1,
    application_id: applicationId,
    ...(checkedBy ? { checked_by: checkedBy } : {}),
  });

/** Joins the lines of a message as text. */
const joinMessage = (head: string, events: readonly string[]): string => [head, ...events].join('\n');

/** The platform accepts 128 KB per message and 256 KB per call. Both limits leave a margin. */
const MAX_MESSAGE_BYTES = 110_000;
const MAX_CALL_BYTES = 220_000;
/** The largest event: a request of 64 KB is never larger as text. */
export const MAX_EVENT_BYTES = 120_000;

const encoder = new TextEncoder();
/** Large enough to see that an event is too large. */
const encoded = new Uint8Array(MAX_EVENT_BYTES + 4);

/** The length of an event's text in UTF-8; of a larger event, a little more than `MAX_EVENT_BYTES`. Unlike `encode`, it allocates nothing. */
export const measureEvent = (text: string): number => encoder.encodeInto(text, encoded).written;

/** An event as a line of a message: see `eventText`. */
export type EventLine = { text: string; bytes: number };

/** A message of the queue: its text, how many bytes it has in UTF-8, and how many events. */
export type PackedMessage = { body: string; bytes: number; events: number };

/** Packs events, in order, into as few messages as possible. `head`: see `messageHead`. */
export const packMessages = (head: string, events: readonly EventLine[]): PackedMessage[] =>
  chunksBySize(events, MAX_MESSAGE_BYTES - head.length, bytesOf).map((lines) => ({
    body: joinMessage(
      head,
      lines.map(({ text }) => text),
    ),
    bytes: lines.reduce((sum, line) => sum + bytesOf(line), head.length),
    events: lines.length,
  }));

/** With the end of its line. */
const bytesOf = ({ bytes }: EventLine): number => bytes + 1;

/** Sends have been seen to hang for a minute. Callers are told to retry long before that. */
const TIME_LIMIT_MS = 5_000;

/** Sends to the queue, with up to three attempts within 5 s. Returns false if no attempt is known to have succeeded by then. */
export async function sendWithRetry(send: () => Promise<unknown>): Promise<boolean> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  const attempt = async (number: number) => {
    try {
      await withTimeout(send(), deadline - Date.now());
    } catch (error) {
      logWarning('queue send failed', error, { attempt: number });
      throw error;
    }
  };
  try {
    await retry(attempt, { waitMs: 60, isPassing: (error) => !(error instanceof TimedOut) });
    return true;
  } catch {
    return false;
  }
}

/** Sends an event to the queue of its counter. `creditOpen`: that of its device is not settled yet. Throws `unavailable` if the queue does not accept it. */
export async function sendEvent(env: Env, event: LoggedEvent, creditOpen: boolean): Promise<void> {
  const message: EventMessage = { v: creditOpen ? 2 : 1, events: [event] };
  const queue = queueFor(env, event.application_id, shardOf(event));
  if (!(await sendWithRetry(() => queue.send(message)))) throw unavailable();
}

/** An application's shard, whose events go to the same queue. */
type CounterAddress = { applicationId: string; shard: number };

/** Sends one event. Returns false if the queue did not accept it after three attempts within a fraction of a second. */
export async function enqueueEvent(
  env: Env,
  { applicationId, shard }: CounterAddress,
  head: string,
  text: string,
): Promise<boolean> {
  const queue = queueFor(env, applicationId, shard);
  const body = joinMessage(head, [text]);
  return sendWithRetry(() => queue.send(body, { contentType: 'text' }));
}

/**
 * Sends many events of an application, each under its head and to the queue of its shard, in as few calls as the platform's limits allow. Returns
 * for each whether its queue accepted it: one of several calls may fail after others have succeeded.
 */
export async function enqueueEvents(
  env: Env,
  applicationId: string,
  events: readonly (EventLine & { shard: number; head: string })[],
): Promise<boolean[]> {
  const accepted = new Map<EventLine, boolean>();
  const sent = [...Map.groupBy(events, ({ head }) => head)].flatMap(([head, alike]) =>
    [...Map.groupBy(alike, ({ shard }) => queueFor(env, applicationId, shard))].map(
      async ([queue, lines]) => {
        const answers = await sendLines(queue, head, lines);
        for (const [index, line] of lines.entries()) accepted.set(line, answers[index] === true);
      },
    ),
  );
  await Promise.all(sent);
  return events.map((event) => accepted.get(event) === true);
}

async function sendLines(queue: Queue, head: string, events: readonly EventLine[]): Promise<boolean[]> {
  const calls = chunksBySize(packMessages(head, events), MAX_CALL_BYTES, ({ bytes }) => bytes);
  const accepted = await Promise.all(
    calls.map(async (call) => {
      const messages = call.map(({ body }) => ({ body, contentType: 'text' as const }));
      const isAccepted = await sendWithRetry(() => queue.sendBatch(messages));
      return call.flatMap((message) => Array.from({ length: message.events }, () => isAccepted));
    }),
  );
  return accepted.flat();
}

export type ReadMessage = {
  /** What `EventMessage` describes, if the message is one. */
  message: unknown;
  /** The texts of the events, if they came as text; the same in number and order. */
  texts: readonly string[] | null;
  /** The version of the Worker that validated the events, if they came as text and it was known. */
  checkedBy: string | null;
};

/** Reads the body of a message, which is text or an object. Never throws: what is neither is returned as it is. */
export function readMessage(body: unknown): ReadMessage {
  const unread = { message: body, texts: null, checkedBy: null };
  if (typeof body !== 'string') return unread;
  const [head = '', ...texts] = body.split('\n');
  try {
    const { checked_by: checkedBy, ...rest } = JSON.parse(head);
    const events: unknown[] = texts.map((text) => JSON.parse(text));
    return {
      message: { ...rest, events },
      texts,
      checkedBy: typeof checkedBy === 'string' && checkedBy !== '' ? checkedBy : null,
    };
  } catch {
    return unread;
  }
}

/** An event, and its text as the log stores it: see `eventText`. */
export type EventWithText = { event: LoggedEvent; text: string };

/** A validated message, with the parts that have to be parked. */
export type CheckedMessage = {
  message: Message;
  events: EventWithText[];
  clicks: ClickRecord[];
  parked: Parked[];
  /** Whether the credit of the events' devices was open when they were sent. */
  creditOpen: boolean;
};

/** Parks a whole message. */
export async function parkedWhole({ id, body }: Message, reason: string): Promise<Parked> {
  const { message } = readMessage(body);
  return {
    id: await parkedId(id, 'whole'),
    applicationId: applicationIdOf(message),
    body: parkedBody(message),
    reason,
  };
}

/**
 * Validates a message of the event queue, which may come from another version of the Worker. Events that this version has validated before
 * it sent them are not validated again. `version` is null if it is unknown.
 */
export async function checkMessage(message: Message, version: string | null): Promise<CheckedMessage> {
  const checked: CheckedMessage = { message, events: [], clicks: [], parked: [], creditOpen: false };
  const { message: body, texts, checkedBy } = readMessage(message.body);
  const parsed = EventMessage.safeParse(body);
  if (!parsed.success) {
    const reason = `not a message of this version: ${describeFaults(toFaults(parsed.error))}`;
    checked.parked.push(await parkedWhole(message, reason));
    return checked;
  }
  const { v, application_id: applicationId, events, clicks } = parsed.data;
  checked.creditOpen = v === 2;
  if (applicationId !== undefined) for (const event of events) nameApplication(event, applicationId);
  const isChecked = texts !== null && version !== null && checkedBy === version;
  const park = async (at: number, item: unknown, body: unknown, what: string, error: z.ZodError) => {
    checked.parked.push({
      id: await parkedId(message.id, at),
      applicationId: applicationIdOf(item),
      body: parkedBody(body),
      reason: `not ${what} of this version: ${describeFaults(toFaults(error))}`,
    });
  };
  for (const [index, item] of events.entries()) {
    const text = isChecked ? texts[index] : undefined;
    if (text !== undefined) {
      checked.events.push({ event: item as LoggedEvent, text });
      continue;
    }
    const event = LoggedEvent.safeParse(item);
    if (event.success) checked.events.push({ event: event.data, text: eventText(event.data) });
    else await park(index, item, { v, events: [item] }, 'an event', event.error);
  }
  for (const [index, item] of clicks.entries()) {
    const click = ClickRecord.safeParse(item);
    if (click.success) checked.clicks.push(click.data);
    else
      await park(events.length + index, item, { v: 1, events: [], clicks: [item] }, 'a click', click.error);
  }
  return checked;
}

function nameApplication(event: unknown, applicationId: string): void {
  if (typeof event !== 'object' || event === null || 'application_id' in event) return;
  Object.assign(event, { application_id: applicationId });
}
