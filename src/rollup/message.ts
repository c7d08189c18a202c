import * as z from 'zod';
import type { ClickRecord } from '#attribution';
import type { LoggedEvent } from '#catalogue';

/**
 * A queue message: events for the log, and records for the rows of clicks. `v` changes if an older consumer could not count the message
 * correctly.
 */
export const EventMessage = z.lazy(() =>
  z
    .object({ v: z.literal(1), events: z.array(z.unknown()), clicks: z.array(z.unknown()).default([]) })
    .refine(({ events, clicks }) => events.length + clicks.length > 0, 'must have an event or a click'),
);
export type EventMessage = { v: 1; events: LoggedEvent[]; clicks?: ClickRecord[] };
