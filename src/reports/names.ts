import { eq } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database } from '#db';

/** The groupings that a creative's id determines, finest first. */
export const CREATIVE_GROUPS = ['creative', 'adset', 'campaign'] as const;
export type CreativeGroup = (typeof CREATIVE_GROUPS)[number];

const CAMPAIGN = 'campaigns.application_id = ?1 AND campaigns.name = campaign';
const ADSET = 'adsets INNER JOIN campaigns ON campaigns.id = adsets.campaign_id';

/**
 * SQL over `costs` for a row's creative, ad set and campaign, each as a JSON array of id and name. The id is null if the application has
 * no such name. If several creatives have the same name, the oldest is used. Empty text if the row names no ad set or creative.
 */
export const COST_NAMES: Record<CreativeGroup, string> = {
  campaign: `json_array((SELECT campaigns.id FROM campaigns WHERE ${CAMPAIGN}), campaign)`,
  adset: `CASE WHEN adset = '' THEN '' ELSE json_array(
    (SELECT adsets.id FROM ${ADSET} WHERE ${CAMPAIGN} AND adsets.name = adset), adset) END`,
  creative: `CASE WHEN creative = '' THEN '' ELSE json_array(
    (SELECT min(creatives.id) FROM ${ADSET} INNER JOIN creatives
       ON creatives.adset_id = adsets.id AND creatives.application_id = ?1
     WHERE ${CAMPAIGN} AND adset IN ('', adsets.name) AND creatives.name = creative), creative) END`,
};

/** The columns that show a value of `COST_NAMES` or of `CreativeNames` in a report by `group`. Both are null for organic devices. */
export function namedColumns(group: CreativeGroup, value: string | null): Record<string, string | null> {
  const [id, name]: [string | null, string | null] = value ? JSON.parse(value) : [null, null];
  return { [group]: name, [`${group}_id`]: id };
}

/**
 * By creative id: the creative, its ad set or its campaign, each as a JSON array of id and name. The text equals that of `COST_NAMES`, so
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
