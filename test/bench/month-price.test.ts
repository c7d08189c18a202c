import { expect, it } from 'vitest';
import { type Measured, priceOfAMonth } from './month-price.ts';

const MEASURED: Measured = {
  rows: { d1: 0.5, object: 0.5 },
  cpuMilliseconds: 0.1,
  logLines: 0.01,
  files: 0.0001,
  bytes: { d1: 2, object: 29, file: 37 },
  runsPerDay: 48,
};

it('costs the plan alone while everything is included', () => {
  expect(priceOfAMonth(10_000, 1, MEASURED).total).toBe(5);
});

it('charges what exceeds the allotments', () => {
  // 60 million events, 150,000 installs and 750,000 clicks a month.
  const { queue, requests, rows_in_d1, rows_in_objects } = priceOfAMonth(2_000_000, 1, MEASURED);
  expect(queue).toBeCloseTo((60.9 * 3 - 1) * 0.4);
  expect(requests).toBeCloseTo((60.9 - 10) * 0.3);
  expect([rows_in_d1, rows_in_objects]).toEqual([0, 0]);
  const rows = { d1: 2, object: 1 };
  expect(priceOfAMonth(2_000_000, 1, { ...MEASURED, rows }).rows_in_d1).toBeCloseTo(120 + 0.6 + 1.5 - 50);
});

it('charges less for batches', () => {
  const { requests, queue } = priceOfAMonth(2_000_000, 500, MEASURED);
  expect(requests).toBe(0);
  expect(queue).toBeCloseTo(((60 / 71 + 0.9) * 3 - 1) * 0.4);
});
