import * as z from 'zod';
import { exactJsonOrNull } from '#lib/encoding/exact-json';
import { adId } from './network-ad.ts';

// What Apple answers about the AdServices token of a device.
// Source: developer.apple.com/documentation/adservices

const word = z.string().max(64).nullish();

const Answer = z.union([
  z.object({
    attribution: z.literal(true),
    orgId: adId.nullish(),
    campaignId: adId,
    adGroupId: adId.nullish(),
    adId: adId.nullish(),
    keywordId: adId.nullish(),
    countryOrRegion: word,
    conversionType: word,
    claimType: word,
    clickDate: word,
  }),
  z.object({ attribution: z.literal(false) }),
]);

/** What is stored of the ad besides its campaign, by the name in Apple's answer. `click_date` is only there if the person allowed tracking. */
const FURTHER = {
  org_id: 'orgId',
  ad_group_id: 'adGroupId',
  ad_id: 'adId',
  keyword_id: 'keywordId',
  country_or_region: 'countryOrRegion',
  conversion_type: 'conversionType',
  claim_type: 'claimType',
  click_date: 'clickDate',
} as const;
type Further = keyof typeof FURTHER;
const FURTHER_FIELDS = Object.keys(FURTHER) as Further[];
export const APPLE_FIELDS = ['campaign_id', ...FURTHER_FIELDS] as const;

/** The ad of an install, in the form that is stored to explain the attribution. Ids are text: see `adId`. */
export type AppleAd = { campaign_id: string } & Partial<Record<Further, string>>;

/**
 * What came of asking. `refused`: the token is not valid. `unanswered`: Apple had no answer yet, or could not be reached. `not_asked`: the
 * look-up was lost, or the device was erased before it.
 */
export type AppleAnswer =
  | { outcome: 'attributed'; ad: AppleAd }
  | { outcome: 'not_attributed' | 'refused' | 'unanswered' | 'not_asked' };

/** Reads the body of Apple's answer 200. Null if it is not what Apple documents. */
export function readAppleAnswer(text: string): AppleAnswer | null {
  const read = Answer.safeParse(exactJsonOrNull(text));
  if (!read.success) return null;
  if (!read.data.attribution) return { outcome: 'not_attributed' };
  const { data } = read;
  const further = FURTHER_FIELDS.flatMap((name) => {
    const value = data[FURTHER[name]];
    return value ? [[name, value] as const] : [];
  });
  return { outcome: 'attributed', ad: { campaign_id: data.campaignId, ...Object.fromEntries(further) } };
}
