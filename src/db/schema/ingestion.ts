import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** One row a token that `/fetch-token` has given out. */
export const tokens = sqliteTable('tokens', {
  id: text().primaryKey(),
  applicationId: text('application_id').notNull(),
  deviceId: text('device_id').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  revokedAt: integer('revoked_at'),
});

/**
 * One row a device, made by `/fetch-token` and kept up to date by the fold alone, which writes it only when something in it
 * changes: a new active day, a first purchase of a day, a first step of a funnel. Erased devices have no row.
 */
export const devices = sqliteTable(
  'devices',
  {
    applicationId: text('application_id').notNull(),
    /** Day 0, in the application's time zone. */
    acquiredDay: text('acquired_day').notNull(),
    id: text().notNull(),
    acquiredAt: integer('acquired_at').notNull(),
    creativeId: text('creative_id').notNull().default(''),
    deviceName: text('device_name').notNull(),
    deviceModel: text('device_model').notNull(),
    osSystem: text('os_system').notNull(),
    /** IANA name; empty where it is not known. */
    timezone: text().notNull(),
    /** ISO 3166 code in lower case, as the backend sent it. */
    country: text(),
    appVersion: text('app_version'),
    /** Made by an editor or a debug build: nothing of it is counted. */
    test: integer({ mode: 'boolean' }).notNull().default(false),
    dpi: real(),
    windowHeight: real('window_height'),
    windowWidth: real('window_width'),
    /** Calendar days with any event, counted from the acquisition day: a day set. */
    activeDays: text('active_days').notNull().default(''),
    /** Day numbers that count for retention: as `active_days`, but a retention event may report a neighbouring number. */
    activeAges: text('active_ages').notNull().default(''),
    /** Calendar days with a successful purchase, counted from the acquisition day: a day set. */
    paidDays: text('paid_days').notNull().default(''),
    /** JSON: funnel step → epoch milliseconds of its first time. */
    milestones: text().notNull().default('{}'),
    /** JSON: why the device was credited to its creative. Empty for devices older than attribution. */
    attribution: text().notNull().default('{}'),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.acquiredDay, table.id] })],
);

/** The same `device_id` of a backend gives the same device again. */
export const deviceAliases = sqliteTable(
  'device_aliases',
  {
    applicationId: text('application_id').notNull(),
    /** Keyed hash of the backend's own `device_id`, which may be personal data. */
    alias: text().notNull(),
    deviceId: text('device_id').notNull(),
    acquiredDay: text('acquired_day').notNull(),
    creativeId: text('creative_id').notNull().default(''),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.alias] })],
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
