import { expect, it } from 'vitest';
import { UNKNOWN_SEGMENT } from '#catalogue';
import { packEvents } from '#counting';
import type { PurchasesQuestion } from '../../src/counting/api-questions.ts';
import { eventOf, installOf, newDevice, startCounter } from '../helpers/counter.ts';

const QUESTION: PurchasesQuestion = {
  cohort: { from: '2026-03-01', to: '2026-03-31' },
  filter: {},
  groupBy: null,
  cohortBy: 'all',
  today: '2026-03-31',
  rates: { usd: 1, eur: 2 },
  isPast: false,
  net: null,
  maxCells: 1_000,
  maxGroups: 100,
};

async function start(purchases: [day: string, value_nanos: number, currency?: string][][]) {
  const counter = startCounter();
  for (const own of purchases) {
    const created = await counter.createDevice();
    if (created.outcome === 'moved') throw new Error('one shard');
    const events = own.map(([day, value_nanos, currency = 'usd']) =>
      eventOf(counter.applicationId, created.device, 'custom.purchase', { day, value_nanos, currency }),
    );
    if (events.length > 0) await counter.append(events);
  }
  await counter.stub().settle();
  return async (more: Partial<PurchasesQuestion> = {}) => {
    const answer = await counter.stub().purchases({ ...QUESTION, ...more });
    return answer.map((group) => ({
      ...group,
      histories: rowsOf(group.histories, 6),
      spending: rowsOf(group.spending, 4),
      firsts: rowsOf(group.firsts, 2),
      waiting: rowsOf(group.waiting, 2),
      ages: rowsOf(group.ages, 2),
      active: [...group.active],
    }));
  };
}

const rowsOf = (numbers: Float64Array, width: number) =>
  Array.from({ length: numbers.length / width }, (_, row) => [
    ...numbers.subarray(row * width, (row + 1) * width),
  ]);

const HISTORY: Parameters<typeof start>[0] = [
  [],
  [],
  // Two purchases on one day, one before the acquisition, which is day 0, and one on day 4.
  [
    ['2026-03-05', 1_000_000_000],
    ['2026-03-05', 2_000_000_000],
    ['2026-02-27', 3_000_000_000],
    ['2026-03-01', 3_000_000_000, 'eur'],
  ],
  [['2026-03-03', 8_000_000_000]],
  [['2026-03-03', 2_000_000_000]],
];

it('reports the repeats of devices since their first purchase, and who has not purchased', async () => {
  const ask = await start(HISTORY);
  const [answer] = await ask();
  expect(answer).toMatchObject({ cohort: '', key: '', size: 5, payers: 3, unconverted: {} });
  expect(answer).toMatchObject({ purchaseRevenue: 22, adRevenue: 0, unvaluedFirsts: 0, unvaluedRepeats: 0 });
  expect(answer?.histories).toEqual([
    [0, 0, 28, 0, 2, 0],
    [1, 4, 30, 1, 1, 3],
  ]);
  expect(answer?.firsts).toEqual([
    [0, 1],
    [2, 2],
  ]);
  expect(answer?.waiting).toEqual([[30, 2]]);
  expect(answer?.ages).toEqual([[30, 5]]);
  // 9 on day 0, 8 and 2.
  expect(answer?.firstValues).toEqual({ count: 3, sum: 19, squares: 81 + 64 + 4 });
  expect(answer?.spending).toHaveLength(1);
  expect(answer?.spending[0]).toMatchObject([1, expect.any(Number), 1, 3]);
  expect(answer?.active).toEqual([5, 0, 2, 0, 1]);
  expect((await ask({ cohortBy: 'week' }))[0]).toMatchObject({ cohort: '2026-W09' });
});

