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

/**
 * How a row breaks down by segment: `[segment id, sum, …],…` with the sums in the order of the row's columns, those at the end
 * left out where they are 0. A segment may stand in it several times: that many `segment_parts` were put one after the other.
 */
const bySegment = () => ({
  segments: text().notNull(),
  segmentParts: integer('segment_parts').notNull().default(1),
});

/** What has no currency stands in rows of currency ''. */
const daily = () => ({
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
});

export const rollupDaily = sqliteTable('rollup_daily', { ...daily(), ...bySegment() }, (table) => [
  primaryKey({ columns: [table.applicationId, table.day, table.creativeId, table.currency] }),
]);

/**
 * The rows of `rollup_daily` with all creatives together: `creative_id` is `paid`, and empty for organic devices. A report that names
 * no creative reads these few rows instead of every creative's. The other tables of totals are made the same way.
 */
export const rollupDailyTotals = sqliteTable('rollup_daily_totals', daily(), (table) => [
  primaryKey({ columns: [table.applicationId, table.day, table.creativeId, table.currency] }),
]);

/**
 * The rows of `rollup_daily` of one day and currency together, by segment alone: paid ones, those with a creative, and organic ones
 * apart. A report by country need not unpack the rows of every creative.
 */
export const rollupSegments = sqliteTable(
  'rollup_segments',
  {
    applicationId: applicationId(),
    day: day(),
    /** 1 or 0. */
    paid: integer().notNull(),
    currency: currency(),
    ...bySegment(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.day, table.paid, table.currency] })],
);

const ads = () => ({
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
});

export const rollupAds = sqliteTable('rollup_ads', { ...ads(), ...bySegment() }, (table) => [
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
]);

export const rollupAdsTotals = sqliteTable('rollup_ads_totals', ads(), (table) => [
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
]);

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
    ...bySegment(),
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
    ...bySegment(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.day, table.eventName, table.creativeId] })],
);

/** Devices by acquisition day and creative. A cohort's size is its `active_devices` of age 0: every install is active then. */
const activity = () => ({
  applicationId: applicationId(),
  acquiredDay: text('acquired_day').notNull(),
  creativeId: creativeId(),
  /** Days since acquisition. */
  age: integer().notNull(),
  /** Devices active on exactly this day. */
  activeDevices: count('active_devices'),
  /** Devices whose last active day (so far) this is: their sum from N on is rolling retention. */
  lastActiveDevices: count('last_active_devices'),
});

export const cohortActivity = sqliteTable('cohort_activity', { ...activity(), ...bySegment() }, (table) => [
  primaryKey({ columns: [table.applicationId, table.acquiredDay, table.creativeId, table.age] }),
]);

export const cohortActivityTotals = sqliteTable('cohort_activity_totals', activity(), (table) => [
  primaryKey({ columns: [table.applicationId, table.acquiredDay, table.creativeId, table.age] }),
]);

/** Revenue by acquisition day and by the day it was earned on, which gives its age and its exchange rate. */
const revenue = () => ({
  applicationId: applicationId(),
  acquiredDay: text('acquired_day').notNull(),
  creativeId: creativeId(),
  day: day(),
  currency: currency(),
  adRevenue: microsLow('ad_revenue'),
  adRevenueHigh: microsHigh('ad_revenue'),
  purchaseRevenue: microsLow('purchase_revenue'),
  purchaseRevenueHigh: microsHigh('purchase_revenue'),
});

export const cohortRevenue = sqliteTable('cohort_revenue', { ...revenue(), ...bySegment() }, (table) => [
  primaryKey({
    columns: [table.applicationId, table.acquiredDay, table.creativeId, table.day, table.currency],
  }),
]);

export const cohortRevenueTotals = sqliteTable('cohort_revenue_totals', revenue(), (table) => [
  primaryKey({
    columns: [table.applicationId, table.acquiredDay, table.creativeId, table.day, table.currency],
  }),
]);

/** The combinations of country, OS and application version that the rollups' rows break down by. */
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
