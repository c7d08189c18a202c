import { type BgNbd, expectBgNbd, fitBgNbd, type PurchaseHistory, toBgNbd } from './bg-nbd.ts';
import {
  buysWithin,
  type CustomersByAge,
  type FirstPurchase,
  fitFirstPurchase,
  toFirstPurchase,
} from './first-purchase.ts';
import {
  expectSpending,
  fitGammaGamma,
  type GammaGamma,
  type Spending,
  toGammaGamma,
} from './gamma-gamma.ts';
import { type Interval, intervalAround } from './interval.ts';
import { type Fitted, quadraticForm } from './minimize.ts';
import type { Prior } from './prior.ts';

/**
 * Customers with one history of repeat purchases since their first. The values of `valued` of the repeats of each are known; `value` is the
 * sum of these values over all of them.
 */
export type ValuedHistory = PurchaseHistory & { valued: number; value: number };

export type Purchases = {
  histories: readonly ValuedHistory[];
  /** The mean values of customers' known repeat purchases. */
  spending: readonly Spending[];
  /** Customers by the day of their first purchase, and those who have not bought yet. */
  firsts: readonly CustomersByAge[];
  waiting: readonly CustomersByAge[];
  /** The known values of first purchases. */
  firstValues: { count: number; sum: number; squares: number };
};

/** `purchases` and `revenue` are expected, and the interval is that of the revenue. */
export type Prediction = Interval & { purchases: number; repeats: BgNbd & { logLikelihood: number } };

/** What is known before few customers have purchased; `firstMean`: the expected value of a first purchase. See `priorsFrom`. */
export type Priors = { buying: Prior; value: Prior; first?: Prior; firstMean: number };

/** Prior for the logarithm of a parameter, for parameters that the data says nothing about: a standard deviation of 5. */
const PRIOR_PRECISION = 1 / 25;
const GRADIENT_STEP = 1e-3;
/**
 * How far off a model is for all customers at once, as a share of what it expects: a season, a sale, or another way of behaving than the model's
 * moves them together, so more customers do not make it less. Estimated: the published fit of CDNOW was 12 % off in 39 weeks, of which its other
 * uncertainty explains two thirds.
 */
const MODEL_ERROR = 0.05;
/** First purchases in the time ahead are put into so many parts of it, to count the repeats that follow. */
const PARTS = 32;

/**
 * Predicts what customers will spend in the time `ahead`: BG/NBD models how often those repeat who have bought, Gamma-Gamma how much; see
 * `first-purchase.ts` for those who have not bought yet. The variance is that of the parameters (delta method) plus that of the process itself,
 * which ignores that customers may leave within the period, plus that of the models themselves. With `priors`, even one customer is enough, or none:
 * the interval tells how little is known. Returns null if the models do not fit.
 */
export function predictRevenue(data: Purchases, ahead: number, priors?: Priors): Prediction | null {
  const buying = fitBgNbd(data.histories, priors?.buying);
  // If everybody pays the same, there is nothing to fit, and the next purchase has that value too.
  const values = data.spending.map(({ mean }) => mean);
  const isOneValue = !priors && Math.max(...values) <= 1.02 * Math.min(...values);
  const value = isOneValue ? null : fitGammaGamma(data.spending, priors?.value);
  const first = fitFirstPurchase(data.firsts, data.waiting, priors?.first);
  const nothing = { logs: [], hessian: [] };
  const parts: Omit<Fitted<unknown>, 'model'>[] = [buying, value ?? nothing, first ?? nothing];
  const expectAt = (logs: readonly (readonly number[])[]) => {
    const [ofBuying = [], ofValue = [], ofFirst = []] = logs;
    return expectAll(
      {
        buying: toBgNbd(ofBuying),
        value: value ? toGammaGamma(ofValue) : null,
        first: first ? toFirstPurchase(ofFirst) : null,
        firstValue: firstValueOf(data, priors?.firstMean),
      },
      data,
      ahead,
    );
  };
  const fitted = parts.map(({ logs }) => logs);
  const { purchases, revenue, variance } = expectAt(fitted);
  let ofParameters = 0;
  for (const [index, { logs, hessian }] of parts.entries()) {
    if (logs.length === 0) continue;
    const gradient = logs.map((log, axis) => {
      const moved = (step: number) => expectAt(fitted.with(index, logs.with(axis, log + step))).revenue;
      return (moved(GRADIENT_STEP) - moved(-GRADIENT_STEP)) / (2 * GRADIENT_STEP);
    });
    const own = quadraticForm(withPrior(hessian), gradient);
    if (own === null) return null;
    ofParameters += own;
  }
  if (!Number.isFinite(revenue) || revenue <= 0) return null;
  const interval = intervalAround(revenue, variance + ofParameters + (MODEL_ERROR * revenue) ** 2);
  return (
    interval && { ...interval, purchases, repeats: { ...buying.model, logLikelihood: buying.logLikelihood } }
  );
}

