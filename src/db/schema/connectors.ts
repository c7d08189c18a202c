import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Reports that are fetched from mediation platforms, of one app each. Times are epoch milliseconds. */
export const connectors = sqliteTable(
  'connectors',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text().notNull(),
    /** Which app at the platform: see `CONNECTORS` in src/connectors. */
    settings: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** JSON of the keys, encrypted with AES-GCM. They are never shown. */
    credentials: text().notNull(),
    /** When it is due next. */
    nextRunAt: integer('next_run_at').notNull(),
    lastRunAt: integer('last_run_at'),
    lastSuccessAt: integer('last_success_at'),
    /** Why the last run failed; null if it succeeded. */
    lastError: text('last_error'),
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
