import { APPLE_AD, isBroughtByApple } from './apple-ads.ts';
import type { SimulatedDevice } from './history.ts';
import { type Random, roundTo } from './random.ts';
import { CREATIVES, type SimulatedCreative } from './world.ts';

const { id: _, ...APPLE_NAMES } = APPLE_AD;
/** People who search for the game are worth more, and cost more. */
const APPLE_CREATIVE: SimulatedCreative = { ...APPLE_NAMES, network: 'apple_ads', quality: 1.5 };

/** What was paid for a device; undefined for one that no ad brought. */
const creativeOf = (device: SimulatedDevice): SimulatedCreative | undefined =>
  isBroughtByApple(device) ? APPLE_CREATIVE : CREATIVES[device.creative ?? -1];

/** The network whose costs state the country. */
const BY_COUNTRY = 'meta';

/** The cost of each creative per day: roughly what the devices that it brings on that day earn within a week. */
export function simulateCosts(random: Random, devices: readonly SimulatedDevice[]) {
  type Bought = { date: string; creative: SimulatedCreative; country: string; count: number };
  const installs = new Map<string, Bought>();
  for (const device of devices) {
    const creative = creativeOf(device);
    if (!creative) continue;
    const date = new Date(device.acquiredAt).toISOString().slice(0, 10);
    const country = creative.network === BY_COUNTRY ? device.country.code : '';
    const key = `${date}/${creative.creative}/${country}`;
    const day = installs.get(key) ?? { date, creative, country, count: 0 };
    day.count += 1;
    installs.set(key, day);
  }
  // By name: the devices of today stand in another order at another time.
  const days = [...installs].sort(([left], [right]) => (left < right ? -1 : 1));
  return days.map(([, { date, creative, country, count }]) => {
    const { quality, ...named } = creative;
    const amount = roundTo(count * 0.22 * quality * random.spread(0.2), 0.01);
    const clicks = Math.round(count * random.between(2.5, 5));
    return {
      date,
      ...named,
      ...(country === '' ? {} : { country }),
      currency: CREATIVES.indexOf(creative) % 3 === 2 ? 'eur' : 'usd',
      amount,
      clicks,
      impressions: clicks * random.whole(40, 90),
    };
  });
}
