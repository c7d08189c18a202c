import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const applicationId = () => text('application_id').notNull();
const day = () => text().notNull();
/** Empty text, not null, where there is none: a primary key of nulls would not be unique. */
const creativeId = () => text('creative_id').notNull();
const currency = () => text().notNull();
const count = (name: string) => integer(name).notNull().default(0);
/**
 * An amount in the row's currency, in two columns so that no sum leaves 64 bits: millionths of a unit below 10^12, and whole
 * millions of units.
 */
const microsLow = (name: string) => integer(name).notNull().default(0);
const microsHigh = (name: string) => integer(`${name}_high`).notNull().default(0);

/**
 * The log: every event that was taken, packed by application and second of minting. `id` grows in the order of commits, so a
 * position in the log is a chunk and an offset in it. Redelivered events are found by their id, which holds their second.
 */
export const eventChunks = sqliteTable(
  'event_chunks',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    applicationId: applicationId(),
    second: integer().notNull(),
    /** JSON array of event ids; `events` has the event of the same index. */
    eventIds: text('event_ids').notNull(),
    events: text().notNull(),
    eventCount: integer('event_count').notNull(),
    appendedAt: integer('appended_at').notNull(),
  },
  (table) => [index('event_chunks_by_second').on(table.applicationId, table.second)],
);

/** How far the log has been folded into the rollups: a single row. */
export const foldCursor = sqliteTable('fold_cursor', {
  id: integer().primaryKey(),
  chunkId: integer('chunk_id').notNull(),
  /** Events of the chunk after `chunk_id` that are folded already; 0 except within a chunk that is larger than a run. */
  eventOffset: integer('event_offset').notNull(),
  foldedAt: integer('folded_at').notNull(),
});

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    applicationId: applicationId(),
    /** UTC day since 1970 of the event; 0 for what matches whenever it comes: keys of purchases, and sessions. */
    day: integer().notNull(),
    key: text().notNull(),
    /** The event that was counted under this key. */
    eventId: text('event_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.day, table.key] })],
);

/** What has no currency stands in rows of currency ''. */
export const rollupDaily = sqliteTable(
  'rollup_daily',
  {
    applicationId: applicationId(),
    day: day(),
    creativeId: creativeId(),
    currency: currency(),
    clicks: count('clicks'),
    installs: count('installs'),
    activeDevices: count('active_devices'),
    sessions: count('sessions'),
    sessionSeconds: count('session_seconds'),
    customEvents: count('custom_events'),
    adRequests: count('ad_requests'),
    payers: count('payers'),
    impressions: count('impressions'),
    adRevenue: microsLow('ad_revenue'),
    adRevenueHigh: microsHigh('ad_revenue'),
    purchases: count('purchases'),
    failedPurchases: count('failed_purchases'),
    purchaseRevenue: microsLow('purchase_revenue'),
    purchaseRevenueHigh: microsHigh('purchase_revenue'),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.day, table.creativeId, table.currency] })],
);

export const rollupAds = sqliteTable(
  'rollup_ads',
  {
    applicationId: applicationId(),
    day: day(),
    source: text().notNull(),
    mediaSource: text('media_source').notNull(),
    placement: text().notNull(),
    creativeId: creativeId(),
    currency: currency(),
    impressions: count('impressions'),
    adRevenue: microsLow('ad_revenue'),
    adRevenueHigh: microsHigh('ad_revenue'),
    adRequests: count('ad_requests'),
  },
  (table) => [
    primaryKey({
      columns: [
        table.applicationId,
        table.day,
        table.source,
        table.mediaSource,
        table.placement,
        table.creativeId,
        table.currency,
      ],
    }),
  ],
);

export const rollupItems = sqliteTable(
  'rollup_items',
  {
    applicationId: applicationId(),
    day: day(),
    itemId: text('item_id').notNull(),
    creativeId: creativeId(),
    currency: currency(),
    purchases: count('purchases'),
    failedPurchases: count('failed_purchases'),
    purchaseRevenue: microsLow('purchase_revenue'),
    purchaseRevenueHigh: microsHigh('purchase_revenue'),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.day, table.itemId, table.creativeId, table.currency] }),
  ],
);

export const rollupCustom = sqliteTable(
  'rollup_custom',
  {
    applicationId: applicationId(),
    day: day(),
    eventName: text('event_name').notNull(),
    creativeId: creativeId(),
    customEvents: count('custom_events'),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.day, table.eventName, table.creativeId] })],
);

/** Devices by acquisition day and creative. A cohort's size is its `active_devices` of age 0: every install is active then. */
export const cohortActivity = sqliteTable(
  'cohort_activity',
  {
    applicationId: applicationId(),
    acquiredDay: text('acquired_day').notNull(),
    creativeId: creativeId(),
    /** Days since acquisition. */
    age: integer().notNull(),
    /** Devices active on exactly this day. */
    activeDevices: count('active_devices'),
    /** Devices whose last active day (so far) this is: their sum from N on is rolling retention. */
    lastActiveDevices: count('last_active_devices'),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.acquiredDay, table.creativeId, table.age] })],
);

/** Revenue by acquisition day and by the day it was earned on, which gives its age and its exchange rate. */
export const cohortRevenue = sqliteTable(
  'cohort_revenue',
  {
    applicationId: applicationId(),
    acquiredDay: text('acquired_day').notNull(),
    creativeId: creativeId(),
    day: day(),
    currency: currency(),
    adRevenue: microsLow('ad_revenue'),
    adRevenueHigh: microsHigh('ad_revenue'),
    purchaseRevenue: microsLow('purchase_revenue'),
    purchaseRevenueHigh: microsHigh('purchase_revenue'),
  },
  (table) => [
    primaryKey({
      columns: [table.applicationId, table.acquiredDay, table.creativeId, table.day, table.currency],
    }),
  ],
);

/** What could not be counted, kept whole with the reason, to be looked at and replayed. */
export const parkedMessages = sqliteTable('parked_messages', {
  id: text().primaryKey(),
  /** Empty where the message is too broken to tell. */
  applicationId: applicationId(),
  body: text().notNull(),
  reason: text().notNull(),
  parkedAt: integer('parked_at').notNull(),
});
