import * as z from 'zod';
import { EVENT_KINDS } from './events/index.ts';
import type { EventKind } from './kind.ts';

type Kind = (typeof EVENT_KINDS)[number];
type Stored = Kind['stored'];

/** Everything that is ever counted. */
export const LoggedEvent = z.discriminatedUnion(
  'type',
  EVENT_KINDS.map(({ stored }) => stored) as [Stored, ...Stored[]],
);
export type LoggedEvent = z.infer<typeof LoggedEvent>;

/** What some device did. */
export type DeviceEvent = z.infer<Extract<Kind, { subject: 'device' }>['stored']>;

const byType = new Map<string, EventKind<LoggedEvent>>(
  EVENT_KINDS.map((kind) => [kind.type, kind as EventKind<LoggedEvent>]),
);

/**
 * The kind of an event. Throws for one that this version does not know, which a later version may have left in a log: counting then
 * sets the event aside. Whatever else is done with logged events asks `findKind` or the questions below, so that none of it stops.
 */
export function kindOf({ type }: { type: string }): EventKind<LoggedEvent> {
  const kind = byType.get(type);
  if (!kind) throw new Error(`There is no kind of event ${type}`);
  return kind;
}

export const findKind = ({ type }: { type: string }): EventKind<LoggedEvent> | undefined => byType.get(type);

/** Whether it is some device's; of an unknown kind it is. */
export const isOfDevice = (event: LoggedEvent): event is DeviceEvent =>
  byType.get(event.type)?.subject !== 'creative';

/** Whether clients send events of its kind, with a token; the service makes others itself. Unknown kinds are sent. */
export const isSent = (event: LoggedEvent): boolean => byType.get(event.type)?.wires.length !== 0;

/** See `EventKind.keepsKeys`; an unknown kind keeps them. */
export const keepsKeys = (event: LoggedEvent): boolean => byType.get(event.type)?.keepsKeys ?? true;
