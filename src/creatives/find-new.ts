import { and, asc, between, eq, inArray } from 'drizzle-orm';
import { adsets, creatives, type Database } from '#db';

type Within = {
  campaign_id?: string[] | undefined;
  adset_id?: string[] | undefined;
  creative_id?: string[] | undefined;
};

/**
 * Up to `limit` of an application's creatives that were created in a period (epoch milliseconds, both ends included), oldest first. `within` names
 * what they belong to.
 */
export async function findNewCreatives(
  db: Database,
  applicationId: string,
  { since, until, limit, within }: { since: number; until: number; limit: number; within: Within },
): Promise<{ id: string; name: string; createdAt: number }[]> {
  return db
    .select({ id: creatives.id, name: creatives.name, createdAt: creatives.createdAt })
    .from(creatives)
    .where(
      and(
        eq(creatives.applicationId, applicationId),
        between(creatives.createdAt, since, until),
        within.campaign_id &&
          inArray(
            creatives.adsetId,
            db.select({ id: adsets.id }).from(adsets).where(inArray(adsets.campaignId, within.campaign_id)),
          ),
        within.adset_id && inArray(creatives.adsetId, within.adset_id),
        within.creative_id && inArray(creatives.id, within.creative_id),
      ),
    )
    .orderBy(asc(creatives.id))
    .limit(limit);
}
