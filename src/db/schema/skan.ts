import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * Verified postbacks of SKAdNetwork and AdAttributionKit, each once. Tests have keys of their own: a device in development must not be able
 * to take the place of a real postback. Times are epoch milliseconds.
 */
export const skanPostbacks = sqliteTable(
  'skan_postbacks',
  {
    transactionId: text('transaction_id').notNull(),
    /** 0 to 2: the conversion window. */
    sequence: integer().notNull(),
    test: integer({ mode: 'boolean' }).notNull(),
    /** Empty while no application has the App Store id. */
    applicationId: text('application_id').notNull(),
    appId: text('app_id').notNull(),
    framework: text({ enum: ['skadnetwork', 'adattributionkit'] }).notNull(),
    version: text(),
    network: text().notNull(),
    sourceIdentifier: text('source_identifier').notNull(),
    sourceApp: text('source_app'),
    fidelity: integer(),
    conversion: text({ enum: ['download', 'redownload', 're-engagement'] }).notNull(),
    didWin: integer('did_win', { mode: 'boolean' }).notNull(),
    // These are of the first copy that arrived. Apple signs none of them.
    fine: integer(),
    coarse: text({ enum: ['low', 'medium', 'high'] }),
    country: text(),
    interaction: text({ enum: ['click', 'view'] }),
    /** How many further copies arrived, and how many of them had another value. */
    repeats: integer().notNull().default(0),
    conflicts: integer().notNull().default(0),
    receivedAt: integer('received_at').notNull(),
    /** The day on which it arrived, in the application's time zone; in UTC while it has no application. */
    day: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.transactionId, table.sequence, table.test] }),
    index('skan_postbacks_by_application').on(table.applicationId, table.test, table.receivedAt),
    /** Those that are kept for a while only. */
    index('skan_postbacks_passing').on(table.receivedAt).where(sql`application_id = '' OR test = 1`),
  ],
);

/** What conversion values mean, from a day on until the next version's. */
export const skanSchemas = sqliteTable(
  'skan_schemas',
  {
    applicationId: text('application_id').notNull(),
    /** Days are those of arrival, in the application's time zone. */
    validFrom: text('valid_from').notNull(),
    /** JSON: see `SchemaVersion` in src/skan. */
    version: text({ mode: 'json' }).notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.validFrom] })],
);
