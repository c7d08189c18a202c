import { normalTwoSided, studentQuantile, studentTwoSided } from './distributions.ts';
import { Z_95 } from './interval.ts';

/** `b` - `a`. Low and high bound a 95 % confidence interval; null if there is too little data. */
export type Difference = {
  difference: number;
  low: number | null;
  high: number | null;
  /** Two-sided: the probability that chance alone produces a difference at least as large. */
  pValue: number | null;
};

/** `count` of `size`. */
type Proportion = { size: number; count: number };

/**
 * Compares two proportions. The p-value is from a z-test with pooled variance (that of no difference); the interval is a Wald
 * interval with each side's own variance. Returns null if a side is empty.
 */
export function compareProportions(a: Proportion, b: Proportion): Difference | null {
  if (a.size === 0 || b.size === 0) return null;
  const [first, second] = [a.count / a.size, b.count / b.size];
  const difference = second - first;
  const pooled = (a.count + b.count) / (a.size + b.size);
  const pooledError = Math.sqrt(pooled * (1 - pooled) * (1 / a.size + 1 / b.size));
  // If all or none converted on both sides, the data says nothing about how large chance differences can be.
  if (pooledError === 0) return { difference, low: null, high: null, pValue: null };
  const error = Math.sqrt((first * (1 - first)) / a.size + (second * (1 - second)) / b.size);
  return {
    difference,
    low: difference - Z_95 * error,
    high: difference + Z_95 * error,
    pValue: normalTwoSided(difference / pooledError),
  };
}

/** `squares`: the sum of the squared deviations from the mean. */
export type Sample = { size: number; mean: number; squares: number };

export const EMPTY_SAMPLE: Sample = { size: 0, mean: 0, squares: 0 };

/** Merges two samples without cancellation. Source: Chan, Golub, LeVeque 1979. */
export function joinSamples(left: Sample, right: Sample): Sample {
  const size = left.size + right.size;
  if (size === 0) return EMPTY_SAMPLE;
  const delta = right.mean - left.mean;
  return {
    size,
    mean: left.mean + (delta * right.size) / size,
    squares: left.squares + right.squares + (delta * delta * left.size * right.size) / size,
  };
}

/** Compares two means by Welch's t-test, which does not assume equal variances. Returns null if a side is empty. */
export function compareMeans(a: Sample, b: Sample): Difference | null {
  if (a.size === 0 || b.size === 0) return null;
  const difference = b.mean - a.mean;
  const unknown = { difference, low: null, high: null, pValue: null };
  if (a.size < 2 || b.size < 2) return unknown;
  const [first, second] = [a.squares / (a.size - 1) / a.size, b.squares / (b.size - 1) / b.size];
  const error = Math.sqrt(first + second);
  if (error === 0) return unknown;
  const df = (first + second) ** 2 / (first ** 2 / (a.size - 1) + second ** 2 / (b.size - 1));
  const margin = studentQuantile(0.05, df) * error;
  return {
    difference,
    low: difference - margin,
    high: difference + margin,
    pValue: studentTwoSided(difference / error, df),
  };
}
