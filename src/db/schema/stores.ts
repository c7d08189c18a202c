import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Verified notifications of stores, each once. Times are epoch milliseconds. */
export const storeNotifications = sqliteTable(
  'store_notifications',
  {
    applicationId: text('application_id').notNull(),
    store: text({ enum: ['apple', 'google', 'revenuecat'] }).notNull(),
    /** The store's id. A notification that is sent again has the same. */
    notificationId: text('notification_id').notNull(),
    /** The store's own name of what happened. */
    type: text().notNull(),
    kind: text({
      enum: ['purchase', 'renewal', 'trial', 'refund', 'refund_reversed', 'other'],
    }).notNull(),
    environment: text({ enum: ['production', 'sandbox'] }).notNull(),
    /** The event that counts it. Null if it counts nothing, and then `reason` says why. */
    eventId: text('event_id'),
    reason: text(),
    transactionId: text('transaction_id'),
    /** SHA-256 of what it tells, hex: a repeat that tells something else is a conflict. */
    contentHash: text('content_hash').notNull(),
    /** How many further copies arrived, and how many of them told something else. */
    repeats: integer().notNull().default(0),
    conflicts: integer().notNull().default(0),
    receivedAt: integer('received_at').notNull(),
    /** The counter to which its event was sent, if one was decided. */
    shard: integer(),
    /** The event, as long as it waits for a counter that knows its transaction, or to be sent there. */
    held: text({ mode: 'json' }),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.store, table.notificationId] }),
    index('store_notifications_by_time').on(table.applicationId, table.receivedAt),
    index('store_notifications_held').on(table.receivedAt).where(sql`held IS NOT NULL`),
  ],
);
