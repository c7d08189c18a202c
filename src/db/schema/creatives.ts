import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

export const campaigns = sqliteTable(
  'campaigns',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    name: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [uniqueIndex('campaigns_by_name').on(table.applicationId, table.name)],
);

export const adsets = sqliteTable(
  'adsets',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    campaignId: text('campaign_id').notNull(),
    name: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('adsets_by_name').on(table.campaignId, table.name),
    index('adsets_by_application').on(table.applicationId, table.id),
  ],
);

export const creatives = sqliteTable(
  'creatives',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    adsetId: text('adset_id').notNull(),
    name: text().notNull(),
    /** The last segment of the tracking link: random, so that one link reveals no other. */
    token: text().notNull(),
    archivedAt: integer('archived_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('creatives_by_token').on(table.token),
    index('creatives_by_application').on(table.applicationId, table.id),
  ],
);
