import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What someone asked to be told about: a figure of an application that leaves a limit. */
export const alerts = sqliteTable(
  'alerts',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text().notNull(),
    /** In the unit of the kind: percent, hours, or units of the application's currency. */
    threshold: real().notNull(),
    /** A check claims the alert by moving this ahead; one that fails is tried again then. */
    nextCheckAt: integer('next_check_at').notNull(),
    /** Since when the figure has been past the limit; null while it is not. */
    firingSince: integer('firing_since'),
    /** What the last check found, as a sentence; null before the first. */
    finding: text(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('alerts_by_application').on(table.applicationId, table.id),
    index('alerts_by_check').on(table.nextCheckAt),
  ],
);

/** Where an application's alerts and digests are sent. */
export const channels = sqliteTable(
  'channels',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text({ enum: ['webhook', 'mail'] }).notNull(),
    /** An https URL or an email address. */
    target: text().notNull(),
    digest: text({ enum: ['never', 'daily', 'weekly'] }).notNull(),
    /** Null where no digest is wanted. A run claims it by moving it ahead. */
    nextDigestAt: integer('next_digest_at'),
    /** The address that the dashboard was opened at, for the links in messages. */
    origin: text().notNull(),
    /** Why the last message was not delivered; null once one was. */
    failure: text(),
    failedAt: integer('failed_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('channels_by_application').on(table.applicationId, table.id),
    index('channels_by_digest').on(table.nextDigestAt),
  ],
);

/** A message on its way to a channel; it goes when it is delivered or given up. */
export const notices = sqliteTable(
  'notices',
  {
    channelId: text('channel_id').notNull(),
    /** Names what it is about, so that the same message is made once. */
    id: text().notNull(),
    subject: text().notNull(),
    body: text().notNull(),
    attempts: integer().notNull().default(0),
    nextAttemptAt: integer('next_attempt_at').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.channelId, table.id] }),
    index('notices_by_attempt').on(table.nextAttemptAt),
  ],
);
