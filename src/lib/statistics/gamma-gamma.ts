import { memoize } from '../collections/memoize.ts';
import { lnGamma } from './gamma.ts';
import { type Fitted, hessian, minimize, penalty } from './minimize.ts';
import { type Prior, priorCost, shiftPrior } from './prior.ts';

// Gamma-Gamma: the values of a customer's purchases are gamma distributed (p, nu) around the customer's own mean, and nu is gamma
// distributed (q, gamma) across customers. How much they spend does not depend on how often.
// Source: Fader, Hardie, "The Gamma-Gamma Model of Monetary Value" (2013).

/** `count` customers with `x` purchases each, of mean value `mean`. */
export type Spending = { x: number; mean: number; count: number };

export type GammaGamma = { p: number; q: number; gamma: number };

export const toGammaGamma = (logs: readonly number[]): GammaGamma => {
  const [p = 0, q = 0, gamma = 0] = logs.map(Math.exp);
  return { p, q, gamma };
};

function gammaGammaLogLikelihood({ p, q, gamma }: GammaGamma, spending: readonly Spending[]): number {
  const base = q * Math.log(gamma) - lnGamma(q);
  const ofCount = memoize(
    Number.POSITIVE_INFINITY,
    (x: number) => base + lnGamma(p * x + q) - lnGamma(p * x) + p * x * Math.log(x),
  );
  let sum = 0;
  for (const { x, mean, count } of spending) {
    sum += count * (ofCount(x) + (p * x - 1) * Math.log(mean) - (p * x + q) * Math.log(gamma + mean * x));
  }
  return sum;
}

/** The most likely parameters, given a prior or without one; q > 1, so that the mean over all customers exists. */
export function fitGammaGamma(spending: readonly Spending[], prior?: Prior): Fitted<GammaGamma> {
  const total = spending.reduce((sum, { count }) => sum + count, 0);
  const scale = spending.reduce((sum, { mean, count }) => sum + mean * count, 0) / total || 1;
  const scaledPrior = shiftPrior(prior, 2, -Math.log(scale));
  const scaled = spending.map((own) => ({ ...own, mean: own.mean / scale }));
  const cost = (logs: readonly number[]) =>
    (logs[1] ?? 0) <= 0
      ? Number.POSITIVE_INFINITY
      : penalty(logs) + priorCost(scaledPrior, logs) - gammaGammaLogLikelihood(toGammaGamma(logs), scaled);
  const { at } = minimize(cost, [1, 1, 1]);
  const logs = at.with(2, (at[2] ?? 0) + Math.log(scale));
  return { model: toGammaGamma(logs), logs, hessian: hessian(cost, at) };
}

/** The expected mean value of a customer's future purchases, given `x` so far of mean value `mean`, and its variance. */
export function expectSpending(
  { p, q, gamma }: GammaGamma,
  x: number,
  mean: number,
): { mean: number; variance: number } {
  const expected = (p * (gamma + x * mean)) / (p * x + q - 1);
  const degrees = Math.max(p * x + q - 2, 0.1);
  return { mean: expected, variance: expected ** 2 / degrees };
}
