import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { eventOf, startCounter, type TestCounter } from '../helpers/counter.ts';

// What refunds change: the day on which they happen, and the day and cohort of their purchase.

type Own = Partial<Extract<LoggedEvent, { type: 'custom.purchase' }>>;
const UNIT = 1_000_000_000;

async function start({
  applicationId,
  shard = 0,
  ...more
}: {
  creativeId?: string;
  applicationId?: string;
  shard?: number;
} = {}) {
  const counter = startCounter(applicationId, shard);
  const created = await counter.createDevice({ ...more, shards: shard + 1 });
  if (created.outcome === 'moved') throw new Error('one shard');
  const of = (day: string, own: Own = {}) =>
    eventOf(counter.applicationId, created.device, 'custom.purchase', {
      ...{ day, tr_id: 'tr_1', value_nanos: 10 * UNIT, ...(shard > 0 && { shard }), ...own },
    } as Own);
  const refund = (day: string, units = 0, own: Own = {}) =>
    of(day, { status: 'refunded', value_nanos: units * UNIT, ...own });
  const reversal = (day: string, units = 0) =>
    of(day, { status: 'refund_reversed', value_nanos: units * UNIT });
  const count = async (...events: LoggedEvent[]) => {
    await counter.append(events);
    await counter.stub().settle();
  };
  return { counter, of, refund, reversal, count, device: created.device };
}

/** The days with refunds: how many, what was refunded on the day, and what was refunded of its purchases. */
async function daysOf({ applicationId }: TestCounter) {
  const { results } = await env.DB.prepare(
    `SELECT day, currency, sum(refunds) AS refunds, sum(refunded_revenue) / 1e9 AS refunded,
       sum(returned_revenue) / 1e9 AS returned FROM rollup_daily
     WHERE application_id = ? AND (refunds <> 0 OR refunded_revenue <> 0 OR returned_revenue <> 0)
     GROUP BY 1, 2 ORDER BY 1, 2`,
  )
    .bind(applicationId)
    .all<{ day: string; currency: string; refunds: number; refunded: number; returned: number }>();
  return results.map((row) => [row.day, row.currency, row.refunds, row.refunded, row.returned]);
}

async function cohortOf({ applicationId }: TestCounter) {
  const { results } = await env.DB.prepare(
    `SELECT acquired_day, attribution, day, currency, returned_revenue / 1e9 AS returned FROM cohort_revenue
     WHERE application_id = ? AND returned_revenue <> 0`,
  )
    .bind(applicationId)
    .all();
  return results;
}

const BOTH_DAYS = [
  ['2026-03-02', 'usd', 0, 0, 10],
  ['2026-03-20', 'usd', 1, 10, 0],
];

it('counts a late refund on its day, and against the day and cohort of its purchase', async () => {
  const { counter, of, refund, count } = await start({ creativeId: newId('crt') });
  await count(of('2026-03-02'));
  await count(refund('2026-03-20'));
  expect(await daysOf(counter)).toEqual(BOTH_DAYS);
  expect(await cohortOf(counter)).toEqual([
    { acquired_day: '2026-03-01', attribution: 'paid', day: '2026-03-02', currency: 'usd', returned: 10 },
  ]);
});

it('lets a refund wait for its purchase', async () => {
  const { counter, of, refund, count } = await start();
  await count(refund('2026-03-20'));
  expect(await daysOf(counter)).toEqual([]);
  await count(of('2026-03-02'));
  expect(await daysOf(counter)).toEqual(BOTH_DAYS);
  // Nothing is left to take back: a refund all the same.
  await count(refund('2026-03-21'));
  expect(await daysOf(counter)).toEqual([...BOTH_DAYS, ['2026-03-21', 'usd', 1, 0, 0]]);
});

