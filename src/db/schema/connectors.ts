import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** A report that is being made or read. Days are included. `state` is what the platform is asked with next. */
export type ConnectorJob = {
  from: string;
  to: string;
  isBackfill: boolean;
  startedAt: number;
  state: Readonly<Record<string, string>>;
};

/** Days that are read again, from the oldest on, some at a time. `next` is the first that is not read yet; after `to` if all are. */
export type Backfill = { from: string; to: string; next: string; dailyAt: number };

/** Billionths as text, by currency. */
export type ConnectorAmounts = { currency: string; nanos: string }[];

/** What a run replaced. `changedDays` are those whose amounts differ from before. */
export type ConnectorChange = {
  from: string;
  to: string;
  days: number;
  changedDays: number;
  rows: number;
  before: ConnectorAmounts;
  after: ConnectorAmounts;
};

/** Reports that are fetched from mediation platforms and advertising networks, of one app or account each. Times are epoch milliseconds. */
export const connectors = sqliteTable(
  'connectors',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text().notNull(),
    /** Which app or account: see `KINDS` in src/connectors. */
    settings: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** JSON of the keys, encrypted with AES-GCM. They are never shown. */
    credentials: text().notNull(),
    /** When it is due next. */
    nextRunAt: integer('next_run_at').notNull(),
    lastRunAt: integer('last_run_at'),
    lastSuccessAt: integer('last_success_at'),
    /** Why the last run failed; null if it succeeded. */
    lastError: text('last_error'),
    /** How many runs in a row have failed. */
    failures: integer().notNull().default(0),
    /** Null while it is not running. */
    startedAt: integer('started_at'),
    job: text({ mode: 'json' }).$type<ConnectorJob>(),
    backfill: text({ mode: 'json' }).$type<Backfill>(),
    lastChange: text('last_change', { mode: 'json' }).$type<ConnectorChange>(),
    /** What the network tells of the account; null until the first run. */
    account: text({ mode: 'json' }).$type<{ currency: string | null; timezone: string | null }>(),
    /** When the credentials end; null if they do not, or nobody knows. */
    credentialsExpireAt: integer('credentials_expire_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('connectors_by_application').on(table.applicationId, table.id),
    index('connectors_by_due').on(table.nextRunAt),
  ],
);

/** What a report said of a day, by network, in US dollars. A day is replaced as a whole when it is read again. */
export const reportedAdRevenue = sqliteTable(
  'reported_ad_revenue',
  {
    applicationId: text('application_id').notNull(),
    connectorId: text('connector_id').notNull(),
    /** In UTC. */
    day: text().notNull(),
    network: text().notNull(),
    impressions: integer().notNull(),
    /** In billionths. */
    revenue: integer({ mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.connectorId, table.day, table.network] })],
);
