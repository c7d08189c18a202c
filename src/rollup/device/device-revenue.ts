import type { Earning } from './journal.ts';

/**
 * A device's revenue is stored by age bands: each band ends on one of these days since acquisition, and the last is open-ended. Revenue up to
 * one of these days is therefore exact, and a device takes the same space however long it stays.
 */
export const REVENUE_DAYS = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365];

/** Nanos of one currency. For statistics only: beyond 2^53 they may be rounded. */
type Band = Record<Earning, number>;
export type Earned = {
  currency: string;
  /** By band. Missing bands have no revenue. */
  bands: Band[];
};

/**
 * The form in a page, which is JSON; null for no revenue. By currency and band, which has the name of the day that it ends on, or `later`. So days and
 * sums may be added and removed: revenue of a band that this release does not have is in the next one that it has, and unknown sums are ignored.
 */
export type StoredRevenue = Record<string, Record<string, Partial<Band>>> | null;

const LATER = 'later';
const EARNINGS = ['ad', 'purchase', 'returned'] as const satisfies readonly Earning[];

/** Adds nanos to what is stored, which it changes. `band`: see `bandOf`. */
export function addRevenue(
  stored: NonNullable<StoredRevenue>,
  earning: Earning,
  currency: string,
  band: number,
  nanos: number,
): void {
  stored[currency] ??= {};
  const name = `${REVENUE_DAYS[band] ?? LATER}`;
  const sums = stored[currency][name] ?? {};
  sums[earning] = (sums[earning] ?? 0) + nanos;
  stored[currency][name] = sums;
}

/** The index of the band for an age (days since the acquisition). Anything before the acquisition counts as day 0. */
export function bandOf(age: number): number {
  const band = REVENUE_DAYS.findIndex((day) => age <= day);
  return band === -1 ? REVENUE_DAYS.length : band;
}

function bandNamed(name: string): number {
  const day = name === LATER ? Number.POSITIVE_INFINITY : Number(name);
  if (Number.isNaN(day)) throw new Error('not the revenue of a device');
  return bandOf(day);
}

/** Reads what `addRevenue` made, in this release or another. */
export const readRevenue = (stored: StoredRevenue): Earned[] =>
  Object.entries(stored ?? {}).flatMap(([currency, own]) => {
    const bands: Band[] = [];
    for (const [name, sums] of Object.entries(own)) {
      for (const earning of EARNINGS) {
        const sum = sums[earning] ?? 0;
        // A refund that was reversed leaves nothing.
        if (sum === 0) continue;
        const band = bandNamed(name);
        bands[band] ??= { ad: 0, purchase: 0, returned: 0 };
        bands[band][earning] += sum;
      }
    }
    return bands.length > 0 ? [{ currency, bands }] : [];
  });
