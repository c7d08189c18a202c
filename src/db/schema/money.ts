import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * Ad spend, as uploaded by the team or fetched by a connector. Absent names, and dimensions that are not stated, are empty text, because a primary key with nulls would
 * not be unique.
 */
export const costs = sqliteTable(
  'costs',
  {
    applicationId: text('application_id').notNull(),
    /** The day as dated by the advertising platform. */
    day: text().notNull(),
    campaign: text().notNull(),
    adset: text().notNull().default(''),
    creative: text().notNull().default(''),
    /** As devices have them: see `COST_DIMENSIONS`. */
    country: text().notNull().default(''),
    os: text().notNull().default(''),
    network: text().notNull().default(''),
    /** Which connector fetched it; empty for what was uploaded. Accounts of a network may have the same names. */
    connectorId: text('connector_id').notNull().default(''),
    currency: text().notNull(),
    /** Integer billionths of the row's currency. */
    amount: integer().notNull(),
    impressions: integer(),
    clicks: integer(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.applicationId,
        table.day,
        table.campaign,
        table.adset,
        table.creative,
        table.country,
        table.os,
        table.network,
        table.connectorId,
      ],
    }),
  ],
);

/** Maps an advertising platform's names to names used here: uploads with the first names are stored under the second. */
export const costNames = sqliteTable(
  'cost_names',
  {
    applicationId: text('application_id').notNull(),
    campaign: text().notNull(),
    adset: text().notNull().default(''),
    creative: text().notNull().default(''),
    toCampaign: text('to_campaign').notNull(),
    toAdset: text('to_adset').notNull().default(''),
    toCreative: text('to_creative').notNull().default(''),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.campaign, table.adset, table.creative] })],
);

/** Which column is which in cost files whose headings no format knows, as people chose for such files. */
export const costColumns = sqliteTable(
  'cost_columns',
  {
    applicationId: text('application_id').notNull(),
    /** A hash of the headings. */
    headings: text().notNull(),
    /** JSON: the heading of each field. */
    map: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.headings] })],
);

/** `units` of `currency` were worth `worth` of `base` on that day. Both are decimal text, as published. */
export const exchangeRates = sqliteTable(
  'exchange_rates',
  {
    /** Empty for the reference rates and `*` for the further ones, which every team may use. */
    teamId: text('team_id').notNull(),
    currency: text().notNull(),
    base: text().notNull(),
    day: text().notNull(),
    units: text().notNull(),
    worth: text().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.currency, table.base, table.day] })],
);
