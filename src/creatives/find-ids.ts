import { and, eq, inArray } from 'drizzle-orm';
import { adsets, creatives, type Database } from '#db';

/** Creatives, what they are in, or both; of each kind, one has to match. */
export type CreativeFilter = {
  campaign_id?: string[] | undefined;
  adset_id?: string[] | undefined;
  creative_id?: string[] | undefined;
};

/** The ids of an application's creatives that a filter names, by themselves or by their ad set or campaign. */
export async function findCreativeIds(
  db: Database,
  applicationId: string,
  { campaign_id, adset_id, creative_id }: CreativeFilter,
): Promise<string[]> {
  const rows = await db
    .select({ id: creatives.id })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .where(
      and(
        eq(creatives.applicationId, applicationId),
        creative_id && inArray(creatives.id, creative_id),
        adset_id && inArray(creatives.adsetId, adset_id),
        campaign_id && inArray(adsets.campaignId, campaign_id),
      ),
    );
  return rows.map(({ id }) => id);
}
