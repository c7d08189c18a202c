import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** When each cron schedule last ran. Times are epoch milliseconds. */
export const scheduleRuns = sqliteTable('schedule_runs', {
  schedule: text().primaryKey(),
  ranAt: integer('ran_at').notNull(),
  /** When it last ran without a failure. */
  succeededAt: integer('succeeded_at'),
  /** What failed in the last run; null if nothing did. */
  failure: text(),
});
