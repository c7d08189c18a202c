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
  expect(priceOfAMonth(2_000_000, 1, { ...MEASURED, rows }).rows_in_d1).toBeCloseTo(
    120 + 0.6 + 1.5 + 0.0864 - 50,
  );
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
  const { queue } = priceOfAMonth(2_000_000, 1, MEASURED, { isShared: true });
  expect(queue).toBeCloseTo(((60 / perMessage + 0.9) * 3 - 1) * 0.4);
});

it('charges three rows and the work of each delivery to a destination', () => {
  const { rows_in_objects, cpu } = priceOfAMonth(2_000_000, 500, MEASURED, { destinations: 2 });
  // 30 million rows of counting, 120 million deliveries, two rows for each of 48 runs a day, and one a minute.
  expect(rows_in_objects).toBeCloseTo(30 + 360 + 0.00288 + 0.0432 - 50);
  expect(cpu).toBeGreaterThan((120 * 0.5 - 30) * 0.02);
});

it('charges what 400 days have stored in the second year, but one month of logs', () => {
  const store = (bytes: Partial<Measured['bytes']>, isSecondYear: boolean) =>
    priceOfAMonth(
      2_000_000,
      500,
      { ...MEASURED, bytes: { d1: 0, object: 0, file: 0, ...bytes } },
      { isSecondYear },
    ).storage;
  // 60 million events of 1,000 bytes: 60 GB a month, 800 in 400 days.
  expect([false, true].map((later) => store({ file: 1_000 }, later))).toEqual([0.75, 11.85]);
  expect([false, true].map((later) => store({ object: 1_000 }, later))).toEqual([11, 11]);
  expect(store({ d1: 100 }, true)).toBeCloseTo((80 - 5) * 0.75);
});
