import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { rollupTable } from './rollup-table.ts';

const applicationId = () => text('application_id').notNull();

export const rollupDaily = rollupTable('rollup_daily');
export const rollupAds = rollupTable('rollup_ads');
export const rollupItems = rollupTable('rollup_items');
export const rollupCustom = rollupTable('rollup_custom');
/** Devices by acquisition day. A cohort's size is its `active_devices` of age 0: every install is active then. */
export const cohortActivity = rollupTable('cohort_activity');
/** Revenue by acquisition day and by the day it was earned on, which gives its age and its exchange rate. */
export const cohortRevenue = rollupTable('cohort_revenue');

/**
 * The cube: the rollups by creative and by segment (country, OS, app version). A row is a part, a Parquet file with the sums that a run of a
 * counter added, or that were compacted from several. Parts are added and compacted, never changed, so a sum is spread over several.
 */
export const cubeParts = sqliteTable(
  'cube_parts',
  {
    applicationId: applicationId(),
    /** The name of the rollup table. */
    rollup: text().notNull(),
    /** See `GRAINS` in `src/rollup/cube/grains.ts`. */
    grain: text().notNull(),
    /** The month of the events of its rows, such as `2026-03`. */
    month: text().notNull(),
    /** The first and last day of its rows; of cohorts, acquisition days. */
    fromDay: text('from_day').notNull(),
    toDay: text('to_day').notNull(),
    /** The counter's shard and the number of its outbox part. `number` distinguishes the parts of one outbox part. */
    shard: integer().notNull(),
    sequence: integer().notNull(),
    number: integer().notNull(),
    /** How often its rows were compacted. */
    level: integer().notNull(),
    rows: integer().notNull(),
    /** When compacted parts replaced it, in epoch milliseconds; null if it is in use. */
    replacedAt: integer('replaced_at'),
    /** The length of `data`. In a column before it, so that SQLite reads it without reading `data`. */
    bytes: integer().notNull(),
    /** Base64. */
    data: text().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.applicationId,
        table.rollup,
        table.grain,
        table.toDay,
        table.shard,
        table.sequence,
        table.number,
      ],
    }),
  ],
);

/**
 * Months of the cube in the bucket. A row is a Parquet object with the sums of parts that were merged: see `src/rollup/months`. Objects are
 * never changed: a further merge writes a new one.
 */
export const cubeMonths = sqliteTable(
  'cube_months',
  {
    applicationId: applicationId(),
    rollup: text().notNull(),
    grain: text().notNull(),
    /** Such as `2026-03`. A large month has several objects, numbered from 1. */
    month: text().notNull(),
    number: integer().notNull(),
    /** Distinguishes the objects that replaced one another. */
    version: text().notNull(),
    /** The first and last day of its rows; of cohorts, acquisition days. */
    fromDay: text('from_day').notNull(),
    toDay: text('to_day').notNull(),
    rows: integer().notNull(),
    /** The length of the object, and of its footer. */
    bytes: integer().notNull(),
    footerBytes: integer('footer_bytes').notNull(),
    /** Epoch milliseconds. */
    mergedAt: integer('merged_at').notNull(),
    /** When another version replaced it; null if it is in use. */
    replacedAt: integer('replaced_at'),
    /** When it was copied to where other engines read it; null if it was not, or does not have to be. */
    publishedAt: integer('published_at'),
  },
  (table) => [
    primaryKey({
      columns: [table.applicationId, table.rollup, table.grain, table.month, table.number, table.version],
    }),
  ],
);

/** Events that could not be counted, stored whole with the reason, for inspection and replay. */
export const parkedMessages = sqliteTable('parked_messages', {
  id: text().primaryKey(),
  /** Empty if the message is too broken to identify its application. */
  applicationId: applicationId(),
  /** What fits into a row (see `src/db/statement-size.ts`); the rest is in `parked_chunks`. */
  body: text().notNull(),
  reason: text().notNull(),
  parkedAt: integer('parked_at').notNull(),
});

/** The further chunks of the bodies of long parked messages. */
export const parkedChunks = sqliteTable(
  'parked_chunks',
  {
    messageId: text('message_id').notNull(),
    /** From 1. */
    number: integer().notNull(),
    applicationId: applicationId(),
    body: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageId, table.number] })],
);

/**
 * The last part of each counter's outbox that was added to the rollups. It advances in the same transaction, so a part that is sent
 * again changes nothing.
 */
export const counterFlushes = sqliteTable('counter_flushes', {
  /** `<application_id>:<shard>`. */
  counter: text().primaryKey(),
  sequence: integer().notNull(),
});
