/** An expected amount, its variance, and a 95 % interval, which covers the uncertainty of the parameters and chance. */
export type Interval = { revenue: number; variance: number; low: number; high: number };

/** An amount that is certainly 0. */
export const NOTHING: Interval = { revenue: 0, variance: 0, low: 0, high: 0 };

/** The normal quantile of a 95 % interval. */
export const Z_95 = 1.959963984540054;

/** A log-normal interval: an amount cannot be negative. Null if there is none. */
export function intervalAround(revenue: number, variance: number): Interval | null {
  if (revenue === 0) return NOTHING;
  const relative = Math.sqrt(variance) / revenue;
  if (!Number.isFinite(relative)) return null;
  const spread = Z_95 * Math.sqrt(Math.log1p(relative ** 2));
  return { revenue, variance, low: revenue * Math.exp(-spread), high: revenue * Math.exp(spread) };
}

/** The interval of the sum of two amounts that are independent of each other. */
export const joinIntervals = (left: Interval, right: Interval): Interval | null =>
  intervalAround(left.revenue + right.revenue, left.variance + right.variance);
