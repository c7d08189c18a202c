/** The groupings that a creative's id leads to, the finest first. */
export const CREATIVE_GROUPS = ['creative', 'adset', 'campaign'] as const;
export type CreativeGroup = (typeof CREATIVE_GROUPS)[number];

export const isCreativeGroup = (name: string): name is CreativeGroup =>
  CREATIVE_GROUPS.some((group) => group === name);

/** By creative id: what it, its ad set and its campaign are called. */
export type CreativeNames = ReadonlyMap<string, Record<CreativeGroup, { id: string; name: string }>>;

type NameRow = Record<CreativeGroup | `${CreativeGroup}_id`, string>;

/** Names the creatives with these ids, as far as they are the application's own. */
export async function readCreativeNames(
  db: D1Database,
  applicationId: string,
  creativeIds: Iterable<string>,
): Promise<CreativeNames> {
  const wanted = [...new Set(creativeIds)].filter((id) => id !== '');
  if (wanted.length === 0) return new Map();
  const { results } = await db
    .prepare(
      `SELECT creatives.id AS creative_id, creatives.name AS creative, adsets.id AS adset_id, adsets.name AS adset,
         campaigns.id AS campaign_id, campaigns.name AS campaign
       FROM json_each(?2) AS wanted CROSS JOIN creatives ON creatives.id = wanted.value
       INNER JOIN adsets ON adsets.id = creatives.adset_id INNER JOIN campaigns ON campaigns.id = adsets.campaign_id
       WHERE creatives.application_id = ?1`,
    )
    .bind(applicationId, JSON.stringify(wanted))
    .all<NameRow>();
  return new Map(
    results.map((row) => [
      row.creative_id,
      {
        creative: { id: row.creative_id, name: row.creative },
        adset: { id: row.adset_id, name: row.adset },
        campaign: { id: row.campaign_id, name: row.campaign },
      },
    ]),
  );
}

/** The columns of a report by `group` for a rollup row of this creative: both null for organic devices. */
export function creativeColumns(
  names: CreativeNames,
  group: CreativeGroup,
  creativeId: string,
): Record<string, string | null> {
  const found = names.get(creativeId)?.[group];
  return { [group]: found?.name ?? null, [`${group}_id`]: found?.id ?? null };
}

const CAMPAIGN = 'campaigns.application_id = costs.application_id AND campaigns.name = costs.campaign';
const ADSET = 'adsets INNER JOIN campaigns ON campaigns.id = adsets.campaign_id';

/**
 * SQL over `costs`: what of each kind a row is spent on, as a JSON array of id and name. The id is null where the application has
 * no such name; of creatives with one name the oldest is meant. Empty text where the row names nothing so fine.
 */
export const COST_NAMES: Record<CreativeGroup, string> = {
  campaign: `json_array((SELECT campaigns.id FROM campaigns WHERE ${CAMPAIGN}), costs.campaign)`,
  adset: `CASE WHEN costs.adset = '' THEN '' ELSE json_array(
    (SELECT adsets.id FROM ${ADSET} WHERE ${CAMPAIGN} AND adsets.name = costs.adset), costs.adset) END`,
  creative: `CASE WHEN costs.creative = '' THEN '' ELSE json_array(
    (SELECT min(creatives.id) FROM ${ADSET} INNER JOIN creatives
       ON creatives.adset_id = adsets.id AND creatives.application_id = costs.application_id
     WHERE ${CAMPAIGN} AND costs.adset IN ('', adsets.name) AND creatives.name = costs.creative), costs.creative) END`,
};

/** The columns of a report by `group` for a value of `COST_NAMES`; null for a cost that is of no one group. */
export function costColumns(group: CreativeGroup, value: string): Record<string, string | null> | null {
  if (value === '') return null;
  const [id, name]: [string | null, string] = JSON.parse(value);
  return { [group]: name, [`${group}_id`]: id };
}
