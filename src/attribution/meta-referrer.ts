import * as z from 'zod';
import { exactJsonOrNull } from '#lib/encoding/exact-json';
import { adId, idsOfLevel, type NetworkAd } from './network-ad.ts';
import { readingsOf } from './referrer.ts';

// An install that follows a Meta ad on Android has an install referrer that names the ad, encrypted with a key of the advertiser's app.
// Source: developers.facebook.com/docs/app-ads/install-referrer

/** Hexadecimal. The last 16 bytes of `data` are the authentication tag. */
export type MetaSource = { data: string; nonce: string };

const KEY = /^[0-9a-f]{64}$/i;

/** Whether a text can be an app's "Install Referrer Decryption Key". */
export const isMetaKey = (text: string): boolean => KEY.test(text);

const Content = z.object({
  source: z.object({
    data: z.string().regex(/^(?:[0-9a-f]{2}){17,4096}$/i),
    nonce: z.string().regex(/^[0-9a-f]{24}$/i),
  }),
});

/**
 * The encrypted part of an install referrer, whether or not it was decoded on the way. Null without one: Facebook's app names itself as the
 * source of every link that leads out of it, so `utm_source=apps.facebook.com` alone is not an ad.
 */
export function metaSourceOf(referrer: string | undefined): MetaSource | null {
  for (const parameters of readingsOf(referrer)) {
    const read = Content.safeParse(exactJsonOrNull(parameters.get('utm_content') ?? ''));
    if (read.success) return read.data.source;
  }
  return null;
}

/** In the form that is stored to explain an attribution. */
export const showMetaAd = ({ campaign, adset, creative }: NetworkAd) => ({
  campaign_id: campaign.ids[0] ?? '',
  campaign: campaign.name,
  adset_id: adset.ids[0] ?? '',
  adset: adset.name,
  ad_id: creative.ids[0] ?? '',
  ad: creative.name,
});

const name = z
  .string()
  .max(1024)
  .nullish()
  .transform((text) => (text ?? '').slice(0, 255));

// Meta's API has older names: a campaign group is Ads Manager's campaign, a campaign its ad set, and an ad group its ad.
const Plaintext = z.object({
  campaign_group_id: adId,
  campaign_group_name: name,
  campaign_id: adId,
  campaign_name: name,
  adgroup_id: adId,
  adgroup_name: name,
  /** A further id of the ad. */
  ad_id: adId.nullish(),
});

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** Decrypts the ad (AES-256-GCM), under the names of Ads Manager. Null if the key is another app's, the text was tampered with, or it names no ad. */
export async function decryptMetaAd({ data, nonce }: MetaSource, keyHex: string): Promise<NetworkAd | null> {
  if (!isMetaKey(keyHex)) return null;
  const key = await crypto.subtle.importKey('raw', bytesOf(keyHex), 'AES-GCM', false, ['decrypt']);
  let plain: ArrayBuffer;
  try {
    plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytesOf(nonce) }, key, bytesOf(data));
  } catch {
    return null;
  }
  const read = Plaintext.safeParse(exactJsonOrNull(new TextDecoder().decode(plain)));
  if (!read.success) return null;
  const ad = read.data;
  return {
    network: 'meta',
    campaign: { ids: idsOfLevel(ad.campaign_group_id), name: ad.campaign_group_name },
    adset: { ids: idsOfLevel(ad.campaign_id), name: ad.campaign_name },
    creative: { ids: idsOfLevel(ad.adgroup_id, ad.ad_id), name: ad.adgroup_name },
  };
}