it('finds the purchase in the same batch and in the same run', async () => {
  const { counter, of, refund, count } = await start();
  const other = { tr_id: 'tr_2' };
  await counter.append([of('2026-03-02', other)]);
  await count(refund('2026-03-20', 0, other), of('2026-03-03'), refund('2026-03-20'));
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 10],
    ['2026-03-03', 'usd', 0, 0, 10],
    ['2026-03-20', 'usd', 2, 20, 0],
  ]);
});

it('takes back parts, but never more than the purchase', async () => {
  const { counter, of, refund, count } = await start();
  await count(of('2026-03-02'), refund('2026-03-03', 4));
  await count(refund('2026-03-04', 4));
  await count(refund('2026-03-05', 4), refund('2026-03-06', 4));
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 10],
    ['2026-03-03', 'usd', 1, 4, 0],
    ['2026-03-04', 'usd', 1, 4, 0],
    ['2026-03-05', 'usd', 1, 2, 0],
    ['2026-03-06', 'usd', 1, 0, 0],
  ]);
});

it('puts back what a reversal names', async () => {
  const { counter, of, refund, reversal, count } = await start();
  await count(of('2026-03-02'), refund('2026-03-03'));
  await count(reversal('2026-03-09', 3));
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 7],
    ['2026-03-03', 'usd', 1, 10, 0],
    ['2026-03-09', 'usd', 0, -3, 0],
  ]);
  await count(reversal('2026-03-10'));
  expect((await daysOf(counter)).slice(1)).toEqual([
    ['2026-03-09', 'usd', 0, -3, 0],
    ['2026-03-10', 'usd', 0, -7, 0],
  ]);
});

it('counts a refund in another currency once, in that currency', async () => {
  const { counter, of, refund, count } = await start();
  const inEuros = { currency: 'eur' } as const;
  await count(of('2026-03-02'), refund('2026-03-03', 9, inEuros), refund('2026-03-04', 9, inEuros));
  await count(refund('2026-03-05'));
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'eur', 0, 0, 9],
    ['2026-03-03', 'eur', 1, 9, 0],
    ['2026-03-04', 'eur', 1, 0, 0],
    ['2026-03-05', 'usd', 1, 0, 0],
  ]);
});

it('counts nothing twice that is delivered again or repeated with its key', async () => {
  const { counter, of, refund, count } = await start();
  const [purchase, half] = [
    of('2026-03-02', { keys: ['success:t:tr_1'] }),
    refund('2026-03-03', 5, { keys: ['refunded:e:1'] }),
  ];
  await count(purchase, half);
  await count(purchase, half, refund('2026-03-03', 5, { keys: ['refunded:e:1'] }));
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 5],
    ['2026-03-03', 'usd', 1, 5, 0],
  ]);
});

it('counts at most 50 refunds of one purchase, however many are sent before and after it', async () => {
  const { counter, of, refund, count } = await start();
  const refunds = () => Array.from({ length: 40 }, () => refund('2026-03-03', 0.01));
  await count(...refunds());
  await count(...refunds(), of('2026-03-02'));
  await count(...refunds());
  expect(await daysOf(counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 0.5],
    ['2026-03-03', 'usd', 50, 0.5, 0],
  ]);
});

it('does not find a purchase that another shard counted, and says that the refund waits', async () => {
  const applicationId = newId('app');
  const [home, other] = await Promise.all([start({ applicationId }), start({ applicationId, shard: 1 })]);
  await home.count(home.of('2026-03-02'));
  const [late, own] = [other.refund('2026-03-20'), home.refund('2026-03-20', 4)];
  await other.count(late);
  await home.count(own);
  expect(await daysOf(home.counter)).toEqual([
    ['2026-03-02', 'usd', 0, 0, 4],
    ['2026-03-20', 'usd', 1, 4, 0],
  ]);
  expect(await other.counter.stub().isWaiting(late)).toBe(true);
  expect(await home.counter.stub().isWaiting(own)).toBe(false);
});

