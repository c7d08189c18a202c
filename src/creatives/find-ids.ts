import { and, eq } from 'drizzle-orm';
import { adsets, creatives, type Database, isAmong } from '#db';

/** Creatives, by themselves or by what they are in. A creative must match each list that is given, by any of its ids. */
export type CreativeFilter = {
  campaign_id?: readonly string[] | undefined;
  adset_id?: readonly string[] | undefined;
  creative_id?: readonly string[] | undefined;
};

/** The ids of a creative and of what it is in. */
export type CreativeGroupIds = { creative: string; adset: string; campaign: string };

/** The ids of an application's creatives that match a filter. */
export async function findCreativeIds(...asked: Parameters<typeof findCreativeGroups>): Promise<string[]> {
  return (await findCreativeGroups(...asked)).map(({ creative }) => creative);
}

/** An application's creatives that match a filter, with what they are in; one query however long its lists are. */
export async function findCreativeGroups(
  db: Database,
  applicationId: string,
  { campaign_id, adset_id, creative_id }: CreativeFilter,
): Promise<CreativeGroupIds[]> {
  return db
    .select({ creative: creatives.id, adset: creatives.adsetId, campaign: adsets.campaignId })
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
}
