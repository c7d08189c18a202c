import * as z from 'zod';
import { EVENT_KINDS } from './events/index.ts';
import type { EventKind } from './kind.ts';

type AnyEventKind = (typeof EVENT_KINDS)[number];
type StoredSchema = AnyEventKind['stored'];

/** Every event that is counted. */
export const LoggedEvent = z.discriminatedUnion(
  'type',
  EVENT_KINDS.map(({ stored }) => stored) as [StoredSchema, ...StoredSchema[]],
);
export type LoggedEvent = z.infer<typeof LoggedEvent>;

/** An event of a device. */
export type DeviceEvent = z.infer<Extract<AnyEventKind, { subject: 'device' }>['stored']>;

const byType = new Map<string, EventKind<LoggedEvent>>(
  EVENT_KINDS.map((kind) => [kind.type, kind as EventKind<LoggedEvent>]),
);

/**
 * The kind of an event. Throws for a type that this version does not know, which a later version may have logged; counting then parks the
 * event. Everything else that handles logged events uses `findKind` or the functions below, so that unknown types do not stop it.
 */
export function kindOf({ type }: { type: string }): EventKind<LoggedEvent> {
  const kind = byType.get(type);
  if (!kind) throw new Error(`There is no kind of event ${type}`);
  return kind;
}

export const findKind = ({ type }: { type: string }): EventKind<LoggedEvent> | undefined => byType.get(type);

/** Whether an event belongs to a device. True for unknown kinds. */
export const isOfDevice = (event: LoggedEvent): event is DeviceEvent =>
  (byType.get(event.type)?.subject ?? 'device') === 'device';

/** The id of the device that an event belongs to or, of what a store tells, that it names. Empty if there is none. */
export const deviceIdIn = (event: LoggedEvent): string => ('device_id' in event && event.device_id) || '';

/** The number of the counter that an event is for. */
export const shardOf = (event: LoggedEvent): number => ('shard' in event && event.shard) || 0;

/** Whether clients send this kind of event, with a token, rather than the service creating it. True for unknown kinds. */
export const isSent = (event: LoggedEvent): boolean => byType.get(event.type)?.wires.length !== 0;

/** See `EventKind.keepsKeys`. True for unknown kinds. */
export const keepsKeys = (event: LoggedEvent): boolean => byType.get(event.type)?.keepsKeys ?? true;
