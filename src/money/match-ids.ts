import { and, eq, or, sql } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database, externalIds, isAmong } from '#db';
import { chunksOf } from '#lib/collections/chunks';

/** The names here of what a network's id leads to. An ad set has no creative, a campaign neither. */
type NamesHere = { campaign: string; adset: string; creative: string };

/** A statement takes 2 MB of ids. */
const IDS_AT_ONCE = 10_000;

const keyOf = (network: string, kind: string, id: string) => `${network} ${kind} ${id}`;

/** Reads what the ids of networks lead to. The returned function finds one; undefined for an id that nobody entered. */
export async function readNamesByIds(
  db: Database,
  applicationId: string,
  ids: readonly string[],
): Promise<(network: string, kind: 'campaign' | 'adset' | 'creative', id: string) => NamesHere | undefined> {
  const found = new Map<string, NamesHere>();
  for (const some of chunksOf(ids, IDS_AT_ONCE)) {
    const { network, kind, externalId, itemId } = externalIds;
    const rows = await db
      .select({
        network,
        kind,
        id: externalId,
        campaign: campaigns.name,
        adset: adsets.name,
        creative: creatives.name,
      })
      .from(externalIds)
      .leftJoin(creatives, and(eq(kind, 'creative'), eq(creatives.id, itemId)))
      .leftJoin(adsets, or(eq(adsets.id, creatives.adsetId), and(eq(kind, 'adset'), eq(adsets.id, itemId))))
      .innerJoin(
        campaigns,
        sql`${campaigns.id} = CASE ${kind} WHEN 'campaign' THEN ${itemId} ELSE ${adsets.campaignId} END`,
      )
      .where(and(eq(externalIds.applicationId, applicationId), isAmong(externalId, some)));
    for (const row of rows) {
      const { campaign, adset, creative } = row;
      found.set(keyOf(row.network, row.kind, row.id), {
        ...{ campaign, adset: adset ?? '', creative: creative ?? '' },
      });
    }
  }
  return (network, kind, id) => found.get(keyOf(network, kind, id));
}
