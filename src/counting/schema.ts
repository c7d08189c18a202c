import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// The tables of a counter: one application's, or one shard of it. All of them live in the object's own SQLite.

const bytes = (name: string) => blob(name, { mode: 'buffer' }).notNull();

/** The hot log: packed batches of events as they arrived. `batch` grows in the order of appending and is never used again. */
export const log = sqliteTable('log', {
  batch: integer().primaryKey(),
  eventCount: integer('event_count').notNull(),
  appendedAt: integer('appended_at').notNull(),
  /** When the first of its events was taken. */
  receivedAt: integer('received_at').notNull(),
  /** The least and the greatest id of its events: ids sort by the time of receipt, batches by the time of appending. */
  firstEventId: text('first_event_id').notNull(),
  lastEventId: text('last_event_id').notNull(),
  /** The hashes of the events' keys, beside them so that a run can look them up before it reads an event: see `pack.ts`. */
  keys: bytes('keys'),
  /** JSON array. Events of an erased device are null. */
  events: text().notNull(),
});

/** Which events of a batch did not count; no row for a batch in which all did. */
export const logOutcomes = sqliteTable('log_outcomes', {
  batch: integer().primaryKey(),
  /** JSON: index in the batch → outcome. */
  outcomes: text().notNull(),
});

/** The ids of events, so that a redelivered one is recognised: the last 8 bytes of each, by the minute in which they were minted. */
export const seenIds = sqliteTable(
  'seen_ids',
  {
    minute: integer().notNull(),
    batch: integer().notNull(),
    tails: bytes('tails'),
  },
  (table) => [primaryKey({ columns: [table.minute, table.batch] })],
);

/** Hashed keys are kept by their day and by the week in which they were taken, which is when they are forgotten together. */
const generation = { day: integer().notNull(), week: integer().notNull() };

/** How many hashes a generation has in blocks, by how many bits its blocks are numbered, and how many are recent. */
export const keyGenerations = sqliteTable(
  'key_generations',
  {
    ...generation,
    bits: integer().notNull(),
    blocked: integer().notNull(),
    recent: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.week] })],
);

/** The hashes that one run took, 8 bytes each. When there are many, they are merged into the blocks. */
export const recentKeys = sqliteTable(
  'recent_keys',
  { ...generation, run: integer().notNull(), hashes: bytes('hashes') },
  (table) => [primaryKey({ columns: [table.day, table.week, table.run] })],
);

/** The hashes that begin with the bits of `block`, so that a single one is found without reading all. */
export const keyBlocks = sqliteTable(
  'key_blocks',
  { ...generation, block: integer().notNull(), hashes: bytes('hashes') },
  (table) => [primaryKey({ columns: [table.day, table.week, table.block] })],
);

/** Keys of purchases match whenever they come and are few: a row each, under a hash of 16 bytes. */
export const purchaseKeys = sqliteTable('purchase_keys', {
  hash: blob({ mode: 'buffer' }).primaryKey(),
  eventId: text('event_id').notNull(),
  takenDay: integer('taken_day').notNull(),
});

/** One row per device. Erased devices have none. */
export const devices = sqliteTable(
  'devices',
  {
    id: text().primaryKey(),
    /** Day 0, in the application's time zone. */
    acquiredDay: text('acquired_day').notNull(),
    acquiredAt: integer('acquired_at').notNull(),
    /** Empty for an organic device. */
    creativeId: text('creative_id').notNull(),
    /** JSON: `DeviceDescription`. */
    description: text().notNull(),
    /** JSON: why the device was credited to its creative. */
    attribution: text().notNull(),
    /** Day sets, counted from the acquisition day: days with any event, day numbers that count for retention, days with a purchase. */
    activeDays: text('active_days').notNull().default(''),
    activeAges: text('active_ages').notNull().default(''),
    paidDays: text('paid_days').notNull().default(''),
    /** Its funnel steps with their times, and what it earned by age: see `StepHistory` and `DeviceRevenue`. */
    steps: text().notNull().default(''),
    revenue: text().notNull().default(''),
    /** What was counted of the device against the running total that its client keeps, of ads and of purchases: see `totals.ts`. */
    adTotals: text('ad_totals'),
    purchaseTotals: text('purchase_totals'),
  },
  (table) => [index('devices_that_paid').on(table.acquiredDay).where(sql`paid_days <> ''`)],
);

/** The segments that this counter tells apart. */
export const segments = sqliteTable('segments', { segmentId: integer('segment_id').primaryKey() });

/** The same `device_id` of a backend gives the same device again: its keyed hash, which may be personal data. */
export const aliases = sqliteTable('aliases', {
  alias: text().primaryKey(),
  deviceId: text('device_id').notNull(),
});

/** Events that were taken after `revoked_at` with this token do not count. */
export const revokedTokens = sqliteTable('revoked_tokens', {
  tokenId: text('token_id').primaryKey(),
  revokedAt: integer('revoked_at').notNull(),
});

/** The raw event files of this counter in R2. */
export const files = sqliteTable(
  'files',
  {
    key: text().primaryKey(),
    firstEventId: text('first_event_id').notNull(),
    lastEventId: text('last_event_id').notNull(),
    lastReceivedAt: integer('last_received_at').notNull(),
    firstDay: text('first_day').notNull(),
    lastDay: text('last_day').notNull(),
    eventCount: integer('event_count').notNull(),
    bytes: integer().notNull(),
    exportedAt: integer('exported_at').notNull(),
    /** JSON: the rest of `FileEntry`. */
    entry: text().notNull(),
    deviceFilter: bytes('device_filter'),
  },
  (table) => [index('files_by_time').on(table.lastEventId)],
);

/** Objects in R2 that are being written or have been replaced. Those that are not in `files` by the next run are deleted. */
export const looseObjects = sqliteTable('loose_objects', { key: text().primaryKey() });

/** Devices, and events by their own ids, that were erased: a file that was being written then may still hold them. */
export const erasures = sqliteTable('erasures', {
  id: text().primaryKey(),
  erasedAt: integer('erased_at').notNull(),
});

/** Files that are to be rewritten without an erased device or event. */
export const fileErasures = sqliteTable(
  'file_erasures',
  { key: text().notNull(), id: text().notNull() },
  (table) => [primaryKey({ columns: [table.key, table.id] }), index('file_erasures_by_id').on(table.id)],
);

/** What was counted and has to be added to D1, in order. */
export const outbox = sqliteTable('outbox', {
  sequence: integer().primaryKey(),
  /** JSON: `[kind, rows]` for each statement. */
  payload: text().notNull(),
  /** When the first event of the run was appended. */
  oldestAt: integer('oldest_at').notNull(),
});

/** A single row: how far the counter is. */
export const progress = sqliteTable('progress', {
  id: integer().primaryKey(),
  /** The counter's name, which an alarm is not told. */
  name: text().notNull(),
  /** The last batch that was counted. */
  countedBatch: integer('counted_batch').notNull(),
  /** When. */
  countedAt: integer('counted_at').notNull(),
  /** The last sequence that was given to the outbox. */
  sequence: integer().notNull(),
  /** The last run; numbers `recent_keys`. */
  run: integer().notNull(),
  /** The largest number of shards that this counter was told of. */
  shards: integer().notNull(),
  /** The last batch of the range that is being exported; 0 for none. */
  exportBatch: integer('export_batch').notNull(),
  prunedAt: integer('pruned_at').notNull(),
  /** The size at which this counter last asked for more shards. */
  raisedBytes: integer('raised_bytes').notNull(),
});
