/** An expected amount, its variance, and a 95 % interval, which covers the uncertainty of the parameters and chance. */
export type Interval = { revenue: number; variance: number; low: number; high: number };

/** An amount that is certainly 0. */
export const NOTHING: Interval = { revenue: 0, variance: 0, low: 0, high: 0 };

/** The normal quantile of a 95 % interval. */
export const Z_95 = 1.959963984540054;

/**
 * Log-normal above, and below of a gamma distribution with this mean and variance (Wilson and Hilferty's approximation, PNAS 17, 1931): an amount
 * cannot be negative, but where few purchases are expected, there may be none. Null if there is no interval.
 */
export function intervalAround(revenue: number, variance: number): Interval | null {
  if (revenue === 0) return NOTHING;
  const relative = Math.sqrt(variance) / revenue;
  if (!Number.isFinite(relative)) return null;
  const spread = Z_95 * Math.sqrt(Math.log1p(relative ** 2));
  const cubeRoot = Math.max(0, 1 - relative ** 2 / 9 - (Z_95 * relative) / 3);
  return { revenue, variance, low: revenue * cubeRoot ** 3, high: revenue * Math.exp(spread) };
}

/** The interval of the sum of two amounts that are independent of each other. */
export const joinIntervals = (left: Interval, right: Interval): Interval | null =>
  intervalAround(left.revenue + right.revenue, left.variance + right.variance);
