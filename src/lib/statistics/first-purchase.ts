import { type Fitted, hessian, minimize, penalty } from './minimize.ts';
import { type Prior, priorCost } from './prior.ts';

// When customers buy for the first time: some on day 0; the others wait an exponential time, with a rate that is gamma distributed across them
// (k, beta), so that the share that has not bought yet is (beta / (beta + t))^k, and most of those who wait long never buy.
// Source: the exponential-gamma model of trial purchases in Hardie, Fader, Wisniewski, "An Empirical Comparison of New Product Trial
// Forecasting Models", Journal of Forecasting 17 (1998).

/** `count` customers, by the day of their first purchase, or by how many days they have not bought. */
export type CustomersByAge = { age: number; count: number };

export type FirstPurchase = { k: number; beta: number };

export const toFirstPurchase = ([k = 0, beta = 0]: readonly number[]): FirstPurchase => ({
  k: Math.exp(k),
  beta: Math.exp(beta),
});

const lnWaits = ({ k, beta }: FirstPurchase, age: number) => -k * Math.log1p(age / beta);

/** The most likely parameters. Null if nobody has bought after day 0 and there is no prior: then nobody is expected to. */
export function fitFirstPurchase(
  firsts: readonly CustomersByAge[],
  waiting: readonly CustomersByAge[],
  prior?: Prior,
): Fitted<FirstPurchase> | null {
  const later = firsts.filter(({ age }) => age > 0);
  if (later.length === 0 && !prior) return null;
  const cost = (logs: readonly number[]) => {
    const model = toFirstPurchase(logs);
    let sum = penalty(logs) + priorCost(prior, logs);
    for (const { age, count } of later) {
      const before = lnWaits(model, age - 1);
      sum -= count * (before + Math.log(-Math.expm1(lnWaits(model, age) - before)));
    }
    for (const { age, count } of waiting) sum -= count * lnWaits(model, age);
    return sum;
  };
  const { at } = minimize(cost, [-2, 1]);
  return { model: toFirstPurchase(at), logs: at, hessian: hessian(cost, at) };
}

/** The probability that a customer who has not bought by day `age` buys in the time `ahead`. */
export const buysWithin = (model: FirstPurchase, age: number, ahead: number): number =>
  -Math.expm1(lnWaits(model, age + ahead) - lnWaits(model, age));
