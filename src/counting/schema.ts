import { blob, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { OutboundRule, TransactionStepKind } from '#catalogue';

// The tables of a counter, which belongs to one application or one shard of it, in the object's own SQLite.

const bytes = (name: string) => blob(name, { mode: 'buffer' }).notNull();

/** The hot log: packed batches of events in order of arrival. `batch` increases and is never reused. */
export const log = sqliteTable('log', {
  batch: integer().primaryKey(),
  eventCount: integer('event_count').notNull(),
  appendedAt: integer('appended_at').notNull(),
  /** When its first event was received. */
  receivedAt: integer('received_at').notNull(),
  /** The smallest and largest id of its events. Ids sort by time of receipt, batches by time of appending. */
  firstEventId: text('first_event_id').notNull(),
  lastEventId: text('last_event_id').notNull(),
  /** The hashes of the events' keys, with the names of their columns. Separate, so that a run can look them up before it reads any event: see `pack.ts`. */
  keys: bytes('keys'),
  /** The hash of each event's device, for the same reason. */
  devices: bytes('devices'),
  /** JSON array. Events of an erased device are null. */
  events: text().notNull(),
});

/** Which events of a batch were not counted. Batches in which all were counted have no row. */
export const logOutcomes = sqliteTable('log_outcomes', {
  batch: integer().primaryKey(),
  /** JSON: index in the batch → outcome. */
  outcomes: text().notNull(),
});

/** The ids of events, to recognize redelivered ones: the last 8 bytes of each, by the minute in which it was minted. */
export const seenIds = sqliteTable(
  'seen_ids',
  {
    minute: integer().notNull(),
    batch: integer().notNull(),
    tails: bytes('tails'),
  },
  (table) => [primaryKey({ columns: [table.minute, table.batch] })],
);

/**
 * Hashed keys are stored by their day and by the week in which they were stored, and expire by week. Those of purchases have a table of
 * their own.
 */
const generation = { day: integer().notNull(), week: integer().notNull() };

/** How many hashes of a generation are in blocks, how many bits number its blocks, and how many hashes are recent. */
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

/** The hashes that one run stored, 8 bytes each. Once there are many, they are compacted into the blocks. */
export const recentKeys = sqliteTable(
  'recent_keys',
  { ...generation, run: integer().notNull(), hashes: bytes('hashes') },
  (table) => [primaryKey({ columns: [table.day, table.week, table.run] })],
);

/** The hashes that start with the bits of `block`, so that one can be found without reading all. */
export const keyBlocks = sqliteTable(
  'key_blocks',
  { ...generation, block: integer().notNull(), hashes: bytes('hashes') },
  (table) => [primaryKey({ columns: [table.day, table.week, table.block] })],
);

/** The hashed keys of purchases, which match at any time: see `purchase-keys.ts`. */
export const purchaseKeys = sqliteTable('purchase_keys', {
  hash: blob({ mode: 'buffer' }).primaryKey(),
  /** The event that was counted under the key: the 16 bytes of its id. */
  eventId: bytes('event_id'),
  /** The day on which it was stored, counted from 1970. */
  takenDay: integer('taken_day').notNull(),
});

/** Purchases with a transaction id, their refunds and reversals: see `transaction-book.ts`. */
export const transactions = sqliteTable(
  'transactions',
  {
    /** Of the transaction id. */
    hash: bytes('hash'),
    /** The 16 bytes of the event's id. */
    eventId: bytes('event_id'),
    step: text().$type<TransactionStepKind>().notNull(),
    /** In billionths of a unit of `currency`. Of a refund or a reversal, 0 means all that is left. */
    nanos: real().notNull(),
    currency: text().notNull(),
    /** Of the event, since 1970. */
    second: integer().notNull(),
    day: text().notNull(),
    /** Empty without a device. Not indexed: it is only looked for when a device is erased. */
    deviceId: text('device_id').notNull().default(''),
    acquiredDay: text('acquired_day').notNull(),
    /** Empty for an organic device. */
    creativeId: text('creative_id').notNull(),
    /** The segment of the event, and that of its device at its acquisition. */
    eventSegment: integer('event_segment').notNull(),
    cohortSegment: integer('cohort_segment').notNull(),
    /** The day on which it was stored, counted from 1970. */
    takenDay: integer('taken_day').notNull(),
    /** The shard of the counter that counted it before this one did; null if there is none. */
    countedBy: integer('counted_by'),
  },
  (table) => [primaryKey({ columns: [table.hash, table.eventId] })],
);

/** Transactions of which this counter has not told the others of its application yet: see `shared-transactions.ts`. */
export const untoldTransactions = sqliteTable('untold_transactions', {
  part: integer().primaryKey(),
  transactionId: text('transaction_id').notNull(),
});

/** What is known of each device since its acquisition. Only settling an open credit and the person's choices change it. Erased devices have no row. */
export const devices = sqliteTable('devices', {
  id: text().primaryKey(),
  /** Day 0, in the application's time zone. */
  acquiredDay: text('acquired_day').notNull(),
  acquiredAt: integer('acquired_at').notNull(),
  /** Empty for an organic device. */
  creativeId: text('creative_id').notNull(),
  /** JSON: `DeviceDescription`. */
  description: text().notNull(),
  /** JSON: why the device was attributed to its creative. */
  attribution: text().notNull(),
});

/** How many pages the counted devices of an acquisition day are divided into. `day` is a day number. */
export const deviceDays = sqliteTable('device_days', {
  day: integer().primaryKey(),
  pages: integer().notNull(),
});

/** What was counted for devices, many per row: see `device-pages.ts`. Devices for which nothing was counted are on no page. */
export const devicePages = sqliteTable('device_pages', {
  id: integer().primaryKey(),
  /** JSON, deflated, with the names of its columns: a `DeviceFactsRow` per device, and a `HistoryRow` per device. */
  facts: bytes('facts'),
  histories: bytes('histories'),
});

/** The segments that this counter distinguishes. */
export const segments = sqliteTable('segments', {
  segmentId: integer('segment_id').primaryKey(),
  /** JSON: the value of each dimension by its name, for a refund of a purchase in the segment. */
  values: text().notNull().default(''),
});

/** Keyed hashes of the backends' `device_id`s, which may be personal data. The same `device_id` returns the same device. */
export const aliases = sqliteTable('aliases', {
  alias: text().primaryKey(),
  deviceId: text('device_id').notNull(),
});

/** Devices whose credit waits for Apple's answer: see `credits/`. Their installs and events are not in the log yet. */
export const openCredits = sqliteTable(
  'open_credits',
  {
    deviceId: text('device_id').primaryKey(),
    /** Of Apple's AdServices. */
    token: text().notNull(),
    /** The install as the log stores it, but with what the device was attributed to without Apple. */
    install: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('open_credits_by_time').on(table.createdAt)],
);

/** Events of these devices, as the log stores them. */
export const heldEvents = sqliteTable(
  'held_events',
  {
    id: text().primaryKey(),
    deviceId: text('device_id').notNull(),
    event: text().notNull(),
    heldAt: integer('held_at').notNull(),
  },
  (table) => [
    index('held_events_by_device').on(table.deviceId),
    index('held_events_by_time').on(table.heldAt),
  ],
);

/** Events with this token that were received after `revoked_at` are not counted. */
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
    /** The last batch of the log that was exported to it, or to a file that it replaced. */
    throughBatch: integer('through_batch').notNull(),
    /** JSON: the rest of `FileEntry`. */
    entry: text().notNull(),
    deviceFilter: bytes('device_filter'),
  },
  (table) => [index('files_by_time').on(table.lastEventId)],
);

