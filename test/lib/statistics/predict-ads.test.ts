import { describe, expect, it } from 'vitest';
import { type AdHistory, predictAds } from '#lib/statistics/predict-ads';
import { seededRandom } from '../../helpers/random.ts';

type Options = { devices: number; age: number; ahead: number; isMixed: boolean };

/** Devices that are active on day d with a probability of a power of d, and see ads worth a rate of their own on each active day. */
function simulate(seed: number, { devices, age, ahead, isMixed }: Options) {
  const random = seededRandom(seed);
  const earnings = { n: 0, a: 0, nn: 0, na: 0, aa: 0 };
  const active = Array.from({ length: age + 1 }, () => 0);
  let future = 0;
  for (let device = 0; device < devices; device++) {
    const [liking, rate] = isMixed ? [2 * random(), -Math.log(1 - random()) / 50] : [1, 0.02];
    let [n, a] = [0, 0];
    for (let day = 0; day <= age + ahead; day++) {
      if (day > 0 && random() > 0.4 * liking * day ** -0.5) continue;
      const earned = rate * (0.5 + random());
      if (day > age) future += earned;
      else {
        active[day] = (active[day] ?? 0) + 1;
        n++;
        a += earned;
      }
    }
    earnings.n += n;
    earnings.a += a;
    earnings.nn += n * n;
    earnings.na += n * a;
    earnings.aa += a * a;
  }
  const history: AdHistory = {
    activity: active.map((count, day) => ({ age: day, eligible: devices, active: count })),
    earnings,
    devices: [{ age, count: devices }],
  };
  return { history, future };
}

describe.each([
  { of: 'devices that are alike', isMixed: false },
  { of: 'devices that differ', isMixed: true },
])('the prediction of the ads of $of', ({ isMixed }) => {
  it('contains the known future in its 95 % interval about that often', () => {
    const runs = Array.from({ length: 60 }, (_, seed) => {
      const { history, future } = simulate(seed + 1, { devices: 400, age: 40, ahead: 60, isMixed });
      const found = predictAds(history, 60);
      if (!found) throw new Error('no fit');
      return { future, ...found };
    });
    const hits = runs.filter(({ future, low, high }) => low <= future && future <= high).length;
    expect(hits).toBeGreaterThanOrEqual(53);
    const bias = runs.reduce((sum, { future, revenue }) => sum + revenue / future, 0) / runs.length;
    expect(bias).toBeGreaterThan(0.95);
    expect(bias).toBeLessThan(1.05);
    const widths = runs.map(({ low, high, revenue }) => (high - low) / revenue).sort((a, b) => a - b);
    expect(widths[30]).toBeLessThan(0.6);
  });
});

it('has no curve to fit without activity after the first day', () => {
  const { history } = simulate(1, { devices: 100, age: 0, ahead: 10, isMixed: false });
  expect(predictAds(history, 30)).toBeNull();
});

it('is as uncertain as the degrees of freedom that the fit of a few days leaves', () => {
  const active = [400, 330, 180];
  const history: AdHistory = {
    activity: [1, 2, 4].map((age, index) => ({ age, eligible: 1_000, active: active[index] ?? 0 })),
    // Each active device earned 0.02 on one day, so that only the curve is uncertain.
    earnings: { n: 910, a: 18.2, nn: 910, na: 18.2, aa: 0.364 },
    devices: [{ age: 4, count: 1_000 }],
  };
  // Of another implementation: Newton's method with NumPy, and a dispersion of Pearson's statistic / (3 days − 2 parameters).
  const found = predictAds(history, 10);
  expect(found?.revenue).toBeCloseTo(26.269149, 5);
  expect(found?.variance).toBeCloseTo(67.430201, 5);
});
