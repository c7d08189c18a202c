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
 * By creative id: the creative, its ad set and its campaign, each as a JSON array of id and name. The text equals that of `COST_NAMES`, so
 * that revenue and spend have the same key.
 */
export type CreativeNames = ReadonlyMap<string, Record<CreativeGroup, string>>;

/** The names of an application's creatives, and of their ad sets and campaigns. */
export async function readCreativeNames(db: Database, applicationId: string): Promise<CreativeNames> {
  const rows = await db
    .select({
      creativeId: creatives.id,
      creative: creatives.name,
      adsetId: adsets.id,
      adset: adsets.name,
      campaignId: campaigns.id,
      campaign: campaigns.name,
    })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(eq(creatives.applicationId, applicationId));
  return new Map(
    rows.map(({ creativeId, adsetId, campaignId, ...names }) => [
      creativeId,
      {
        creative: JSON.stringify([creativeId, names.creative]),
        adset: JSON.stringify([adsetId, names.adset]),
        campaign: JSON.stringify([campaignId, names.campaign]),
      },
    ]),
  );
}
