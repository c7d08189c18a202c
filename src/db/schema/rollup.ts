import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

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

/** The combinations of country, OS and application version that the rollups break down by. */
export const segments = sqliteTable(
  'segments',
  {
    applicationId: applicationId(),
    /** A hash of the three, so that all counters of an application agree. */
    segmentId: integer('segment_id').notNull(),
    /** Empty text where it is not known. */
    country: text().notNull(),
    os: text().notNull(),
    appVersion: text('app_version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.segmentId] })],
);

/**
 * The rollups broken down by segment: what a run of a counter counted for one rollup, bucket of creatives and span of days, packed.
 * Rows are added and merged, never changed; a sum is what all rows of a span hold together.
 */
export const segmentBlocks = sqliteTable(
  'segment_blocks',
  {
    applicationId: applicationId(),
    /** The table that it breaks down. */
    rollup: text().notNull(),
    /** 0 for all creatives together; a creative is also in one of the others. */
    bucket: integer().notNull(),
    /** The first day of the span: a day, or the Monday of a week of acquisition. */
    fromDay: text('from_day').notNull(),
    /** The counter's shard and the number of its outbox part; `number` tells apart what came in one part. */
    shard: integer().notNull(),
    sequence: integer().notNull(),
    number: integer().notNull(),
    /** The length of `data`, before it so that it is read without it. */
    bytes: integer().notNull(),
    data: text().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.applicationId,
        table.rollup,
        table.bucket,
        table.fromDay,
        table.shard,
        table.sequence,
        table.number,
      ],
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

/**
 * The last part of each counter's outbox that was added to the rollups, moved on in the same transaction: a part that is sent
 * again changes nothing.
 */
export const counterFlushes = sqliteTable('counter_flushes', {
  /** `<application_id>:<shard>`. */
  counter: text().primaryKey(),
  sequence: integer().notNull(),
});
