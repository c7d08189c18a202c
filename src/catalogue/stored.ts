import * as z from 'zod';
import { isDay } from '#lib/time';

// What every stored event has: the event as the queue carries it and the log keeps it, checked at the door, its day and its money
// computed there once. The consumer checks it again, because a message may come from another version of the Worker.

// Made once each: a schema costs an isolate's start more than a hundred uses of it.
export const text = z.string().min(1);
export const optionalText = text.optional();
export const micros = z.int().min(0);
/** Far above what ingestion takes, and so small that sums of counts stay exact. */
export const count = z.int().min(0).max(1e9);
const flag = z.literal(true).optional();
const day = z.string().refine(isDay);

const identity = {
  /** `evt_…`, minted once, before the event was sent to the queue: a redelivered event carries the same id. */
  id: z.string().regex(/^evt_[0-9a-f]{32}$/),
  application_id: text,
  /** The day of the event in the application's time zone. */
  day,
  /** When it happened and when we took it, epoch milliseconds. */
  occurred_at: z.int(),
  received_at: z.int(),
};

const ofDevice = {
  ...identity,
  device_id: text,
  /** Which of the application's counters the device lives in; absent for the first. */
  shard: z.int().min(0).max(63).optional(),
  /** Null for an organic device. */
  creative_id: z.string().nullable(),
  /** Day 0 of the device. */
  acquired_day: day,
  /** The token it was sent with, by which a revoked token's events are told. */
  token_id: optionalText,
  /** The token had expired; its signature still tells the device. */
  token_expired: flag,
  /** An event is a repeat when any of its keys has been counted before. */
  keys: z.array(text).max(8).optional(),
  /** The UTC day (since 1970) of `created_at` as it was sent, by which keys match: see `EventKind.keepsKeys`. */
  key_day: z.int().optional(),
  /** Sent by an editor or a debug build: kept and shown, counted nowhere. */
  test: flag,
  /** The caller's clock was ahead of ours, or not Gregorian: `occurred_at` is our time. */
  clock_ahead: flag,
  /** What else the caller sent about the device and its application, as it came. */
  device: z.record(z.string(), z.string()).optional(),
  /** What the caller sent that was malformed and only describes the event, so was dropped. */
  warnings: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
};

/** The fields of every device event. */
export type DeviceEventBase = z.infer<z.ZodObject<typeof ofDevice>>;

/** What a kind's events have beside what all have. */
export type OwnFields<Event> = Event extends unknown ? Omit<Event, keyof DeviceEventBase | 'type'> : never;

/** The stored schema of events of a device. */
export const storedOfDevice = <const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  fields: Fields,
) => z.object({ ...ofDevice, type: z.literal(type), ...fields });

/** The stored schema of events of a creative, which are of no device yet. */
export const storedOfCreative = <const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  fields: Fields,
) => z.object({ ...identity, type: z.literal(type), creative_id: text, ...fields });
