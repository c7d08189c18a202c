import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What was spent, as the team uploads it. Absent names are empty text, because a primary key of nulls would not be unique. */
export const costs = sqliteTable(
  'costs',
  {
    applicationId: text('application_id').notNull(),
    /** As the advertising platform dates it. */
    day: text().notNull(),
    campaign: text().notNull(),
    adset: text().notNull().default(''),
    creative: text().notNull().default(''),
    currency: text().notNull(),
    /** Integer millionths of the row's currency. */
    amount: integer().notNull(),
    impressions: integer(),
    clicks: integer(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.day, table.campaign, table.adset, table.creative] }),
  ],
);

/** What the names of an advertising platform mean here: uploads that carry the first names are stored under the second. */
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

/** `units` of `currency` were worth `worth` of `base` that day: decimal texts, kept as they were published. */
export const exchangeRates = sqliteTable(
  'exchange_rates',
  {
    /** Empty for the reference rates that every team may use. */
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
