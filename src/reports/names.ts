import { eq } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database } from '#db';

const ADSETS = 'INNER JOIN adsets ON adsets.id = creatives.adset_id';
const CAMPAIGNS = 'INNER JOIN campaigns ON campaigns.id = adsets.campaign_id';
const ofCreative = (joins: string) =>
  `FROM creatives ${joins} WHERE creatives.id = creative_id AND creatives.application_id = ?1`;

/** The groupings that a creative's id leads to, the finest first. */
export const CREATIVE_GROUPS = ['creative', 'adset', 'campaign'] as const;
export type CreativeGroup = (typeof CREATIVE_GROUPS)[number];

/**
 * SQL over a rollup: what of each kind a row's creative is or is in, as a JSON array of id and name; null for organic devices. The
 * text is the same as that of `COST_NAMES` for what a cost is spent on.
 */
export const CREATIVE_NAMES: Record<CreativeGroup, string> = {
  creative: `(SELECT json_array(creatives.id, creatives.name) ${ofCreative('')})`,
  adset: `(SELECT json_array(adsets.id, adsets.name) ${ofCreative(ADSETS)})`,
  campaign: `(SELECT json_array(campaigns.id, campaigns.name) ${ofCreative(`${ADSETS} ${CAMPAIGNS}`)})`,
};

const CAMPAIGN = 'campaigns.application_id = ?1 AND campaigns.name = campaign';
const ADSET = 'adsets INNER JOIN campaigns ON campaigns.id = adsets.campaign_id';

/**
 * SQL over `costs`: what of each kind a row is spent on, as a JSON array of id and name. The id is null where the application has
 * no such name; of creatives with one name the oldest is meant. Empty text where the row names nothing so fine.
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

/** The columns of `costs` that these read. */
export const COST_COLUMNS = ['campaign', 'adset', 'creative'];

/** The columns of a report by `group` for a value of `CREATIVE_NAMES` or `COST_NAMES`: both null for organic devices. */
export function namedColumns(group: CreativeGroup, value: string | null): Record<string, string | null> {
  const [id, name]: [string | null, string | null] = value ? JSON.parse(value) : [null, null];
  return { [group]: name, [`${group}_id`]: id };
}

/** By a creative's id: the values of `CREATIVE_NAMES`. */
export type CreativeNames = ReadonlyMap<string, Record<CreativeGroup, string>>;

/** What the creatives of an application are called, and what they are in. */
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
