import { describe, expect, it } from 'vitest';
import { fitFirstPurchase } from '#lib/statistics/first-purchase';
import { predictRevenue } from '#lib/statistics/predict-revenue';
import { isThorough, slowIt } from '../../helpers/thorough.ts';
import { simulate } from './customers.ts';

describe.each([
  { of: 'customers who bought on day 0', first: null, customers: 1_500, times: isThorough ? 100 : 8 },
  {
    of: 'customers of whom most have not bought yet',
    first: { k: 0.2, beta: 5 },
    customers: 3_000,
    times: isThorough ? 20 : 4,
  },
])('the prediction of $of', ({ first, customers, times }) => {
  it('contains the known future in its 95 % interval about that often', () => {
    const runs = Array.from({ length: times }, (_, seed) => {
      const { data, future } = simulate(seed + 1, customers, 60, 90, first);
      const found = predictRevenue(data, 90);
      if (!found) throw new Error('no fit');
      return { future, ...found };
    });
    const hits = runs.filter(({ future, low, high }) => low <= future && future <= high).length;
    expect(hits).toBeGreaterThanOrEqual((isThorough ? 0.9 : 0.875) * times);
    if (isThorough) expect(hits).toBeLessThanOrEqual(0.98 * times);
    // And the interval says something: it is not the whole world.
    const widths = runs.map(({ low, high, revenue }) => (high - low) / revenue).sort((a, b) => a - b);
    expect(widths[times / 2]).toBeLessThan(1);
    const bias = runs.reduce((sum, { future, revenue }) => sum + revenue / future, 0) / runs.length;
    expect(bias).toBeGreaterThan(0.9);
    expect(bias).toBeLessThan(1.1);
  });
});

describe('the prediction', () => {
  it('assumes a constant price if all purchases had it', () => {
    const { data } = simulate(3, 1_500, 60, 90);
    const histories = data.histories.map((own) => ({ ...own, value: 5 * own.x }));
    const spending = data.spending.map(({ x }) => ({ x, mean: 5, count: 1 }));
    const found = predictRevenue({ ...data, histories, spending }, 90);
    expect(found?.revenue).toBeCloseTo(5 * (found?.purchases ?? 0), 6);
    expect(found?.low).toBeGreaterThan(0);
  });

  it('is the same for single and for grouped customers', () => {
    const { data } = simulate(4, 800, 60, 90);
    const rounded = data.histories.map((own) => ({ ...own, lastAt: Math.ceil(own.lastAt / 5) * 5 }));
    const groups = Map.groupBy(rounded, ({ x, lastAt }) => `${x}/${lastAt}`);
    const together = [...groups.values()].flatMap(([first, ...others]) =>
      first
        ? [
            {
              ...first,
              count: 1 + others.length,
              value: others.reduce((sum, { value }) => sum + value, first.value),
            },
          ]
        : [],
    );
    const [one, all] = [rounded, together].map((histories) => predictRevenue({ ...data, histories }, 30));
    expect(all?.revenue).toBeCloseTo(one?.revenue ?? Number.NaN, 4);
    expect(all?.purchases).toBeCloseTo(one?.purchases ?? Number.NaN, 4);
  });

  it('expects first purchases only of those who have not bought, and their repeats', () => {
    const { data } = simulate(5, 4_000, 60, 90, { k: 0.2, beta: 5 });
    const without = predictRevenue({ ...data, waiting: [] }, 90);
    const all = predictRevenue(data, 90);
    expect(all?.purchases).toBeGreaterThan(Number(without?.purchases) + 1);
    // If all first purchases were on day 0, nobody begins later.
    const onInstall = { ...data, firsts: [{ age: 0, count: data.histories.length }] };
    expect(predictRevenue(onInstall, 90)?.purchases).toBeCloseTo(Number(without?.purchases), 6);
  });
});

slowIt('finds the parameters by which customers buy for the first time', () => {
  const first = { k: 0.3, beta: 8 };
  const { data } = simulate(6, 30_000, 200, 1, first);
  const fitted = fitFirstPurchase(data.firsts, data.waiting);
  expect(fitted?.model.k).toBeCloseTo(first.k, 1);
  expect(Math.abs(Math.log((fitted?.model.beta ?? 0) / first.beta))).toBeLessThan(0.2);
});
