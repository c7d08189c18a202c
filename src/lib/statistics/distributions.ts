import { lnGamma } from './gamma.ts';

const MAX_TERMS = 1_000;
const TINY = 1e-300;
const PRECISION = 1e-15;

/** Evaluates a continued fraction with Lentz's method: `b0 + a1 / (b1 + a2 / (b2 + …))`. Source: Numerical Recipes, section 5.2. */
function continuedFraction(b0: number, term: (index: number) => [a: number, b: number]): number {
  let value = b0 || TINY;
  let [numerator, denominator] = [value, 0];
  for (let index = 1; index <= MAX_TERMS; index++) {
    const [a, b] = term(index);
    denominator = 1 / (b + a * denominator || TINY);
    numerator = b + a / numerator || TINY;
    const factor = numerator * denominator;
    value *= factor;
    if (Math.abs(factor - 1) < PRECISION) break;
  }
  return value;
}

/** The probability that a standard normal variable is further from 0 than `z`, in either direction. */
export function normalTwoSided(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  if (x > 26) return 0;
  const scale = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x >= 2) {
    // erfc(x) = exp(-x²) / √π · 1 / (x + (1/2) / (x + (2/2) / (x + …))).
    return scale / continuedFraction(x, (index) => [index / 2, x]);
  }
  // erf(x) = 2 exp(-x²) / √π · Σ 2^n x^(2n+1) / (1·3·5…(2n+1)), all terms positive.
  let [term, sum] = [x, x];
  for (let index = 1; term > sum * PRECISION; index++) {
    term *= (2 * x * x) / (2 * index + 1);
    sum += term;
  }
  return 1 - 2 * scale * sum;
}

/** The probability that a Student's t variable with `df` degrees of freedom is further from 0 than `t`, in either direction. */
export function studentTwoSided(t: number, df: number): number {
  // The distributions differ by less than 1 / df, and the beta function would lose precision.
  if (df > 1e7) return normalTwoSided(t);
  return regularizedBeta(df / (df + t * t), df / 2, 0.5);
}

/** The `t` for which `studentTwoSided(t, df)` equals `p`. */
export function studentQuantile(p: number, df: number): number {
  let [low, high] = [0, 1];
  while (studentTwoSided(high, df) > p) high *= 2;
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (studentTwoSided(middle, df) > p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularized incomplete beta function. Source: Numerical Recipes, section 6.4. */
function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

function betaFraction(x: number, a: number, b: number): number {
  const fraction = continuedFraction(1, (index) => {
    const m = Math.floor(index / 2);
    const coefficient =
      index % 2 === 0
        ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
        : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    return [coefficient, 1];
  });
  return 1 / fraction;
}
