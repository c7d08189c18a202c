import * as z from 'zod';
import { ClickRecord } from '#attribution';
import { LoggedEvent } from '#catalogue';
import { describeFaults, toFaults } from '#http';
import { chunksBySize } from '#lib/collections/chunks';
import { newerFormat } from '#lib/encoding/store-formats';
import { applicationIdOf, type Parked, parkedBody, parkedId } from './park.ts';

// The messages of the queue, and the only place that knows their form: how they are written, read and checked. How they are sent: see `send/`.

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

// Messages travel as text: a line for the message itself, with its clicks, then a line per event, as the log stores it. Each event is
// therefore serialized once, by the Worker that received it, and the size of a message is known exactly. Older Workers sent clicks, and events
// of stores and of mediation, as objects.

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

/** The platform accepts 128 KB per message and 256 KB per call. Both limits leave a margin. */
const MAX_MESSAGE_BYTES = 110_000;
export const MAX_CALL_BYTES = 220_000;
/** The largest event: a request of 64 KB is never larger as text. */
export const MAX_EVENT_BYTES = 120_000;

const encoder = new TextEncoder();
/** Large enough to see that an event is too large. */
const encoded = new Uint8Array(MAX_EVENT_BYTES + 4);

/** The length of an event's text in UTF-8; of a larger event, a little more than `MAX_EVENT_BYTES`. Unlike `encode`, it allocates nothing. */
const measureEvent = (text: string): number => encoder.encodeInto(text, encoded).written;

/** An event and its bytes in UTF-8, a click as JSON, or a click with the event that counts it: what goes into one message or not at all. */
export type MessagePart = { text?: string; click?: string; bytes: number };

/** An event as a part of a message: see `eventText`. */
export type EventLine = MessagePart & { text: string };

/** An event as a part of a message. */
export const eventLine = (text: string): EventLine => ({ text, bytes: measureEvent(text) });

/** A click as a part of a message, with the event that counts it, if there is one. */
export function clickPart(click: ClickRecord, event: LoggedEvent | undefined): MessagePart {
  const [text, json] = [event ? eventText(event) : undefined, JSON.stringify(click)];
  const bytes = measureEvent(json) + (text === undefined ? 0 : measureEvent(text));
  return { ...(text === undefined ? {} : { text }), click: json, bytes };
}

/** Writes a message as text. Clicks stand in its first line, where every version of the Worker reads them. */
function writeMessage(head: string, parts: readonly MessagePart[]): string {
  const clicks = parts.flatMap(({ click }) => click ?? []);
  const first = clicks.length === 0 ? head : `${head.slice(0, -1)},"clicks":[${clicks.join()}]}`;
  return [first, ...parts.flatMap(({ text }) => text ?? [])].join('\n');
}

/** A message of the queue: its text, how many bytes it has in UTF-8 at most, and its parts. */
export type PackedMessage<Part extends MessagePart> = { body: string; bytes: number; parts: Part[] };

/** Packs parts, in order, into as few messages as possible. `head`: see `messageHead`. */
export function packMessages<Part extends MessagePart>(
  head: string,
  parts: readonly Part[],
): PackedMessage<Part>[] {
  const headBytes = head.length + CLICKS_BYTES;
  return chunksBySize(parts, MAX_MESSAGE_BYTES - headBytes, bytesOf).map((own) => ({
    body: writeMessage(head, own),
    bytes: own.reduce((sum, part) => sum + bytesOf(part), headBytes),
    parts: own,
  }));
}

/** The name and brackets of a message's clicks. */
const CLICKS_BYTES = 12;

/** With the end of its line and a comma. */
const bytesOf = ({ bytes }: MessagePart): number => bytes + 2;

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
    const { v: format } = (body ?? {}) as { v?: unknown };
    const newer = typeof format === 'number' ? newerFormat('message', format) : null;
    const reason = newer
      ? `${newer}, then replay it`
      : `not a message of this version: ${describeFaults(toFaults(parsed.error))}`;
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
