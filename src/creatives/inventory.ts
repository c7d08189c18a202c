import { and, count, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { adsets, campaigns, creatives, type Database, externalIds, type InventoryLevel, isAmong } from '#db';
import type { CreativeFilter } from './find-ids.ts';
import { LEVELS, namesContain, selectLevel } from './levels.ts';

/** Listed of an application that has more: the newest. */
export const MAX_INVENTORY = 5_000;

/** As a report's filters, only items in some campaigns, ad sets or creatives. */
export type InventoryQuery = CreativeFilter & {
  level: InventoryLevel;
  /** Only items with this text in their own name or in that of their ad set or campaign. */
  q: string;
  /** For creatives only. Leave it out to get all. */
  archived?: boolean;
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

const among = (column: SQLiteColumn, ids: readonly string[] | undefined) =>
  ids && ids.length > 0 ? isAmong(column, ids) : undefined;

/** Which campaigns, ad sets or creatives match the query. */
function matching(applicationId: string, { level, q, archived, ...within }: InventoryQuery): SQL | undefined {
  const { table, names } = LEVELS[level];
  const ofCreative = [
    among(creatives.id, within.creative_id),
    archived === undefined ? undefined : sql`(${creatives.archivedAt} IS NOT NULL) = ${Number(archived)}`,
  ];
  return and(
    eq(table.applicationId, applicationId),
    among(campaigns.id, within.campaign_id),
    level === 'campaign' ? undefined : among(adsets.id, within.adset_id),
    ...(level === 'creative' ? ofCreative : []),
    namesContain(q, names),
  );
}

/** The networks of a creative as a JSON array. See `InventoryItem`. */
const NETWORKS = sql<string>`iif(${creatives.network} IS NULL, (
  SELECT json_group_array(DISTINCT ${externalIds.network}) FROM ${externalIds}
  WHERE ${externalIds.itemId} = ${creatives.id}), json_array(${creatives.network}))`;

const NONE = sql<null>`NULL`;

/** An application's campaigns, ad sets or creatives that match the query, newest first, including those without any events. One more than `MAX_INVENTORY` if there are more. */
export async function listInventory(
  db: Database,
  applicationId: string,
  query: InventoryQuery,
): Promise<InventoryItem[]> {
  const { level } = query;
  const { table } = LEVELS[level];
  const isCreative = level === 'creative';
  const columns = {
    id: sql<string>`${table.id}`,
    name: sql<string>`${table.name}`,
    adset: isCreative ? sql<string | null>`${adsets.name}` : NONE,
    campaign: level === 'campaign' ? NONE : sql<string | null>`${campaigns.name}`,
    archivedAt: isCreative ? sql<number | null>`${creatives.archivedAt}` : NONE,
    networks: isCreative ? NETWORKS : sql<string>`'[]'`,
    createdAt: sql<number>`${table.createdAt}`,
  };
  const rows = await selectLevel(db, level, columns)
    .where(matching(applicationId, query))
    .orderBy(desc(table.id))
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
  const [found] = await selectLevel(db, query.level, { items: count() }).where(
    matching(applicationId, query),
  );
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