it('leaves out amounts without a rate, and lists them', async () => {
  const ask = await start([
    ...HISTORY,
    [['2026-03-03', 0]],
    [
      ['2026-03-03', 4_000_000_000, 'eur'],
      ['2026-03-09', 5_000_000_000, 'eur'],
    ],
  ]);
  const [answer] = await ask({ rates: { usd: 1 } });
  expect(answer).toMatchObject({
    ...{ size: 7, payers: 5, purchaseRevenue: 16 },
    unconverted: { eur: 12_000_000_000 },
  });
  // Who has paid in such a currency alone would be expected to pay as others do. A free purchase is one.
  expect(answer?.histories).toEqual([
    [0, 0, 28, 0, 3, 0],
    [1, 4, 30, 1, 1, 3],
  ]);
  expect(answer?.firsts).toEqual([
    [0, 1],
    [2, 3],
  ]);
  expect(answer?.waiting).toEqual([[30, 2]]);
  expect(answer?.firstValues.count).toBe(4);
  expect(answer?.ages).toEqual([[30, 7]]);
});

it('uses nothing after a past day', async () => {
  const ask = await start(HISTORY);
  // Day 3 is the end of a band, day 2 is not: what the purchases on it were worth is not known then.
  const [atDay3] = await ask({ today: '2026-03-04', isPast: true });
  expect(atDay3).toMatchObject({ size: 5, payers: 3, purchaseRevenue: 19, unvaluedFirsts: 0 });
  expect(atDay3?.histories).toEqual([
    [0, 0, 1, 0, 2, 0],
    [0, 0, 3, 0, 1, 0],
  ]);
  const [atDay2] = await ask({ today: '2026-03-03', isPast: true });
  expect(atDay2).toMatchObject({ payers: 3, purchaseRevenue: 9, unvaluedFirsts: 2, unvaluedRepeats: 0 });
  const [atDay1] = await ask({ today: '2026-03-02', isPast: true });
  expect(atDay1).toMatchObject({ payers: 1, waiting: [[1, 4]], firsts: [[0, 1]], active: [5] });
  const [atDay5] = await ask({ today: '2026-03-06', isPast: true });
  expect(atDay5).toMatchObject({ purchaseRevenue: 19, unvaluedRepeats: 1 });
  expect(atDay5?.histories.at(-1)).toEqual([1, 4, 5, 0, 1, 0]);
});

it('counts the groups beyond a bound together, and keeps the largest', async () => {
  const counter = startCounter();
  for (const os of ['ios', 'ios', 'android', 'other']) {
    const device = newDevice({
      description: { ...newDevice().description, segment: { ...UNKNOWN_SEGMENT, os } },
    });
    const install = installOf(counter.applicationId, device);
    const wanted = [{ alias: null, device }];
    await counter.stub().createOrFindDevices(1, wanted, packEvents(counter.applicationId, [install]));
  }
  await counter.stub().settle();
  const answer = await counter.stub().purchases({ ...QUESTION, groupBy: 'os', maxGroups: 2 });
  expect(answer.map(({ key, size }) => [key, size])).toEqual(
    expect.arrayContaining([
      ['ios', 2],
      ['android', 1],
      [null, 1],
    ]),
  );
});

it('rounds times if there are too many of them', async () => {
  const days = Array.from({ length: 12 }, (_, index) => `2026-03-${String(index + 5).padStart(2, '0')}`);
  const ask = await start(days.map((day) => [[day, 1_000_000_000]]));
  expect((await ask())[0]?.histories).toHaveLength(12);
  const [rounded] = await ask({ maxCells: 16 });
  const { histories = [], firsts = [], ages = [] } = rounded ?? {};
  expect(histories.length + firsts.length + ages.length).toBeLessThanOrEqual(16);
  expect(histories.reduce((sum, [, , , , devices = 0]) => sum + devices, 0)).toBe(12);
  for (const [, lastAt = 0, age = 0] of histories) expect(lastAt).toBeLessThanOrEqual(age);
  for (const [day = 0] of firsts) expect(day).toBeGreaterThan(0);
});