const withPrior = (matrix: readonly number[][]) =>
  matrix.map((row, index) => row.map((own, column) => (index === column ? own + PRIOR_PRECISION : own)));

/** The mean value of a first purchase, the variance of one, and that of the mean. */
type FirstValue = { mean: number; ofOne: number; ofMean: number };
type Models = {
  buying: BgNbd;
  value: GammaGamma | null;
  first: FirstPurchase | null;
  firstValue: FirstValue;
};
/** With an expected mean, it counts as one purchase of that value, whose deviation is as large as itself. */
function firstValueOf({ firstValues }: Purchases, expected?: number): FirstValue {
  const { sum, squares } = firstValues;
  const [known, all] =
    expected === undefined ? [firstValues.count, sum] : [firstValues.count + 1, sum + expected];
  if (known === 0) return { mean: 0, ofOne: 0, ofMean: 0 };
  const mean = all / known;
  const apart = Math.max(0, squares - firstValues.count * (sum / (firstValues.count || 1)) ** 2);
  const ofOne =
    expected === undefined
      ? known > 1
        ? apart / (known - 1)
        : 0
      : (apart + 2 * expected ** 2) / (known + 1);
  return { mean, ofOne, ofMean: ofOne / known };
}

type PurchaseSums = { purchases: number; revenue: number; variance: number };

function expectAll(models: Models, data: Purchases, ahead: number): PurchaseSums {
  const sums = { purchases: 0, revenue: 0, variance: 0 };
  addRepeats(sums, models, data, ahead);
  if (models.first) addFirsts(sums, { ...models, first: models.first }, data, ahead);
  return sums;
}

/** What repeat purchases are worth, given the values of some earlier ones: the mean, its variance, and that of a single value. */
function worthOf(value: GammaGamma | null, { spending }: Purchases, valued: number, mean: number) {
  if (!value) return { mean: spending[0]?.mean ?? 0, variance: 0, ofOne: 0 };
  const spent = expectSpending(value, valued, mean);
  return { ...spent, ofOne: spent.mean ** 2 / value.p };
}

/** Adds the repeat purchases of those who have bought. */
function addRepeats(sums: PurchaseSums, { buying, value }: Models, data: Purchases, ahead: number): void {
  for (const { count, valued, value: total, ...history } of data.histories) {
    const next = expectBgNbd(buying, history, ahead);
    // The expected value is linear in the mean so far, so the total for all customers with one history is exact.
    const spent = worthOf(value, data, valued, valued > 0 ? total / count / valued : 0);
    sums.purchases += count * next.purchases;
    sums.revenue += count * next.purchases * spent.mean;
    sums.variance +=
      count *
      (next.variance * spent.mean ** 2 +
        next.purchases * spent.ofOne +
        (next.variance + next.purchases ** 2) * spent.variance);
  }
}

/** Adds the first purchases of those who have not bought yet, and the repeats that follow within the time ahead. */
function addFirsts(
  sums: PurchaseSums,
  { buying, value, first, firstValue }: Models & { first: FirstPurchase },
  data: Purchases,
  ahead: number,
): void {
  const repeat = worthOf(value, data, 0, 0);
  const step = ahead / PARTS;
  const followed = Array.from({ length: PARTS }, (_, part) =>
    expectBgNbd(buying, { x: 0, lastAt: 0, age: 0 }, ahead - (part + 0.5) * step),
  );
  let buyers = 0;
  for (const { age, count } of data.waiting) {
    let before = 0;
    for (const [part, { purchases, variance }] of followed.entries()) {
      const until = buysWithin(first, age, (part + 1) * step);
      const own = count * (until - before);
      before = until;
      buyers += own;
      const mean = firstValue.mean + purchases * repeat.mean;
      sums.purchases += own * (1 + purchases);
      sums.revenue += own * mean;
      // A count of rare events has about its mean as variance, so each buyer adds the mean of the square of what they spend.
      sums.variance +=
        own *
        (mean ** 2 +
          firstValue.ofOne +
          variance * repeat.mean ** 2 +
          purchases * repeat.ofOne +
          (variance + purchases ** 2) * repeat.variance);
    }
  }
  // The mean of the first values is estimated, too.
  sums.variance += buyers ** 2 * firstValue.ofMean;
}
