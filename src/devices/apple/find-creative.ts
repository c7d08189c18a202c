import { and, eq, or } from 'drizzle-orm';
import type { AppleAd } from '#attribution';
import { getOrCreateNamed } from '#creatives';
import { adsets, applications, campaigns, type Database, database, externalIds } from '#db';

/** What stands for an ad, or an ad group, that no creative or ad set has the id of. */
const UNNAMED = 'Apple Ads';

type Application = { id: string; teamId: string };

/**
 * The creative of an ad: the one with its id, or else the creative `Apple Ads` in the ad set of its ad group, or in the ad set `Apple Ads` of its
 * campaign, which is created if need be. Null if nothing has any of the ids. Throws if D1 or the registry fails.
 */
export async function findAppleCreative(
  env: Env,
  application: Application,
  ad: AppleAd,
  now: number,
): Promise<string | null> {
  const db = database(env.DB);
  const items = await findItems(db, application.id, ad);
  const creative = items.get('creative');
  if (creative) return creative;
  const place = await findPlace(db, application.id, items);
  if (place === null) return null;
  const names = { ...place.names, creative: UNNAMED };
  return getOrCreateNamed(env, application, { names, key: `apple_ads:${place.id}`, actor: UNNAMED, now });
}

async function findItems(db: Database, applicationId: string, ad: AppleAd) {
  const { kind, externalId, itemId: id } = externalIds;
  const rows = await db
    .select({ kind, id })
    .from(externalIds)
    .where(
      and(
        eq(externalIds.applicationId, applicationId),
        eq(externalIds.network, 'apple_ads'),
        or(
          and(eq(kind, 'creative'), eq(externalId, ad.ad_id ?? '')),
          and(eq(kind, 'adset'), eq(externalId, ad.ad_group_id ?? '')),
          and(eq(kind, 'campaign'), eq(externalId, ad.campaign_id)),
        ),
      ),
    );
  return new Map(rows.map((row) => [row.kind, row.id]));
}

/** The names of the campaign and ad set that an ad belongs to, and the id of what was found. */
async function findPlace(
  db: Database,
  applicationId: string,
  items: ReadonlyMap<string, string>,
): Promise<{ id: string; names: { campaign: string; adset: string } } | null> {
  const [adset, campaign] = [items.get('adset'), items.get('campaign')];
  if (adset) {
    const [row] = await db
      .select({ campaign: campaigns.name, adset: adsets.name })
      .from(adsets)
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(and(eq(adsets.id, adset), eq(adsets.applicationId, applicationId)));
    if (row) return { id: adset, names: row };
  }
  if (!campaign) return null;
  const [row] = await db
    .select({ campaign: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.id, campaign), eq(campaigns.applicationId, applicationId)));
  return row ? { id: campaign, names: { ...row, adset: UNNAMED } } : null;
}

/** The application of a credit: its team, and whether Apple is to be asked. Null once it is deleted. */
export async function findLookup(db: D1Database, id: string) {
  const [row] = await database(db)
    .select({ id: applications.id, teamId: applications.teamId, isWanted: applications.appleAdsLookup })
    .from(applications)
    .where(eq(applications.id, id));
  return row ?? null;
}
