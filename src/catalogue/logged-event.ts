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

/** The kind of an event. Throws for one that this version does not know. */
export function kindOf({ type }: { type: string }): EventKind<LoggedEvent> {
  const kind = byType.get(type);
  if (!kind) throw new Error(`There is no kind of event ${type}`);
  return kind;
}

/** Whether it is some device's. A kind that this version does not know is: counting then sets the event aside. */
export const isOfDevice = (event: LoggedEvent): event is DeviceEvent =>
  byType.get(event.type)?.subject !== 'creative';

/** Whether clients send events of this kind, with a token; the service makes the others itself. */
export const isSent = (event: LoggedEvent): boolean => kindOf(event).wires.length > 0;
