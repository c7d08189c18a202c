import { eq, or, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { adsets, campaigns, containsSql, creatives, type Database, type InventoryLevel } from '#db';

/** Campaigns, ad sets and creatives: their table, and the names by which people find one, its own first. */
export const LEVELS = {
  campaign: { table: campaigns, names: [campaigns.name] },
  adset: { table: adsets, names: [adsets.name, campaigns.name] },
  creative: { table: creatives, names: [creatives.name, adsets.name, campaigns.name] },
} as const satisfies Record<InventoryLevel, object>;
export const INVENTORY_LEVELS = Object.keys(LEVELS) as InventoryLevel[];

/** Selects the items of a level, with what they belong to. Of the levels below, nothing may be selected. */
export function selectLevel<Columns extends Record<string, SQL | SQL.Aliased>>(
  db: Database,
  level: InventoryLevel,
  columns: Columns,
) {
  const query = db.select(columns).from(campaigns).$dynamic();
  if (level !== 'campaign') query.innerJoin(adsets, eq(adsets.campaignId, campaigns.id));
  if (level === 'creative') query.innerJoin(creatives, eq(creatives.adsetId, adsets.id));
  return query;
}

/** Whether one of the names contains a text, in any case; undefined for an empty text, which all contain. */
export const namesContain = (q: string, names: readonly SQLiteColumn[]): SQL | undefined =>
  q === '' ? undefined : or(...names.map((column) => containsSql(column, q)));
