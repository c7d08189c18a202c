import { describe, expect, it } from 'vitest';
import { predictRevenue } from '#lib/statistics/predict-revenue';
import { hasManyPayers, priorsFrom } from '#lib/statistics/priors';
import { isThorough } from '../../helpers/thorough.ts';
import { MODEL, simulate, simulator } from './customers.ts';

// Small applications that are not like the published ones: each parameter is multiplied by a random factor of its own, 1.6 or its inverse on average.

const TIMES = isThorough ? 200 : 40;
const SPREAD = 0.5;

function someModel(seed: number): typeof MODEL {
  const { normal } = simulator(seed);
  const varied = Object.fromEntries(
    Object.entries(MODEL).map(([name, value]) => [name, value * Math.exp(SPREAD * normal())]),
  ) as typeof MODEL;
  return { ...varied, q: Math.max(1.3, varied.q) };
}

describe.each([
  { of: 'sixteen payers', customers: 16, first: null },
  { of: 'some seventeen payers of 150 devices', customers: 150, first: { k: 0.05, beta: 5 } },
  { of: 'some five payers of 40 devices', customers: 40, first: { k: 0.05, beta: 5 } },
])('the prediction from $of', ({ customers, first }) => {
  it('contains the future in its 95 % interval about that often, and is not far off on average', () => {
    const runs = Array.from({ length: TIMES }, (_, seed) => {
      const { data, future } = simulate(seed + 1_000, customers, 60, 90, first, someModel(seed + 1));
      expect(hasManyPayers(data)).toBe(false);
      const priors = priorsFrom(data);
      return priors && { future, ...predictRevenue(data, 90, priors) };
    }).filter((run) => run !== null);
    // A few have no payer at all.
    expect(runs.length).toBeGreaterThanOrEqual(0.9 * TIMES);
    const hits = runs.filter(({ future, low = 1, high = 0 }) => low <= future && future <= high).length;
    expect(hits / runs.length).toBeGreaterThanOrEqual(0.875);
    const ratios = runs.map(({ future, revenue = 0 }) => revenue / future).sort((one, other) => one - other);
    const median = ratios[ratios.length >> 1];
    expect(median).toBeGreaterThan(0.6);
    expect(median).toBeLessThan(1.6);
  });
});

it('takes from a large cohort what a small one lacks', () => {
  const { data: large } = simulate(1, 1_500, 60, 90);
  const { data: small } = simulate(2, 12, 60, 90);
  const [alone, beside] = [small, large].map((all) => {
    const priors = priorsFrom(all);
    return priors && predictRevenue(small, 90, priors);
  });
  const width = (found: typeof alone) => Number(found?.high) / Number(found?.low);
  expect(width(beside)).toBeLessThan(width(alone));
  // As many customers of whom nothing is known get what those of the large cohort do on average.
  const nobody = { ...small, histories: [{ x: 0, lastAt: 0, age: 0, count: 12, valued: 0, value: 0 }] };
  const priors = priorsFrom(large);
  expect(priors && predictRevenue(nobody, 90, priors)?.purchases).toBeGreaterThan(1);
});

it('knows nothing where nobody has purchased', () => {
  const none = { count: 0, sum: 0, squares: 0 };
  const waiting = [{ age: 30, count: 100 }];
  expect(priorsFrom({ histories: [], spending: [], firsts: [], waiting, firstValues: none })).toBeNull();
});

it('lets a prior decide as long as nobody has purchased, and the data once many have', () => {
  const { data } = simulate(3, 3_000, 60, 90);
  const priors = priorsFrom(simulate(4, 16, 60, 90).data);
  if (!priors) throw new Error('nobody has purchased');
  const [without, given] = [predictRevenue(data, 90), predictRevenue(data, 90, priors)];
  expect(Math.abs(Number(given?.revenue) / Number(without?.revenue) - 1)).toBeLessThan(0.05);
});
