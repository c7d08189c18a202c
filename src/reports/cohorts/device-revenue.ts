import { netOfFee } from '#catalogue';
import { readRateBook } from '#money';
import { readRevenue, type StoredRevenue } from '#rollup';
import type { Reported } from '../query.ts';

const NANOS = 1_000_000_000;
const EARNED = ['ad', 'purchase', 'returned'] as const;

/** In units of the reporting currency. `unconverted`: what a device earned in currencies without a rate, which is in none of the sums. */
type DeviceRevenue = {
  ads: number;
  purchases: number;
  refunds: number;
  /** Ads, and purchases less refunds and the store's fee. */
  net: number;
  unconverted: { currency: string; amount: number }[];
};

/**
 * What a device earned since its acquisition, from the `revenue` that its counter stores. Everything is converted at the rates of one day,
 * because a counter does not store on which day a device earned what.
 */
export async function readDeviceRevenue(
  d1: D1Database,
  application: Reported,
  revenue: StoredRevenue,
  { currency, day }: { currency: string; day: string },
): Promise<DeviceRevenue> {
  const earned = readRevenue(revenue);
  const currencies = new Set([currency, ...earned.map((own) => own.currency)]);
  const book = await readRateBook(d1, application.teamId, currencies, day, day);
  const sums = { ad: 0, purchase: 0, returned: 0 };
  const unconverted: DeviceRevenue['unconverted'] = [];
  for (const own of earned) {
    const rate = book.rate(own.currency, currency, day);
    // A band without revenue is a hole in the array.
    const bands = Object.values(own.bands);
    const sumOf = (name: (typeof EARNED)[number]) => bands.reduce((sum, band) => sum + band[name], 0);
    if (!rate) {
      unconverted.push({ currency: own.currency, amount: (sumOf('ad') + sumOf('purchase')) / NANOS });
      continue;
    }
    const value = Number(rate.numerator) / Number(rate.denominator);
    for (const name of EARNED) sums[name] += Math.round(sumOf(name) * value);
  }
  const paid = netOfFee(BigInt(sums.purchase), BigInt(sums.returned), application);
  return {
    ads: sums.ad / NANOS,
    purchases: sums.purchase / NANOS,
    refunds: sums.returned / NANOS,
    net: (sums.ad + Number(paid)) / NANOS,
    unconverted,
  };
}
