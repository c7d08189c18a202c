import { memoize } from '../collections/memoize.ts';
import { lnGamma } from './gamma.ts';
import { type Fitted, hessian, minimize, penalty } from './minimize.ts';
import { type Prior, priorCost, shiftPrior } from './prior.ts';

// BG/NBD: while customers are alive, they buy at an individual rate, which is gamma distributed (r, alpha). After each purchase they leave
// with an individual probability, which is beta distributed (a, b).
// Source: Fader, Hardie, Lee, "Counting Your Customers the Easy Way: An Alternative to the Pareto/NBD Model", Marketing Science
// 24 (2005).

/** `count` customers with `x` purchases, the last at `lastAt`, observed until `age`. Times are in one unit, since the start. */
export type PurchaseHistory = { x: number; lastAt: number; age: number; count: number };

export type BgNbd = { r: number; alpha: number; a: number; b: number };

export const toBgNbd = (logs: readonly number[]): BgNbd => {
  const [r = 0, alpha = 0, a = 0, b = 0] = logs.map(Math.exp);
  return { r, alpha, a, b };
};

/** The total log-likelihood of many customers. */
export function bgNbdLogLikelihood({ r, alpha, a, b }: BgNbd, histories: readonly PurchaseHistory[]): number {
  const base = r * Math.log(alpha) - lnGamma(r);
  const lnBeta = (left: number, right: number) => lnGamma(left) + lnGamma(right) - lnGamma(left + right);
  const lnBetaAB = lnBeta(a, b);
  // Most customers share their number of purchases.
  const ofCount = memoize(Number.POSITIVE_INFINITY, (x: number) => ({
    alive: base + lnGamma(r + x) + lnBeta(a, b + x) - lnBetaAB,
    left: Math.log(a) - Math.log(b + Math.max(x, 1) - 1),
  }));
  let sum = 0;
  for (const { x, lastAt, age, count } of histories) {
    const { alive, left } = ofCount(x);
    const stays = -(r + x) * Math.log(alpha + age);
    if (x === 0) {
      sum += count * (alive + stays);
      continue;
    }
    const leaves = left - (r + x) * Math.log(alpha + lastAt);
    const [high, low] = stays > leaves ? [stays, leaves] : [leaves, stays];
    sum += count * (alive + high + Math.log1p(Math.exp(low - high)));
  }
  return sum;
}

/** The most likely parameters for these histories, given a prior or without one. */
export function fitBgNbd(
  histories: readonly PurchaseHistory[],
  prior?: Prior,
): Fitted<BgNbd> & { logLikelihood: number } {
  // Times are scaled to about 1, so that every parameter starts near its final value.
  const scale = Math.max(0, ...histories.map(({ age }) => age)) || 1;
  const scaledPrior = shiftPrior(prior, 1, -Math.log(scale));
  const scaled = histories.map((own) => ({ ...own, lastAt: own.lastAt / scale, age: own.age / scale }));
  const cost = (logs: readonly number[]) =>
    penalty(logs) + priorCost(scaledPrior, logs) - bgNbdLogLikelihood(toBgNbd(logs), scaled);
  const { at } = minimize(cost, [-0.5, -0.5, 0, 0.5]);
  const logs = at.with(1, (at[1] ?? 0) + Math.log(scale));
  const model = toBgNbd(logs);
  return {
    ...{ model, logs },
    logLikelihood: bgNbdLogLikelihood(model, histories),
    // Rescaling only shifts the logarithm of alpha.
    hessian: hessian(cost, at),
  };
}

/** A customer's expected purchases in the time `ahead`, the probability of being alive, and the variance of the purchases. */
export function expectBgNbd(
  model: BgNbd,
  { x, lastAt, age }: Omit<PurchaseHistory, 'count'>,
  ahead: number,
): { purchases: number; variance: number } {
  const { r, alpha, b } = model;
  // At a = 1 the formula is 0 / 0. Close to it, the difference is negligible.
  const a = Math.abs(model.a - 1) < 1e-5 ? 1.00001 : model.a;
  const shrink = ((alpha + age) / (alpha + age + ahead)) ** (r + x);
  const series = hypergeometric(r + x, b + x, a + b + x - 1, ahead / (alpha + age + ahead));
  const ifAlive = ((a + b + x - 1) / (a - 1)) * (1 - shrink * series);
  const odds = x === 0 ? 0 : (a / (b + x - 1)) * ((alpha + age) / (alpha + lastAt)) ** (r + x);
  const alive = 1 / (1 + odds);
  const purchases = Math.max(0, ifAlive * alive);
  // Given that the customer is alive, a negative binomial with shape r + x, which ignores that they may leave in the meantime.
  const square = alive * (ifAlive + ifAlive ** 2 * (1 + 1 / (r + x)));
  return { purchases, variance: Math.max(0, square - purchases ** 2) };
}

const MAX_TERMS = 20_000;

/** Gauss's hypergeometric function, by its series, for 0 ≤ z < 1. */
function hypergeometric(a: number, b: number, c: number, z: number): number {
  let [term, sum] = [1, 1];
  for (let n = 0; n < MAX_TERMS; n++) {
    term *= ((a + n) * (b + n) * z) / ((c + n) * (n + 1));
    sum += term;
    if (Math.abs(term) < 1e-14 * Math.abs(sum)) break;
  }
  return sum;
}
