import { and, eq } from 'drizzle-orm';
import { adsets, creatives, type Database, isAmong } from '#db';

/** Selects creatives by their own ids or those of their ad set or campaign. A creative must match each list that is given. */
type CreativeFilter = {
  campaign_id?: readonly string[] | undefined;
  adset_id?: readonly string[] | undefined;
  creative_id?: readonly string[] | undefined;
};

/**
 * The ids of an application's creatives that match a filter. A filter of creatives alone names them itself, whether or not the application
 * has them. One query, however long the lists are.
 */
export async function findCreativeIds(
  db: Database,
  applicationId: string,
  filter: CreativeFilter,
): Promise<string[]> {
  const { campaign_id, adset_id, creative_id } = filter;
  if (creative_id && !campaign_id && !adset_id) return [...creative_id];
  const rows = await db
    .select({ id: creatives.id })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .where(
      and(
        eq(creatives.applicationId, applicationId),
        creative_id && isAmong(creatives.id, creative_id),
        adset_id && isAmong(creatives.adsetId, adset_id),
        campaign_id && isAmong(adsets.campaignId, campaign_id),
      ),
    );
  return rows.map(({ id }) => id);
}
