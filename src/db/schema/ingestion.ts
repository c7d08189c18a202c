import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** One row per token that `/fetch-token` has given out, by its device, so that those of an erased one are found. */
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
 * Requests that an ingestion endpoint refused, one row a kind. Bounded: of each application only the newest kinds stay.
 * No body is kept, no key and no token.
 */
export const rejections = sqliteTable(
  'rejections',
  {
    /** Empty where the credential proved no application. */
    applicationId: text('application_id').notNull(),
    endpoint: text().notNull(),
    status: integer().notNull(),
    error: text().notNull(),
    count: integer().notNull(),
    firstAt: integer('first_at').notNull(),
    lastAt: integer('last_at').notNull(),
    /** JSON: of the last one its type, request id and the values that the faults are about. */
    sample: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.endpoint, table.status, table.error] })],
);
