import { eq, type SQL, sql } from 'drizzle-orm';
import { adsets, campaigns, costs, creatives, type Database, named } from '#db';

/** The groupings that a creative's id determines, finest first. */
export const CREATIVE_GROUPS = ['creative', 'adset', 'campaign'] as const;
export type CreativeGroup = (typeof CREATIVE_GROUPS)[number];

/**
 * SQL over `costs` for a row's creative, ad set and campaign, each as a JSON array of id and name. The id is null if the application has
 * no such name. If several creatives have the same name, the oldest is used. Empty text if the row names no ad set or creative.
 */
export function costNames(applicationId: string): Record<CreativeGroup, SQL> {
  // Without their table, because they are also read from sums of its rows.
  const [campaign, adset, creative] = [named(costs.campaign), named(costs.adset), named(costs.creative)];
  const isCampaign = sql`${campaigns.applicationId} = ${applicationId} AND ${campaigns.name} = ${campaign}`;
  const ofCampaigns = sql`${adsets} INNER JOIN ${campaigns} ON ${campaigns.id} = ${adsets.campaignId}`;
  return {
    campaign: sql`json_array((SELECT ${campaigns.id} FROM ${campaigns} WHERE ${isCampaign}), ${campaign})`,
    adset: sql`CASE WHEN ${adset} = '' THEN '' ELSE json_array(
      (SELECT ${adsets.id} FROM ${ofCampaigns} WHERE ${isCampaign} AND ${adsets.name} = ${adset}), ${adset}) END`,
    creative: sql`CASE WHEN ${creative} = '' THEN '' ELSE json_array(
      (SELECT min(${creatives.id}) FROM ${ofCampaigns} INNER JOIN ${creatives}
         ON ${creatives.adsetId} = ${adsets.id} AND ${creatives.applicationId} = ${applicationId}
       WHERE ${isCampaign} AND ${adset} IN ('', ${adsets.name}) AND ${creatives.name} = ${creative}), ${creative}) END`,
  };
}

/** The columns that show a value of `costNames` or of `CreativeNames` in a report by `group`. Both are null for organic devices. */
export function namedColumns(group: CreativeGroup, value: string | null): Record<string, string | null> {
  const [id, name]: [string | null, string | null] = value ? JSON.parse(value) : [null, null];
  return { [group]: name, [`${group}_id`]: id };
}

/**
 * By creative id: the creative, its ad set or its campaign, each as a JSON array of id and name. The text equals that of `costNames`, so
 * that revenue and spend have the same key.
 */
export type CreativeNames = ReadonlyMap<string, Partial<Record<CreativeGroup, string>>>;

/** The names of an application's creatives, or of their ad sets or campaigns: of those groupings that are asked for. */
export async function readCreativeNames(
  db: Database,
  applicationId: string,
  groups: readonly CreativeGroup[],
): Promise<CreativeNames> {
  const read = await Promise.all(groups.map((group) => readNames(db, applicationId, group)));
  const names = new Map<string, Partial<Record<CreativeGroup, string>>>();
  for (const [index, group] of groups.entries()) {
    for (const { creativeId, id, name } of read[index] ?? []) {
      const own = names.get(creativeId) ?? {};
      own[group] = JSON.stringify([id, name]);
      names.set(creativeId, own);
    }
  }
  return names;
}

/** The id and name of the creative, ad set or campaign that each creative counts under. */
async function readNames(
  db: Database,
  applicationId: string,
  group: CreativeGroup,
): Promise<{ creativeId: string; id: string; name: string }[]> {
  const { id, name } = { creative: creatives, adset: adsets, campaign: campaigns }[group];
  const own = db.select({ creativeId: creatives.id, id, name }).from(creatives).$dynamic();
  if (group !== 'creative') own.innerJoin(adsets, eq(adsets.id, creatives.adsetId));
  if (group === 'campaign') own.innerJoin(campaigns, eq(campaigns.id, adsets.campaignId));
  return own.where(eq(creatives.applicationId, applicationId));
}
