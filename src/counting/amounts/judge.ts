// Which amounts are implausible, from a histogram of those that were counted. Pure.

/** Buckets grow by this factor, so that the value of one is known to 2.5 %. */
const GROWTH = 1.05;
const LOG_GROWTH = Math.log(GROWTH);

/** How often each bucket occurred. */
export type Histogram = ReadonlyMap<number, number>;

/** The bucket of a positive amount. */
export const bucketOf = (nanos: number): number => Math.floor(Math.log(nanos) / LOG_GROWTH);

/** The amount in the middle of a bucket, in nanos. */
const middleOf = (bucket: number): number => GROWTH ** (bucket + 0.5);

/** What is known of it. */
const SIGNIFICANT_DIGITS = 2;
const shownMiddle = (bucket: number): number =>
  Math.round(Number(middleOf(bucket).toPrecision(SIGNIFICANT_DIGITS)));

const PERCENTILE = 0.99;
/** An amount above this multiple of the percentile is implausible. */
const MULTIPLE = 100;
/** With fewer amounts, there is nothing to compare with. */
const MIN_AMOUNTS = 10;
/**
 * The larger part of the amounts can't be implausible. Purchases have few prices, and one that is 100 times the others is rarely meant; an impression
 * of a rewarded video may well bring 100 times what a banner does.
 */
const MAX_SHARE = { impression: 0.02, purchase: 0.25 } as const;
/** As many may always be, so that few amounts can be judged. */
const MAX_FEW = { impression: 5, purchase: 5 } as const;

const NANOS_PER_UNIT = 1e9;
/** One impression that brings more is implausible whatever the others bring. */
const MAX_IMPRESSION_DOLLARS = 5;
/**
 * What a dollar was worth in 2025, roughly: enough to tell micros from units. Of other currencies nothing is assumed.
 */
const UNITS_PER_DOLLAR: Readonly<Record<string, number>> = {
  ...{ usd: 1, eur: 0.9, gbp: 0.8, chf: 0.8, cad: 1.4, aud: 1.5, nzd: 1.7, sgd: 1.3, ils: 3.6, brl: 5.6 },
  ...{ pln: 3.7, aed: 3.7, sar: 3.8, myr: 4.3, ron: 4.4, cny: 7.2, dkk: 6.6, hkd: 7.8, sek: 9.7, nok: 10 },
  ...{ zar: 18, mxn: 19, czk: 22, twd: 31, thb: 33, try: 40, uah: 42, egp: 50, php: 57, rub: 80, inr: 87 },
  ...{ jpy: 150, kzt: 520, huf: 350, clp: 950, krw: 1_400, cop: 4_000, idr: 16_500, vnd: 26_000 },
};

/** The most that one impression may plausibly bring, in nanos of a currency. */
export function maxImpression(currency: string): number {
  const units = UNITS_PER_DOLLAR[currency];
  return units === undefined ? Number.POSITIVE_INFINITY : units * MAX_IMPRESSION_DOLLARS * NANOS_PER_UNIT;
}

/** The bucket of the 99th percentile of the first `count` of these amounts, which are sorted by bucket. */
function percentileOf(sorted: readonly (readonly [bucket: number, count: number])[], count: number): number {
  const rank = Math.ceil(PERCENTILE * count);
  let seen = 0;
  for (const [bucket, own] of sorted) {
    seen += own;
    if (seen >= rank) return bucket;
  }
  return Number.NEGATIVE_INFINITY;
}

/** From `fromBucket` on, amounts are implausible; `usualNanos` is the 99th percentile of the others. */
export type AmountsCut = { fromBucket: number; usualNanos: number };

/**
 * Where the amounts of a kind become implausible: more than 100 times the 99th percentile of those below. Null if there is no such place. The order in
 * which they came does not matter.
 */
export function findCut(of: keyof typeof MAX_SHARE, histogram: Histogram): AmountsCut | null {
  const sorted = [...histogram].sort(([left], [right]) => left - right);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const allowed = Math.max(MAX_FEW[of], MAX_SHARE[of] * total);
  let above = 0;
  let cut: AmountsCut | null = null;
  for (const [bucket, count] of sorted.toReversed()) {
    above += count;
    if (above > allowed || total - above < MIN_AMOUNTS) break;
    const usual = percentileOf(sorted, total - above);
    if (isBeyond(bucket, usual)) cut = { fromBucket: bucket, usualNanos: shownMiddle(usual) };
  }
  return cut;
}

const isBeyond = (bucket: number, usual: number): boolean => middleOf(bucket) > MULTIPLE * middleOf(usual);
