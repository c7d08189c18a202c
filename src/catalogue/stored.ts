import * as z from 'zod';
import { NANOS_LIMIT } from '#lib/money';
import { isDay } from '#lib/time';

// The stored form of every event, as carried by the queue and kept in the log. Ingestion validates what clients send and computes an event's day
// and money once. The consumer validates the stored form of events that another version of the Worker sent.

// A schema costs an isolate's start more than a hundred uses of it. Fields therefore share schemas, and those of stored events are built on
// first use, because isolates that only receive requests never need them.

export const text = z.string().min(1);
export const optionalText = text.optional();
/** An amount in billionths, as a whole number that may be beyond 2^53. */
export const nanos = z.number().min(0).lt(NANOS_LIMIT).refine(Number.isInteger, 'must be a whole number');
/** Far above what ingestion accepts, and small enough that sums of counts stay exact. */
export const count = z.int().min(0).max(1e9);
const flag = z.literal(true).optional();
export const shard = z.int().min(0).max(63).optional();
export const day = z.string().refine(isDay);
/** An event is a duplicate if any of its keys was counted before. */
export const keys = z.array(text).max(8).optional();
/** What the caller sent that was dropped, or taken for something else. */
export const warnings = z.array(z.object({ path: z.string(), message: z.string() })).optional();

const Identity = z.lazy(() =>
  z.object({
    /** `evt_…`, minted once before the event is sent to the queue, so that a redelivered event has the same id. */
    id: z.string().regex(/^evt_[0-9a-f]{32}$/),
    application_id: text,
    /** The day of the event in the application's time zone. */
    day,
    /** When it happened and when we received it, in epoch milliseconds. */
    occurred_at: z.int(),
    received_at: z.int(),
    /** Minutes by which the clocks of the application's time zone were ahead of UTC then; absent for 0. */
    zone_offset: z.int().min(-1_440).max(1_440).optional(),
  }),
);

const OfDevice = z.lazy(() =>
  z.object({
    ...Identity.unwrap().shape,
    device_id: text,
    /** The number of the counter that the device is in; absent for the first. */
    shard,
    /** Null for an organic device. */
    creative_id: z.string().nullable(),
    /** Day 0 of the device. */
    acquired_day: day,
    /** The token it was sent with, used to recognize events of a revoked token. */
    token_id: optionalText,
    /** The token had expired. Its signature still identifies the device. */
    token_expired: flag,
    keys,
    /** The UTC day (since 1970) of `created_at` as sent. Keys match by it: see `EventKind.keepsKeys`. */
    key_day: z.int().optional(),
    /** Sent by an editor or a debug build: stored and shown, but never counted. */
    test: flag,
    /** The caller's clock was ahead of ours or not Gregorian, so `occurred_at` is our time. */
    clock_ahead: flag,
    /** Other properties that the caller sent about the device and its application, unchanged. */
    device: z.record(z.string(), z.string()).optional(),
    warnings,
  }),
);

/** The fields of every device event. */
type DeviceEventBase = z.infer<typeof OfDevice>;

/** The fields that a kind adds to those of every event. */
export type OwnFields<Event> = Event extends unknown ? Omit<Event, keyof DeviceEventBase | 'type'> : never;

/** The stored schema of a device's events. */
export const storedOfDevice = <const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  fields: () => Fields,
) => z.lazy(() => z.object({ ...OfDevice.unwrap().shape, type: z.literal(type), ...fields() }));

/** The stored schema of events without a device. */
export const storedWithoutDevice = <const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  fields: () => Fields,
) => z.lazy(() => z.object({ ...Identity.unwrap().shape, type: z.literal(type), ...fields() }));