it('takes nothing back of a purchase that failed', async () => {
  const { counter, of, refund, count } = await start();
  await count(of('2026-03-02', { status: 'failed' }), refund('2026-03-03'));
  expect(await daysOf(counter)).toEqual([]);
});

it('returns the same of a purchase in whatever order its refunds arrive', async () => {
  const step = fc.record({ units: fc.integer({ min: 0, max: 12 }), isReversal: fc.boolean() });
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 5 }),
    fc.integer({ min: 0, max: 1e6 }),
    async (steps, seed) => {
      const { counter, of, refund, reversal, count } = await start();
      // Made when they arrive, so that their ids do not tell when they happened.
      const inOrder = steps.map(
        ({ units, isReversal }, at) =>
          () =>
            (isReversal ? reversal : refund)(`2026-03-${String(at + 3).padStart(2, '0')}`, units),
      );
      let taken = 0;
      for (const { units, isReversal } of steps) {
        const amount = units === 0 ? 10 : units;
        taken = isReversal ? Math.max(0, taken - amount) : Math.min(10, taken + amount);
      }
      const shuffled = [() => of('2026-03-02'), ...inOrder]
        .map((make, at) => ({ make, by: ((at + 1) * (seed + 7)) % 13 }))
        .sort((left, right) => left.by - right.by);
      for (const { make } of shuffled) await count(make());
      const days = await daysOf(counter);
      const sumOf = (column: 3 | 4) => days.reduce((sum, row) => sum + Number(row[column]), 0);
      expect([sumOf(3), sumOf(4)]).toEqual([taken, taken]);
    },
  );
  await fc.assert(property, { numRuns: 15 });
});

/** The revenue of the devices acquired on the first of March by day 30, gross and without refunds and a fee of 30 %. */
async function earnedOf(counter: TestCounter) {
  const ask = async (net: { storeFeeBasisPoints: number } | null) => {
    const { days } = await counter.stub().outcomes({
      ...{ cohort: { from: '2026-03-01', to: '2026-03-01' }, filter: {}, days: [30], today: '2026-06-01' },
      ...{ rates: { usd: 1, eur: 2 }, net },
    });
    const revenue = days[0]?.revenue;
    return revenue ? Math.round(revenue.mean * revenue.size * 1e6) / 1e6 : null;
  };
  return { gross: await ask(null), net: await ask({ storeFeeBasisPoints: 3_000 }) };
}

it('takes refunds off the device that purchased, whoever tells of them and however late', async () => {
  const { counter, of, refund, count } = await start();
  const told = (day: string, tr_id: string) =>
    ({
      ...{ type: 'store', id: newId('evt'), application_id: counter.applicationId, day, status: 'refunded' },
      ...{ occurred_at: Date.parse(`${day}T12:00:00Z`), received_at: Date.parse(`${day}T12:00:01Z`) },
      ...{ store: 'google', value_nanos: 0, currency: 'xxx', tr_id, creative_id: null },
    }) as LoggedEvent;
  await count(of('2026-03-02'), of('2026-03-05', { tr_id: 'tr_2' }));
  expect(await earnedOf(counter)).toEqual({ gross: 20, net: 14 });
  // The store names no device.
  await count(told('2026-05-01', 'tr_2'));
  expect(await earnedOf(counter)).toEqual({ gross: 20, net: 7 });
  await count(refund('2026-03-03', 4), told('2026-05-02', 'unknown'));
  expect(await earnedOf(counter)).toEqual({ gross: 20, net: 4.2 });
});

it('can read a device again once all of a refund in another currency was reversed', async () => {
  const { counter, of, refund, reversal, count } = await start();
  await count(of('2026-03-02'));
  await count(refund('2026-03-03', 3, { currency: 'eur' }));
  expect(await earnedOf(counter)).toEqual({ gross: 10, net: 2.8 });
  await count(reversal('2026-03-04'));
  await count(of('2026-03-05', { tr_id: 'tr_2' }));
  expect(await earnedOf(counter)).toEqual({ gross: 20, net: 14 });
});
