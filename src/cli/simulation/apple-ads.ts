import { numberOf, type SimulatedDevice } from './history.ts';
import { isIos } from './world.ts';

// What Apple tells of an iOS install whose app sends an AdServices token.

/** One of its search ads. */
export const APPLE_AD = {
  creative: 'Brand keywords',
  campaign: 'Search results',
  adset: 'Exact match',
  /** Its number at Apple. */
  id: 1_550_217_301,
} as const;

/** Every so many of the devices that no other ad brought, one came by Apple's. */
const BROUGHT_EVERY = 3;

/** What an iOS app gets from Apple. */
export const appleToken = ({ id, model }: SimulatedDevice): Record<string, string> =>
  isIos(model) ? { adservices_token: Buffer.from(`simulated ${id}`).toString('base64') } : {};

/** Whether one of its ads brought a device. It is asked about no device that names its creative. */
export const isBroughtByApple = (device: SimulatedDevice): boolean =>
  device.creative === null && isIos(device.model) && isAttributed(device);

const isAttributed = (device: Pick<SimulatedDevice, 'id'>) => numberOf(device) % BROUGHT_EVERY === 0;

/** Apple's answer about a device. Source: developer.apple.com/documentation/adservices */
export function devicesAd(id: string) {
  if (!isAttributed({ id })) return { attribution: false };
  return {
    ...{ attribution: true, orgId: 40_669_820, campaignId: 542_370_539, adGroupId: 542_317_095 },
    ...{ adId: APPLE_AD.id, keywordId: 87_675_432, countryOrRegion: 'US', conversionType: 'Download' },
  };
}
