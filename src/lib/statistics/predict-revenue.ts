import { type BgNbd, bgNbdLogs, expectBgNbd, fitBgNbd, type PurchaseHistory, toBgNbd } from './bg-nbd.ts';
import {
  expectSpending,
  fitGammaGamma,
  type GammaGamma,
  gammaGammaLogs,
  type Spending,
  toGammaGamma,
} from './gamma-gamma.ts';
import { quadraticForm } from './minimize.ts';

/** Customers with one history, and the sum of their mean purchase values. */
export type ValuedHistory = PurchaseHistory & { means: number };

export type Prediction = {
  /** Expected purchases in the period ahead. */
  purchases: number;
  revenue: number;
  /** A 95 % interval of the revenue. It covers both the uncertainty of the parameters and chance. */
  low: number;
  high: number;
};

const Z_95 = 1.959963984540054;
/** Prior for the logarithm of a parameter, for parameters that the data says nothing about: a standard deviation of 5. */
const PRIOR_PRECISION = 1 / 25;
const GRADIENT_STEP = 1e-3;

/**
 * Predicts what customers will spend in the time `ahead`: BG/NBD models how often, Gamma-Gamma how much. The interval is log-normal.
 * Its variance is that of the parameters (delta method) plus that of the process itself, which ignores that customers may leave
 * within the period. Returns null if the models do not fit.
 */
export function predictRevenue(
  histories: readonly ValuedHistory[],
  spending: readonly Spending[],
  ahead: number,
): Prediction | null {
  const buying = fitBgNbd(histories);
  // If everybody pays the same, there is nothing to fit, and the next purchase has that value too.
  const values = spending.map(({ mean }) => mean);
  const isOneValue = Math.max(...values) <= 1.02 * Math.min(...values);
  const value = isOneValue ? null : fitGammaGamma(spending);
  const [buyingLogs, valueLogs] = [bgNbdLogs(buying.model), value ? gammaGammaLogs(value.model) : []];
  const revenueAt = (logs: readonly number[]) => {
    const spent = value ? toGammaGamma(logs.slice(buyingLogs.length)) : null;
    return expectAll(toBgNbd(logs.slice(0, buyingLogs.length)), spent, histories, spending, ahead);
  };
  const logs = [...buyingLogs, ...valueLogs];
  const { purchases, revenue, variance } = revenueAt(logs);
  const gradient = logs.map((_, axis) => {
    const moved = (step: number) =>
      revenueAt(logs.map((own, index) => (index === axis ? own + step : own))).revenue;
    return (moved(GRADIENT_STEP) - moved(-GRADIENT_STEP)) / (2 * GRADIENT_STEP);
  });
  const ofBuying = quadraticForm(withPrior(buying.hessian), gradient.slice(0, buyingLogs.length));
  const ofValue = value ? quadraticForm(withPrior(value.hessian), gradient.slice(buyingLogs.length)) : 0;
  if (ofBuying === null || ofValue === null || !Number.isFinite(revenue) || revenue <= 0) return null;
  const relative = Math.sqrt(variance + ofBuying + ofValue) / revenue;
  if (!Number.isFinite(relative)) return null;
  const spread = Z_95 * Math.sqrt(Math.log1p(relative ** 2));
  return { purchases, revenue, low: revenue * Math.exp(-spread), high: revenue * Math.exp(spread) };
}

const withPrior = (matrix: readonly number[][]) =>
  matrix.map((row, index) => row.map((own, column) => (index === column ? own + PRIOR_PRECISION : own)));

function expectAll(
  buying: BgNbd,
  value: GammaGamma | null,
  histories: readonly ValuedHistory[],
  spending: readonly Spending[],
  ahead: number,
): { purchases: number; revenue: number; variance: number } {
  const sums = { purchases: 0, revenue: 0, variance: 0 };
  const only = spending[0]?.mean ?? 0;
  for (const { count, means, ...history } of histories) {
    const next = expectBgNbd(buying, history, ahead);
    // The expected value is linear in the mean so far, so the total for all customers with one history is exact.
    const spent = value ? expectSpending(value, history.x, means / count) : { mean: only, variance: 0 };
    const ofOne = value ? spent.mean ** 2 / value.p : 0;
    sums.purchases += count * next.purchases;
    sums.revenue += count * next.purchases * spent.mean;
    sums.variance +=
      count *
      (next.variance * spent.mean ** 2 +
        next.purchases * ofOne +
        (next.variance + next.purchases ** 2) * spent.variance);
  }
  return sums;
}
