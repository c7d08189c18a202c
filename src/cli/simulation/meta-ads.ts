import { randomBytes, webcrypto } from 'node:crypto';
import { DAY_MS } from '#lib/time';
import { numberOf, type SimulatedDevice } from './history.ts';
import { NAMED_WITHIN_MS, type TrackingLink } from './touches.ts';
import { CREATIVES, isIos } from './world.ts';

// What Meta tells of an Android install that one of its ads brought: the ad, encrypted with a key of the advertiser's app.

/** The ids are text: like Meta's, they have more digits than a number of JSON keeps. */
const idOf = (place: number) => `238548641610907${String(2 * place + 1).padStart(2, '0')}`;

/** The id of a creative's ad at Meta; null if it is an ad of another network. */
export const metaAdOf = (creative: number): string | null =>
  CREATIVES[creative]?.network === 'meta' ? idOf(creative) : null;

/** A new "Install Referrer Decryption Key". */
export const newMetaKey = (): string => randomBytes(32).toString('hex');

/** Whether Meta names the ad of a device: of half of those on Android that an ad of Meta brought a day to six days ago. */
export const isNamedByMeta = (device: SimulatedDevice, now: number): boolean =>
  metaAdOf(device.creative ?? -1) !== null &&
  !isIos(device.model) &&
  device.acquiredAt <= now - DAY_MS &&
  device.acquiredAt > now - NAMED_WITHIN_MS &&
  numberOf(device) % 2 === 0;

/** The install referrer of a device that an ad of Meta brought. Source: developers.facebook.com/docs/app-ads/install-referrer */
export async function metaReferrer(creative: number, key: string): Promise<string> {
  const { creative: ad, campaign, adset } = CREATIVES[creative] ?? {};
  // Meta's older names: a campaign group is a campaign, a campaign an ad set, and an ad group an ad.
  const named = `{"ad_id":${idOf(creative)},"adgroup_id":${idOf(creative)},"campaign_id":1,"campaign_group_id":2,"account_id":3`;
  const names = { adgroup_name: ad, campaign_name: adset, campaign_group_name: campaign };
  const plain = `${named},${JSON.stringify({ ...names, publisher_platform: 'instagram' }).slice(1)}`;
  const nonce = randomBytes(12);
  const imported = await webcrypto.subtle.importKey('raw', Buffer.from(key, 'hex'), 'AES-GCM', false, [
    'encrypt',
  ]);
  const data = await webcrypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, imported, Buffer.from(plain));
  const source = { data: Buffer.from(data).toString('hex'), nonce: nonce.toString('hex') };
  const content = encodeURIComponent(JSON.stringify({ app: 1, t: 1, source }));
  return `utm_source=apps.facebook.com&utm_campaign=fb4a&utm_content=${content}`;
}

/** What the link of a creative opens in the app, what messengers show of it, and its ad at Meta. */
export function linkSettings(place: number, { network }: Pick<TrackingLink, 'network'>) {
  const ad = metaAdOf(place);
  return {
    deep_link: `/levels/${place + 1}`,
    preview: { title: `Play level ${place + 1}`, description: CREATIVES[place]?.creative },
    ...(ad === null ? {} : { external_ids: [{ network, id: ad }] }),
  };
}
