import * as z from 'zod';
import { ClickCountry, ClickParams, type ClickRecord, OS_FAMILIES } from '#attribution';
import { isDay } from '#lib/time';

// The event as the queue carries it and the log keeps it: checked at the door, its day and its money computed there once.
// These schemas are checked again by the consumer, because a message may come from another version of the Worker.

const micros = z.int().min(0);
const day = z.string().refine(isDay);
/** Far above what ingestion takes, and so small that sums of counts stay exact. */
const count = z.int().min(0).max(1e9);
const text = z.string().min(1);

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

const common = {
  ...identity,
  device_id: text,
  /** Which of the application's counters the device lives in; absent for the first. */
  shard: z.int().min(0).max(63).optional(),
  /** Null for an organic device. */
  creative_id: z.string().nullable(),
  /** Day 0 of the device. */
  acquired_day: day,
  /** The token it was sent with, by which a revoked token's events are told. */
  token_id: text.optional(),
  /** The token had expired; its signature still tells the device. */
  token_expired: z.literal(true).optional(),
  /** An event is a repeat when any of its keys has been counted before. */
  keys: z.array(text).max(8).optional(),
  /** The UTC day (since 1970) of `created_at` as it was sent: keys match on this day and its neighbours, a purchase's on any. */
  key_day: z.int().optional(),
  /** Sent by an editor or a debug build: kept and shown, counted nowhere. */
  test: z.literal(true).optional(),
  /** The caller's clock was ahead of ours, or not Gregorian: `occurred_at` is our time. */
  clock_ahead: z.literal(true).optional(),
  /** What else the caller sent about the device and its application, as it came. */
  device: z.record(z.string(), z.string()).optional(),
  /** What the caller sent that was malformed and only describes the event, so was dropped. */
  warnings: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
};

const Install = z.object({ ...common, type: z.literal('install') });

const Retention = z.object({
  ...common,
  type: z.literal('retention'),
  session_id: text.optional(),
  /** A session's end tells its length; with its start it is one session. */
  session_seconds: count.optional(),
  session_end: z.literal(true).optional(),
  /** The day number since acquisition that counts for retention. */
  age: z.int().min(0),
  backfill_day: z.int().min(0).optional(),
});

const Purchase = z.object({
  ...common,
  type: z.literal('custom.purchase'),
  item_id: text,
  item_name: text.optional(),
  value_micros: micros,
  currency: text,
  /** A refund is kept, and counted nowhere yet. */
  status: z.enum(['completed', 'success', 'failed', 'refunded']),
  tr_id: text.optional(),
  total_purchase_value: z.number().optional(),
});

const AdView = z.object({
  ...common,
  type: z.literal('custom.ad'),
  ad_id: text,
  name: text.optional(),
  source: text,
  media_source: text.optional(),
  channel: text.optional(),
  watch_time: z.number().optional(),
  reward: z.boolean().optional(),
  value_micros: micros,
  /** Empty where it is not known; nothing was then earned. */
  currency: z.string(),
  total_ad_value: z.number().optional(),
});

const Custom = z.object({
  ...common,
  type: z.literal('custom'),
  event_name: text,
  params: z.record(z.string(), z.string()).optional(),
  /** Of the event name `ad_request`: how many requests, for which placement and ad format. */
  ad_requests: z.object({ count, placement: z.string(), source: z.string() }).optional(),
});

/** A click on a tracking link: of no device yet, and counted like everything else. */
const Click = z.object({
  ...identity,
  type: z.literal('click'),
  creative_id: text,
  country: ClickCountry.optional(),
  os_family: z.enum(OS_FAMILIES).optional(),
  /** The query parameters of the link. */
  params: ClickParams.optional(),
});

/** Everything that is ever counted. */
export const LoggedEvent = z.discriminatedUnion('type', [
  Install,
  Retention,
  Purchase,
  AdView,
  Custom,
  Click,
]);
export type LoggedEvent = z.infer<typeof LoggedEvent>;
/** What some device did. */
export type DeviceEvent = Exclude<LoggedEvent, { type: 'click' }>;

export const isOfDevice = (event: LoggedEvent): event is DeviceEvent => event.type !== 'click';

/**
 * A queue message: events for the log, and what was learnt of clicks for their rows. `v` changes when an older consumer could
 * not count it rightly.
 */
export const EventMessage = z
  .object({ v: z.literal(1), events: z.array(z.unknown()), clicks: z.array(z.unknown()).default([]) })
  .refine(({ events, clicks }) => events.length + clicks.length > 0, 'holds nothing');
export type EventMessage = { v: 1; events: LoggedEvent[]; clicks?: ClickRecord[] };