/** Objects in R2 that are being written or have been replaced. The next run deletes those that are not in `files`. */
export const orphanedObjects = sqliteTable('orphaned_objects', { key: text().primaryKey() });

/** Erased devices, and events erased by their own ids, so that a repeated erasure examines only what is new: see `file-erasures.ts`. */
export const erasures = sqliteTable(
  'erasures',
  {
    id: text().primaryKey(),
    /** The last batch of the log that had been counted. It and those before it were erased from the log and the listed files. */
    throughBatch: integer('through_batch').notNull(),
    /** The last batch of the range that was being exported at the time; 0 if there was none. */
    exportBatch: integer('export_batch').notNull(),
    /** Of a device: the raw event of its click, which the application's first counter erases. */
    clickEventId: text('click_event_id'),
  },
  (table) => [index('erasures_by_batch').on(table.throughBatch)],
);

/** Devices that were erased, for as long as events of them may come. A device that has no row in either table is unknown: see `unknown-devices.ts`. */
export const erasedDevices = sqliteTable('erased_devices', {
  id: text().primaryKey(),
  erasedAt: integer('erased_at').notNull(),
});

/** Files to be rewritten without an erased device or event. */
export const fileErasures = sqliteTable(
  'file_erasures',
  { key: text().notNull(), id: text().notNull() },
  (table) => [primaryKey({ columns: [table.key, table.id] }), index('file_erasures_by_id').on(table.id)],
);

