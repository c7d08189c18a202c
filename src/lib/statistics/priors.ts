import { fitBgNbd } from './bg-nbd.ts';
import { fitFirstPurchase } from './first-purchase.ts';
import { fitGammaGamma } from './gamma-gamma.ts';
import type { Priors, Purchases } from './predict-revenue.ts';
import type { Prior } from './prior.ts';

// What is known of a cohort with few payers: what all cohorts together do, or if they have few payers, too, what has been published of others.

/** Fits without a prior need as many. */
const MIN_PAYERS = 50;
const MIN_REPEAT_PAYERS = 20;

/** The published fits of CDNOW: BG/NBD with times in days (Fader, Hardie, Lee 2005), and Gamma-Gamma (Fader, Hardie 2013). */
const PUBLISHED = {
  buying: { r: 0.243, alpha: 4.414 * 7, a: 0.793, b: 2.426 },
  value: { p: 6.25, q: 3.74 },
};
/** Standard deviations of logarithms: how far another application may be from the published fits, and a cohort from all of its application. */
const OF_APPLICATIONS = { buying: 1.5, value: 0.8, first: 1 };
const OF_COHORTS = 0.7;

const about = (logs: readonly number[], deviation: number): Prior => ({
  logs,
  deviations: logs.map(() => deviation),
});

/** Whether so many have purchased, and repeatedly, that their own data describes them. */
export function hasManyPayers({ histories }: Pick<Purchases, 'histories'>): boolean {
  const count = (some: typeof histories) => some.reduce((sum, own) => sum + own.count, 0);
  return count(histories) >= MIN_PAYERS && count(histories.filter(({ x }) => x > 0)) >= MIN_REPEAT_PAYERS;
}

/** From all cohorts together. Null if nobody in them has purchased for a known value. */
export function priorsFrom(all: Purchases): Priors | null {
  const { count, sum } = all.firstValues;
  const [repeats, repeated] = all.histories.reduce(
    ([counts, sums], own) => [counts + own.valued * own.count, sums + own.value],
    [0, 0],
  );
  if (sum + repeated <= 0) return null;
  const firstMean = count > 0 && sum > 0 ? sum / count : repeated / repeats;
  const isRich = hasManyPayers(all);
  const first = fitFirstPurchase(all.firsts, all.waiting);
  const value = valuePrior(firstMean);
  return {
    buying: isRich
      ? about(fitBgNbd(all.histories).logs, OF_COHORTS)
      : about(Object.values(PUBLISHED.buying).map(Math.log), OF_APPLICATIONS.buying),
    value: isRich ? about(fitGammaGamma(all.spending, value).logs, OF_COHORTS) : value,
    ...(first ? { first: about(first.logs, isRich ? OF_COHORTS : OF_APPLICATIONS.first) } : {}),
    firstMean,
  };
}

function valuePrior(mean: number): Prior {
  const { p, q } = PUBLISHED.value;
  return about([p, q, (mean * (q - 1)) / p].map(Math.log), OF_APPLICATIONS.value);
}
