import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { STATUSES } from '../statuses.ts';

// The tables of a destination's object, in its own SQLite. Times are epoch milliseconds.

/** Parts from counters that were not sent completely, in order of arrival. */
export const waitingParts = sqliteTable(
  'waiting_parts',
  {
    sequence: integer().primaryKey(),
    /** The counter's, by which a part that is handed over again is recognized. */
    id: text().notNull(),
    /** JSON: `OutboundPart`. */
    payload: text().notNull(),
    acceptedAt: integer('accepted_at').notNull(),
  },
  (table) => [uniqueIndex('waiting_parts_by_id').on(table.id)],
);

/**
 * Events that were sent at least once, or skipped, for 30 days at most. Its migration makes it a table without row ids, which saves a written row for
 * each event. The indexes on what is not delivered cost nothing in the usual case.
 */
export const deliveries = sqliteTable(
  'deliveries',
  {
    eventId: text('event_id').primaryKey(),
    /** Empty for an event without a device. */
    deviceId: text('device_id').notNull(),
    type: text().notNull(),
    status: text({ enum: STATUSES }).notNull(),
    /** Why it was skipped or has failed; null for one that was delivered. */
    reason: text(),
    /** When it is tried again; null for one that is not. */
    dueAt: integer('due_at'),
    /** Attempts of the current schedule: a replay begins a new one. */
    tries: integer().notNull(),
    /** JSON: `OutboundItem`. */
    item: text().notNull(),
    /** JSON: `Attempt`s, the oldest first. */
    attempts: text().notNull(),
  },
  (table) => [
    index('deliveries_by_device').on(table.deviceId),
    index('deliveries_by_due').on(table.dueAt).where(sql`due_at IS NOT NULL`),
    index('deliveries_by_status').on(table.status, table.eventId).where(sql`status <> 'delivered'`),
  ],
);

/** A single row. */
export const state = sqliteTable('state', {
  id: integer().primaryKey(),
  /** The destination's id, because an alarm does not receive its object's name. */
  name: text().notNull(),
  /** Deliveries that have failed for good since the last success. */
  failuresInRow: integer('failures_in_row').notNull(),
  /** Since when every attempt has failed while something was to be sent; null after a success, and once nothing waits. */
  failingSince: integer('failing_since'),
  lastSuccessAt: integer('last_success_at'),
  /** The number of failures in a row that was last told; 0 after a success. */
  told: integer().notNull(),
  /** The current hour since 1970, the attempts in it and the failed ones of them, and those of the hour before. */
  hour: integer().notNull(),
  attempts: integer().notNull(),
  failed: integer().notNull(),
  attemptsBefore: integer('attempts_before').notNull(),
  failedBefore: integer('failed_before').notNull(),
  /** No longer used. */
  prunedAt: integer('pruned_at').notNull(),
  /** How long the outage lasted, in milliseconds, when people were last told of it; 0 if they were not. */
  outageTold: integer('outage_told').notNull().default(0),
  /** The number of the format of this store: see `src/lib/encoding/store-formats.ts`. */
  format: integer().notNull().default(1),
});
