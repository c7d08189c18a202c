import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Alerts: each watches one condition of an application and fires while it holds. */
export const alerts = sqliteTable(
  'alerts',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text().notNull(),
    /** What an alert of the kind `metric` watches, as JSON: `MetricRule` in `src/alerts/rule.ts`. Null for the other kinds. */
    rule: text(),
    /** In the unit of the kind or metric: percent, hours, a number, or units of the application's currency. */
    threshold: real().notNull(),
    /** A check claims the alert by moving this ahead. If the check fails, it is retried at that time. */
    nextCheckAt: integer('next_check_at').notNull(),
    /** Since when the figure has been past the limit; null while it is not. */
    firingSince: integer('firing_since'),
    /** What the alert fires for, as JSON: `FiringGroups` in `src/alerts/rule.ts`. */
    firingGroups: text('firing_groups'),
    /** What the last check found, as a sentence; null before the first. */
    finding: text(),
    /** Whether the last check had the data to tell. */
    isKnown: integer('is_known', { mode: 'boolean' }).notNull().default(false),
    /** Since when the alert is turned off; null while it is on. */
    offSince: integer('off_since'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('alerts_by_application').on(table.applicationId, table.id),
    index('alerts_by_check').on(table.nextCheckAt),
  ],
);

/** When alerts fired and resolved: the newest of each, as many as `src/alerts/history.ts` keeps. */
export const alertChanges = sqliteTable(
  'alert_changes',
  {
    alertId: text('alert_id').notNull(),
    at: integer().notNull(),
    state: text({ enum: ['fired', 'resolved'] }).notNull(),
    applicationId: text('application_id').notNull(),
    /** The sentences of the message, one per line. */
    text: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.alertId, table.at, table.state] }),
    index('alert_changes_by_application').on(table.applicationId),
  ],
);

/** Where an application's alerts and digests are sent. */
export const channels = sqliteTable(
  'channels',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text({ enum: ['webhook', 'mail'] }).notNull(),
    /** An email address, or an https URL that stands for the webhook's: its host and last characters. */
    target: text().notNull(),
    /** A webhook's URL, which is a credential: see `encryptText`. Null for mail, and up to an hour for a row of an earlier version, whose `target` is the whole URL. */
    encryptedTarget: text('encrypted_target'),
    digest: text({ enum: ['never', 'daily', 'weekly'] }).notNull(),
    /** Null if no digest is wanted. A run claims the digest by moving this ahead. */
    nextDigestAt: integer('next_digest_at'),
    /** The origin at which the dashboard was open, for links in messages. */
    origin: text().notNull(),
    /** Why the last message was not delivered; null after a delivery. */
    failure: text(),
    failedAt: integer('failed_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('channels_by_application').on(table.applicationId, table.id),
    index('channels_by_digest').on(table.nextDigestAt),
  ],
);

/** Messages on their way to a channel. A row is deleted once its message is delivered or given up. */
export const notices = sqliteTable(
  'notices',
  {
    channelId: text('channel_id').notNull(),
    /** Derived from what the message is about, so that the same message is created only once. */
    id: text().notNull(),
    subject: text().notNull(),
    /** JSON: see `Message` in `src/alerts/message.ts`. */
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
