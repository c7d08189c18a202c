import { type Interval, intervalAround } from './interval.ts';

// Ad revenue is the number of active days ahead times the revenue per active day. The share of devices that are active on day d falls with a
// power of d. It is fitted by quasi-Poisson regression, whose dispersion covers that devices and days are not independent of each other.
// Sources: McCullagh, Nelder, Generalized Linear Models (1989), sections 6.2 and 9; Cochran, Sampling Techniques (1977), section 6.4, for
// the ratio of revenue to active days.

/** How many devices were active on a day since the acquisition, of those whose day was over. */
type ActiveDay = { age: number; eligible: number; active: number };

/** Over devices: the sums of active days (n) and ad revenue (a), and of their products. */
type EarningSums = { n: number; a: number; nn: number; na: number; aa: number };

export type AdHistory = {
  activity: readonly ActiveDay[];
  earnings: EarningSums;
  /** Devices by the number of days since their acquisition. */
  devices: readonly { age: number; count: number }[];
};

const MAX_ROUNDS = 50;

/** Predicts ad revenue in the next `ahead` days. Returns null if the curve cannot be fitted. */
export function predictAds({ activity, earnings, devices }: AdHistory, ahead: number): Interval | null {
  const days = activity.filter(({ age, eligible }) => age > 0 && eligible > 0);
  if (days.length < 3 || earnings.n === 0) return null;
  const fit = fitPower(days);
  if (!fit) return null;
  const { level, slope, covariance, dispersion } = fit;
  // The active days ahead, and how they change with the two parameters.
  let [mean, byLevel, bySlope] = [0, 0, 0];
  for (const { age, count } of devices) {
    for (let day = age + 1; day <= age + ahead; day++) {
      const own = count * Math.min(1, Math.exp(level + slope * Math.log(day)));
      mean += own;
      byLevel += own;
      bySlope += own * Math.log(day);
    }
  }
  const rate = earnings.a / earnings.n;
  const residuals = Math.max(0, earnings.aa - 2 * rate * earnings.na + rate ** 2 * earnings.nn);
  const ofCurve =
    byLevel ** 2 * covariance[0] + 2 * byLevel * bySlope * covariance[1] + bySlope ** 2 * covariance[2];
  const variance =
    rate ** 2 * (dispersion * mean + ofCurve) +
    // Of the rate, and of what the devices earn around it.
    mean ** 2 * (residuals / earnings.n ** 2) +
    mean * (residuals / earnings.n);
  return intervalAround(rate * mean, variance);
}

type Power = {
  level: number;
  slope: number;
  /** Of level and level, level and slope, slope and slope. */
  covariance: readonly [number, number, number];
  dispersion: number;
};

/** Fits `active = eligible · exp(level) · age^slope` by iteratively reweighted least squares. */
function fitPower(days: readonly ActiveDay[]): Power | null {
  const active = days.reduce((sum, own) => sum + own.active, 0);
  const eligible = days.reduce((sum, own) => sum + own.eligible, 0);
  let [level, slope] = [Math.log(active / eligible), 0];
  const expected = ({ age, eligible: of }: ActiveDay) => of * Math.exp(level + slope * Math.log(age));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let [g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0];
    for (const day of days) {
      const [mu, x] = [expected(day), Math.log(day.age)];
      g0 += day.active - mu;
      g1 += (day.active - mu) * x;
      h00 += mu;
      h01 += mu * x;
      h11 += mu * x * x;
    }
    const determinant = h00 * h11 - h01 ** 2;
    if (!(determinant > 0)) return null;
    const steps = [(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant] as const;
    level += steps[0];
    slope += steps[1];
    if (!Number.isFinite(level) || !Number.isFinite(slope)) return null;
    if (Math.abs(steps[0]) + Math.abs(steps[1]) > 1e-10) continue;
    const pearson = days.reduce((sum, day) => sum + (day.active - expected(day)) ** 2 / expected(day), 0);
    const dispersion = Math.max(1, pearson / (days.length - 2));
    const scale = dispersion / determinant;
    return { level, slope, covariance: [h11 * scale, -h01 * scale, h00 * scale], dispersion };
  }
  return null;
}
