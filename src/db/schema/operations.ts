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

/** The number of the format of each store that a release has raised; 1 for a store without a row. See `src/lib/encoding/store-formats.ts`. */
export const storeFormats = sqliteTable('store_formats', {
  store: text().primaryKey(),
  number: integer().notNull(),
});

/** Who may ask for the deployment's secrets once, to keep a copy of them: see `src/backup/secrets-copy.ts`. Times are epoch milliseconds. */
export const secretCopies = sqliteTable('secret_copies', {
  /** SHA-256 of the token, hex. */
  hash: text().primaryKey(),
  expiresAt: integer('expires_at').notNull(),
});

/** Restores from a bucket: of this deployment, and of one of its applications, at most one row each. Times are epoch milliseconds. */
export const restores = sqliteTable('restores', {
  id: integer().primaryKey(),
  /** SHA-256 of the secret with which the command line continues it, hex. */
  hash: text().notNull(),
  startedAt: integer('started_at').notNull(),
  /** How many steps of the plan are done. */
  done: integer().notNull().default(0),
  /** Until when a request works on it. */
  busyUntil: integer('busy_until').notNull().default(0),
  /** JSON: what was restored so far, see `src/backup/restore.ts`. */
  summary: text().notNull().default('{}'),
  /** Null while it is not complete. */
  finishedAt: integer('finished_at'),
  /** Null if all of the deployment is restored. */
  applicationId: text('application_id'),
});

/**
 * The key of the hashes that identifiers are stored as, encrypted: at most one row. What was hashed cannot be hashed again, so this key
 * outlasts the secret that encrypts it. See `src/hashing`.
 */
export const hashKeys = sqliteTable('hash_keys', {
  id: text().primaryKey(),
  encrypted: text().notNull(),
});
