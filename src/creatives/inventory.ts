import { and, count, desc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { adsets, campaigns, containsSql, creatives, type Database, externalIds, isAmong } from '#db';

export const INVENTORY_LEVELS = ['campaign', 'adset', 'creative'] as const;
export type InventoryLevel = (typeof INVENTORY_LEVELS)[number];

/** Listed of an application that has more: the newest. */
export const MAX_INVENTORY = 5_000;

export type InventoryQuery = {
  level: InventoryLevel;
  /** Only items with this text in their own name or in that of their ad set or campaign. */
  q: string;
  /** For creatives only. Leave it out to get all. */
  archived?: boolean;
  /** Only items in one of these, like a report's filters. */
  campaign_id?: readonly string[] | undefined;
  adset_id?: readonly string[] | undefined;
  creative_id?: readonly string[] | undefined;
};

/** A campaign, ad set or creative with what it belongs to. */
export type InventoryItem = {
  id: string;
  name: string;
  adset: string | null;
  campaign: string | null;
  archived: boolean;
  /** The network that a creative's link is for, or else those of which it has ids. */
  networks: string[];
  createdAt: number;
};

/** Whether one of the names contains a text, in any case; undefined for an empty text, which all contain. */
export const namesContain = (q: string, ...columns: SQLiteColumn[]): SQL | undefined =>
  q === '' ? undefined : or(...columns.map((column) => containsSql(column, q)));
const among = (column: SQLiteColumn, ids: readonly string[] | undefined) =>
  ids && ids.length > 0 ? isAmong(column, ids) : undefined;

/** Which campaigns, ad sets or creatives match the query. */
function matching(applicationId: string, { level, q, archived, ...within }: InventoryQuery): SQL | undefined {
  const inCampaign = among(campaigns.id, within.campaign_id);
  if (level === 'campaign') {
    return and(eq(campaigns.applicationId, applicationId), inCampaign, namesContain(q, campaigns.name));
  }
  const inAdset = and(inCampaign, among(adsets.id, within.adset_id));
  if (level === 'adset') {
    const named = namesContain(q, adsets.name, campaigns.name);
    return and(eq(adsets.applicationId, applicationId), inAdset, named);
  }
  return and(
    eq(creatives.applicationId, applicationId),
    inAdset,
    among(creatives.id, within.creative_id),
    archived === undefined
      ? undefined
      : archived
        ? isNotNull(creatives.archivedAt)
        : isNull(creatives.archivedAt),
    namesContain(q, creatives.name, adsets.name, campaigns.name),
  );
}

/** The networks of a creative as a JSON array. See `InventoryItem`. */
const NETWORKS = sql<string>`iif(${creatives.network} IS NULL, (
  SELECT json_group_array(DISTINCT ${externalIds.network}) FROM ${externalIds}
  WHERE ${externalIds.itemId} = ${creatives.id}), json_array(${creatives.network}))`;

/** An application's campaigns, ad sets or creatives that match the query, newest first, including those without any events. One more than `MAX_INVENTORY` if there are more. */
export async function listInventory(
  db: Database,
  applicationId: string,
  query: InventoryQuery,
): Promise<InventoryItem[]> {
  const matches = matching(applicationId, query);
  if (query.level === 'campaign') {
    const rows = await db
      .select({ id: campaigns.id, name: campaigns.name, createdAt: campaigns.createdAt })
      .from(campaigns)
      .where(matches)
      .orderBy(desc(campaigns.id))
      .limit(MAX_INVENTORY + 1);
    return rows.map((row) => ({ ...row, adset: null, campaign: null, archived: false, networks: [] }));
  }
  if (query.level === 'adset') {
    const rows = await db
      .select({ id: adsets.id, name: adsets.name, campaign: campaigns.name, createdAt: adsets.createdAt })
      .from(adsets)
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(matches)
      .orderBy(desc(adsets.id))
      .limit(MAX_INVENTORY + 1);
    return rows.map((row) => ({ ...row, adset: null, archived: false, networks: [] }));
  }
  const rows = await db
    .select({
      id: creatives.id,
      name: creatives.name,
      adset: adsets.name,
      campaign: campaigns.name,
      archivedAt: creatives.archivedAt,
      networks: NETWORKS,
      createdAt: creatives.createdAt,
    })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(matches)
    .orderBy(desc(creatives.id))
    .limit(MAX_INVENTORY + 1);
  return rows.map(({ archivedAt, networks, ...row }) => ({
    ...row,
    archived: archivedAt !== null,
    networks: JSON.parse(networks),
  }));
}

/** How many items `listInventory` would list without its limit. */
export async function countInventory(
  db: Database,
  applicationId: string,
  query: InventoryQuery,
): Promise<number> {
  const counted = db.select({ items: count() }).from(campaigns).$dynamic();
  if (query.level !== 'campaign') counted.innerJoin(adsets, eq(adsets.campaignId, campaigns.id));
  if (query.level === 'creative') counted.innerJoin(creatives, eq(creatives.adsetId, adsets.id));
  const [found] = await counted.where(matching(applicationId, query));
  return found?.items ?? 0;
}

/** The link tokens of these creatives, by id. */
export async function tokensOf(
  db: Database,
  applicationId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: creatives.id, token: creatives.token })
    .from(creatives)
    .where(and(eq(creatives.applicationId, applicationId), inArray(creatives.id, [...ids])));
  return new Map(rows.map(({ id, token }) => [id, token]));
}
