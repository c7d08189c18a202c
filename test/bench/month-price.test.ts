import { expect, it } from 'vitest';
import { eventsPerMessage, type Measured, priceOfAMonth } from './month-price.ts';

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

it.each([
  // All that arrive while a message is on its way; seldom any.
  [1_160, 0.1, 116],
  [1, 0.005, 1],
  // One arrives on average: none in 37 of 100 cases, and then the next one is alone.
  [100, 0.01, 1 + Math.exp(-1)],
])(
  'shares messages of %d requests per second whose send takes %d s among %d events',
  (rate, seconds, expected) => {
    expect(eventsPerMessage(rate, seconds)).toBeCloseTo(expected, 4);
  },
);

it('charges less for requests that share messages', () => {
  const perMessage = eventsPerMessage(2_000_000 / 86_400, 0.03);
  const { queue } = priceOfAMonth(2_000_000, 1, MEASURED, true);
  expect(queue).toBeCloseTo(((60 / perMessage + 0.9) * 3 - 1) * 0.4);
});
