import type { PlaceAd } from '#attribution';
import type { AuthenticatedApplication } from '#http';

/**
 * How an application places ads that no creative has an id of: see `placeAd`, which is loaded with the first of them, in one part
 * with what asks Apple, because few isolates ever see one.
 */
export const placingAds =
  (env: Env, application: AuthenticatedApplication, now: number): PlaceAd =>
  async (ad, items) => {
    if (!application.createFromNetworks && !items.adset && !items.campaign) return null;
    const { placeAd } = await import('#devices/credits');
    return placeAd(env, application, ad, items, now);
  };
