import { expect, it } from 'vitest';
import type { PurchasesQuestion } from '../../src/counting/questions.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';

const QUESTION: PurchasesQuestion = {
  cohort: { from: '2026-03-01', to: '2026-03-31' },
  filter: {},
  groupBy: null,
  cohortBy: 'all',
  today: '2026-03-31',
  rates: { usd: 1, eur: 2 },
  maxHistories: 1_000,
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
    const [answer] = await counter.stub().purchases({ ...QUESTION, ...more });
    if (!answer) throw new Error('there are devices');
    return { ...answer, histories: [...answer.histories], spending: [...answer.spending] };
  };
}

it('reports how often, until when and for how much devices purchased, grouped by equal histories', async () => {
  const ask = await start([
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
  ]);
  const answer = await ask();
  expect(answer).toMatchObject({ cohort: '', key: '', size: 5, payers: 3, revenue: 22, unconverted: [] });
  expect(answer.histories).toEqual([0, 0, 30.5, 2, 0, 2, 4.5, 30.5, 1, 6, 1, 2.5, 30.5, 2, 10]);
  const values = [6, 8, 2];
  expect(answer.spending.filter((_, index) => index % 3 !== 1)).toEqual([2, 1, 1, 1, 1, 1]);
  for (const [index, value] of values.entries()) {
    expect(Math.abs((answer.spending[3 * index + 1] ?? 0) / value - 1)).toBeLessThan(0.006);
  }
  expect(await ask({ cohortBy: 'week' })).toMatchObject({ cohort: '2026-W09' });
  expect(await ask({ rates: { usd: 1 } })).toMatchObject({ unconverted: ['eur'], revenue: 16 });
});

it('rounds times if there are too many histories', async () => {
  const days = Array.from({ length: 12 }, (_, index) => `2026-03-${String(index + 5).padStart(2, '0')}`);
  const ask = await start(days.map((day) => [[day, 1_000_000_000]]));
  expect((await ask({ maxHistories: 12 })).histories).toHaveLength(12 * 5);
  const { histories } = await ask({ maxHistories: 6 });
  expect(histories.length / 5).toBeLessThanOrEqual(6);
  expect(histories.filter((_, index) => index % 5 === 3).reduce((sum, devices) => sum + devices, 0)).toBe(12);
  for (let row = 0; row < histories.length; row += 5) {
    expect(histories[row + 1]).toBeLessThanOrEqual(histories[row + 2] ?? 0);
  }
});
