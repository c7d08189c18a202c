import { and, eq } from 'drizzle-orm';
import type { AdItems, NetworkAd } from '#attribution';
import { getOrCreateNamed } from '#creatives';
import { adsets, campaigns, type Database, database, retryTransient } from '#db';
import { placeholderName } from '#lib/input/placeholder';
import type { ApplicationRow } from '#teams';

/** What the networks and their levels are called where they name nothing. */
const NAMES = {
  meta: { network: 'Meta', campaign: 'campaign', adset: 'ad set', creative: 'ad' },
  apple_ads: { network: 'Apple Ads', campaign: 'campaign', adset: 'ad group', creative: 'ad' },
} as const;

/** What a level of an ad is called: as at the network if that says something, else by its id, else as the network, which stands for all that it does not tell. */
function nameOf(ad: NetworkAd, level: 'campaign' | 'adset' | 'creative'): string {
  const { network, [level]: word } = NAMES[ad.network];
  const [id] = ad[level].ids;
  const name = ad[level].name.trim();
  if (name !== '' && placeholderName(name) === null) return name;
  return id === undefined ? network : `${network} ${word} ${id}`;
}

/**
 * The creative of an ad of which `items` have an id: the one with its id, or else the creative called as the network in the ad set of the ad, or
 * in the ad set called as the network of its campaign. That one is created if need be. If the application creates from networks, it is the creative, in the
 * ad set and campaign, that the network names, with their ids. Null if nothing has any of the ids, and nothing is to be created. Throws if D1 or the registry
 * fails; may be repeated.
 */
export async function placeAd(
  env: Env,
  application: Pick<ApplicationRow, 'id' | 'teamId' | 'createFromNetworks'>,
  ad: NetworkAd,
  items: AdItems,
  now: number,
): Promise<string | null> {
  if (items.creative) return items.creative;
  const place = await retryTransient(() => findPlace(database(env.DB), application.id, items));
  const { network, campaign, adset, creative } = ad;
  const label = NAMES[network].network;
  const shared = { actor: label, now };
  if (!application.createFromNetworks) {
    if (place === null) return null;
    const names = { campaign: place.campaign, adset: place.adset ?? label, creative: label };
    return getOrCreateNamed(env, application, { ...shared, names, key: `${network}:${place.id}` });
  }
  const names = {
    campaign: place?.campaign ?? nameOf(ad, 'campaign'),
    adset: place?.adset ?? nameOf(ad, 'adset'),
    creative: nameOf(ad, 'creative'),
  };
  const ids = { campaign: campaign.ids, adset: adset.ids, creative: creative.ids };
  const key = `${network}:${application.id}:${JSON.stringify(ids)}`;
  return getOrCreateNamed(env, application, { ...shared, names, key, at: { network, ids } });
}

/** What an ad belongs to: our names of its ad set and campaign, and the id of the one that was found. */
type AdPlace = { id: string; campaign: string; adset: string | null };

async function findPlace(db: Database, applicationId: string, items: AdItems): Promise<AdPlace | null> {
  if (items.adset) {
    const [row] = await db
      .select({ id: adsets.id, campaign: campaigns.name, adset: adsets.name })
      .from(adsets)
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(and(eq(adsets.id, items.adset), eq(adsets.applicationId, applicationId)));
    if (row) return row;
  }
  if (!items.campaign) return null;
  const [row] = await db
    .select({ id: campaigns.id, campaign: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.id, items.campaign), eq(campaigns.applicationId, applicationId)));
  return row ? { ...row, adset: null } : null;
}
