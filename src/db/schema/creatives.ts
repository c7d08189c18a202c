import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

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

/** Texts of a link's preview. The image is an https URL. */
export type LinkPreview = { title: string; description: string | null; image_url: string | null };

export const creatives = sqliteTable(
  'creatives',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    adsetId: text('adset_id').notNull(),
    name: text().notNull(),
    /** The last segment of the tracking link. Random, so that one link does not reveal another. */
    token: text().notNull(),
    /** The network that its link is for; null if the clicks tell. */
    network: text(),
    /** What the app opens for a person who comes by this creative's link. */
    deepLink: text('deep_link'),
    /** What messengers and social networks show of the link; null for what the store shows. */
    preview: text({ mode: 'json' }).$type<LinkPreview>(),
    archivedAt: integer('archived_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('creatives_by_token').on(table.token),
    index('creatives_by_application').on(table.applicationId, table.id),
    index('creatives_by_adset').on(table.adsetId, table.name),
  ],
);

/** First answers to `POST /v1/creatives` under an `Idempotency-Key`, kept for a week. */
export const creativeRequests = sqliteTable(
  'creative_requests',
  {
    teamId: text('team_id').notNull(),
    key: text().notNull(),
    /** SHA-256 of the request. The same key with a different body is a conflict. */
    requestHash: text('request_hash').notNull(),
    /** The JSON answer. Whether campaign and ad set were new follows from the ids that this request minted for them. */
    answer: text().notNull(),
    campaignId: text('campaign_id').notNull(),
    adsetId: text('adset_id').notNull(),
    creativeId: text('creative_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.key] }),
    index('creative_requests_by_age').on(table.createdAt),
  ],
);

/** The ids by which networks know campaigns, ad sets and ads. An id of a network and kind leads to one item of an application. */
export const externalIds = sqliteTable(
  'external_ids',
  {
    applicationId: text('application_id').notNull(),
    network: text().notNull(),
    /** What the id is of, at the network and here. */
    kind: text({ enum: ['campaign', 'adset', 'creative'] }).notNull(),
    /** As text: ids of ads exceed 2^53. */
    externalId: text('external_id').notNull(),
    /** The id of the campaign, ad set or creative. */
    itemId: text('item_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.network, table.kind, table.externalId] }),
    index('external_ids_by_item').on(table.itemId),
  ],
);

export type InventoryLevel = (typeof externalIds.$inferSelect)['kind'];