/** Sums to be added to D1, in order. */
export const outbox = sqliteTable('outbox', {
  sequence: integer().primaryKey(),
  /** JSON: rows by kind, sums with the names of their columns. */
  payload: text().notNull(),
  /** When the first event of the run was appended. */
  oldestAt: integer('oldest_at').notNull(),
});

/** Parts of the outbox that D1 has confirmed, kept in case it is restored to an earlier time: see `sent-parts.ts`. */
export const sentParts = sqliteTable('sent_parts', {
  sequence: integer().primaryKey(),
  payload: text().notNull(),
  oldestAt: integer('oldest_at').notNull(),
  sentAt: integer('sent_at').notNull(),
});

/** Counted events for destinations: see `outbound/`. */
export const outboundParts = sqliteTable('outbound_parts', {
  part: integer().primaryKey(),
  /** The number of the commit that counted its events. Until then, it is not valid. */
  run: integer().notNull(),
  destinationId: text('destination_id').notNull(),
  /** By which the destination recognises a part that it has. */
  id: text().notNull(),
  /** JSON: `OutboundPart`. */
  payload: text().notNull(),
});

/** A single row with the destinations of the application, as `OutboundRule`s in JSON. Without it, they are unknown. */
export const outboundRules = sqliteTable('outbound_rules', {
  id: integer().primaryKey(),
  rules: text({ mode: 'json' }).$type<OutboundRule[]>().notNull(),
});

/** What a run is about to write: see `outbox.ts`. */
export const preparedWrites = sqliteTable('prepared_writes', {
  part: integer().primaryKey(),
  run: integer().notNull(),
  kind: text({ enum: ['devices', 'sums'] }).notNull(),
  /** JSON: pages of devices (`PreparedPages`), or the payload of a row of the outbox. */
  payload: text().notNull(),
  /** When the first event of the run was appended. */
  oldestAt: integer('oldest_at').notNull(),
});

/** How large the counted amounts of a day were: see `amounts/amount-book.ts`. `day` is a day number, by the clock of counting. */
export const amountDays = sqliteTable('amount_days', {
  day: integer().primaryKey(),
  /** JSON: `AmountsOfDay`. */
  amounts: text().notNull(),
});

/** A single row with the counter's progress. */
export const progress = sqliteTable('progress', {
  id: integer().primaryKey(),
  /** The counter's name, because an alarm does not receive it. */
  name: text().notNull(),
  /** The last batch that was counted. */
  countedBatch: integer('counted_batch').notNull(),
  /** When it was counted. */
  countedAt: integer('counted_at').notNull(),
  /** The last sequence number in the outbox. */
  sequence: integer().notNull(),
  /** The number of the last commit of a run. */
  run: integer().notNull(),
  /** The largest number of shards that this counter has seen. */
  shards: integer().notNull(),
  /** The last batch of the range that is being exported; 0 if there is none. */
  exportBatch: integer('export_batch').notNull(),
  prunedAt: integer('pruned_at').notNull(),
  /** The size at which this counter last requested more shards. */
  raisedBytes: integer('raised_bytes').notNull(),
  /** When this store was made; 0 if it is older than this column. */
  openedAt: integer('opened_at').notNull().default(0),
  /** When it was noticed that what the counter stored is lost, until it is restored: see `restored-counter.ts`. */
  lostAt: integer('lost_at'),
  /** How many events were parked because this counter does not know their devices. */
  unknownEvents: integer('unknown_events').notNull().default(0),
  /** Whether a restore writes it at the moment. */
  isRestoring: integer('is_restoring', { mode: 'boolean' }).notNull().default(false),
  /** When it was last restored. */
  restoredAt: integer('restored_at'),
  /** The number of the format of this store: see `src/lib/encoding/store-formats.ts`. */
  format: integer().notNull().default(1),
});
