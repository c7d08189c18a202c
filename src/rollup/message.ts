import * as z from 'zod';
import type { ClickRecord } from '#attribution';
import type { LoggedEvent } from '#catalogue';

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
export const joinMessage = (head: string, events: readonly string[]): string => [head, ...events].join('\n');

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
