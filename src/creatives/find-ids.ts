import { and, between, count, eq, sql } from 'drizzle-orm';
import { adsets, creatives, type Database, isAmong } from '#db';

/** Selects creatives by their own ids or those of their ad set or campaign. A creative must match each list that is given. */
export type CreativeFilter = {
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
    .where(matching(applicationId, filter));
  return rows.map(({ id }) => id);
}

/** An application's creatives that match a filter, by ids of themselves, their ad sets and their campaigns. */
const matching = (applicationId: string, { campaign_id, adset_id, creative_id }: CreativeFilter) =>
  and(
    eq(creatives.applicationId, applicationId),
    creative_id && isAmong(creatives.id, creative_id),
    adset_id && isAmong(creatives.adsetId, adset_id),
    campaign_id && isAmong(adsets.campaignId, campaign_id),
  );

/** No time zone is ahead of UTC by a part of a quarter of an hour. */
const QUARTER_MS = 15 * 60_000;

/**
 * How many of an application's creatives that match a filter were created in each quarter of an hour of a period (epoch milliseconds, both ends
 * included), with the name of one of them; earliest first.
 */
export async function countNewCreatives(
  db: Database,
  applicationId: string,
  { since, until, within }: { since: number; until: number; within: CreativeFilter },
): Promise<{ name: string; createdAt: number; count: number }[]> {
  return db
    .select({
      name: sql<string>`min(${creatives.name})`,
      createdAt: sql<number>`min(${creatives.createdAt})`,
      count: count(),
    })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .where(and(matching(applicationId, within), between(creatives.createdAt, since, until)))
    .groupBy(sql`${creatives.createdAt} / ${sql.raw(String(QUARTER_MS))}`)
    .orderBy(sql`2`);
}
