import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** One row per token issued by `/fetch-token`, ordered by device, so that an erased device's tokens can be found. */
export const tokens = sqliteTable(
  'tokens',
  {
    id: text().notNull(),
    applicationId: text('application_id').notNull(),
    deviceId: text('device_id').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
  },
  (table) => [primaryKey({ columns: [table.deviceId, table.id] })],
);

/**
 * Requests that an ingestion endpoint refused, one row per kind. Bounded: only the newest kinds of each application are kept. Bodies,
 * keys and tokens are never stored.
 */
export const rejections = sqliteTable(
  'rejections',
  {
    /** Empty if the credential did not identify an application. */
    applicationId: text('application_id').notNull(),
    endpoint: text().notNull(),
    status: integer().notNull(),
    error: text().notNull(),
    count: integer().notNull(),
    firstAt: integer('first_at').notNull(),
    lastAt: integer('last_at').notNull(),
    /** JSON about the last such request: its type, its request id and the values at fault. */
    sample: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.endpoint, table.status, table.error] })],
);

/**
 * Messages that a counter did not accept and that the queue will deliver again, by application. Reports state that they lack these events. A
 * row is deleted once the message is delivered or parked.
 */
export const delayedMessages = sqliteTable(
  'delayed_messages',
  {
    applicationId: text('application_id').notNull(),
    messageId: text('message_id').notNull(),
    events: integer().notNull(),
    /** The number of the queue that it came from. */
    queue: integer().notNull().default(0),
    /** When the first of them was accepted. */
    receivedAt: integer('received_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.messageId] })],
);
