import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** When each cron schedule last ran. Times are epoch milliseconds. */
export const scheduleRuns = sqliteTable('schedule_runs', {
  schedule: text().primaryKey(),
  ranAt: integer('ran_at').notNull(),
  /** When it last ran without a failure. */
  succeededAt: integer('succeeded_at'),
  /** What failed in the last run; null if nothing did. */
  failure: text(),
});

/**
 * What a store has lost of an application's data, until counting is resumed for it: the database was restored to an earlier time, or the
 * bucket was emptied. Times are epoch milliseconds.
 */
export const storeLosses = sqliteTable(
  'store_losses',
  {
    applicationId: text('application_id').notNull(),
    store: text({ enum: ['database', 'bucket'] }).notNull(),
    /** Of the database: what was written after this time is missing. Of the bucket: what was written before it. Null if unknown. */
    lostFrom: integer('lost_from'),
    noticedAt: integer('noticed_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.store] })],
);
