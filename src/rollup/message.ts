import * as z from 'zod';
import type { ClickRecord } from '#attribution';
import type { LoggedEvent } from '#catalogue';

/**
 * A queue message: events for the log, and what was learnt of clicks for their rows. `v` changes when an older consumer could
 * not count it rightly.
 */
export const EventMessage = z
  .object({ v: z.literal(1), events: z.array(z.unknown()), clicks: z.array(z.unknown()).default([]) })
  .refine(({ events, clicks }) => events.length + clicks.length > 0, 'holds nothing');
export type EventMessage = { v: 1; events: LoggedEvent[]; clicks?: ClickRecord[] };
