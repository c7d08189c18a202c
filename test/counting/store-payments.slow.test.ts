import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { readRevenue } from '#rollup';
import { eventOf, startCounter } from '../helpers/counter.ts';

// What stores tell of payments, with and without what clients tell of the same ones.

type StoreEvent = Extract<LoggedEvent, { type: 'store' }>;
type Purchase = Extract<LoggedEvent, { type: 'custom.purchase' }>;
const UNIT = 1_000_000_000;

async function start() {
  const counter = startCounter();
  const { applicationId } = counter;
  const creativeId = newId('crt');
  const created = await counter.createDevice({ creativeId });
  if (created.outcome === 'moved') throw new Error('one shard');
  const told = (
    status: StoreEvent['status'],
    day: string,
    units: number,
    more: Partial<StoreEvent> = {},
  ) => ({
    ...{ type: 'store' as const, id: newId('evt'), application_id: applicationId, day, status },
    ...{ occurred_at: Date.parse(`${day}T12:00:00Z`), received_at: Date.parse(`${day}T12:00:01Z`) },
    ...{ store: 'apple' as const, value_nanos: units * UNIT, currency: 'usd', tr_id: 't1' },
    ...{ creative_id: null, ...more },
  });
  const sent = (day: string, units: number, more: Partial<Purchase> = {}) =>
    eventOf(applicationId, created.device, 'custom.purchase', {
      ...{ day, tr_id: 't1', value_nanos: units * UNIT, ...more },
    } as Partial<Purchase>);
  const count = async (...events: LoggedEvent[]) => {
    await counter.append(events);
    await counter.stub().settle();
  };
  const rows = async (table: string, columns: string) => {
    const { results } = await env.DB.prepare(
      `SELECT ${columns} FROM ${table} WHERE application_id = ? GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    )
      .bind(applicationId)
      .all<Record<string, number | string>>();
    return results
      .map((row) => Object.values(row))
      .filter((row) => row.slice(3).some((value) => value !== 0));
  };
  /** Day, paid or not, currency; then purchases, revenue, returned, refunds, refunded, trials, renewals. */
  const days = () =>
    rows(
      'rollup_daily',
      `day, attribution, currency, sum(purchases), sum(purchase_revenue) / 1e9, sum(returned_revenue) / 1e9,
       sum(refunds), sum(refunded_revenue) / 1e9, sum(trials), sum(renewals)`,
    );
  /** Day, paid or not, currency; then revenue and what was returned of it. */
  const cohorts = () =>
    rows(
      'cohort_revenue',
      'day, attribution, currency, sum(purchase_revenue) / 1e9, sum(returned_revenue) / 1e9',
    );
  /** What the device earned, by currency: units of purchases, and what was returned of them. */
  const earned = async () => {
    const device = await counter.stub().readDevice(created.device.id);
    return readRevenue(device?.revenue ?? null).map(({ currency, bands }) => [
      currency,
      ...(['purchase', 'returned'] as const).map((name) =>
        Object.values(bands).reduce((sum, band) => sum + band[name] / UNIT, 0),
      ),
    ]);
  };
  return { counter, told, sent, count, days, cohorts, earned, creativeId, device: created.device };
}

it('counts what a store tells without a device, in no cohort', async () => {
  const { told, count, days, cohorts } = await start();
  await count(told('purchase', '2026-03-02', 10), told('refunded', '2026-03-04', 4));
  expect(await days()).toEqual([
    ['2026-03-02', 'organic', 'usd', 1, 10, 4, 0, 0, 0, 0],
    ['2026-03-04', 'organic', 'usd', 0, 0, 0, 1, 4, 0, 0],
  ]);
  expect(await cohorts()).toEqual([]);
});

const OF_DEVICE = [
  ['2026-03-03', 'paid', 'usd', 1, 9, 9, 0, 0, 0, 0],
  ['2026-03-04', 'paid', 'usd', 0, 0, 0, 1, 9, 0, 0],
];

it.each([
  ['the store, the client, the refund', [0, 1, 2]],
  ['the client, the store, the refund', [1, 0, 2]],
  ['the refund, the client, the store', [2, 1, 0]],
  ['the client, the refund, the store', [1, 2, 0]],
  ['the store, the refund, the client', [0, 2, 1]],
  ['the refund, the store, the client', [2, 0, 1]],
])('counts a payment once, with the store’s amount and the client’s device: %s', async (_, order) => {
  for (const isAtOnce of [true, false]) {
    const { told, sent, count, days, cohorts, earned } = await start();
    const all = [
      told('purchase', '2026-03-02', 9),
      sent('2026-03-03', 10),
      told('refunded', '2026-03-04', 0),
    ];
    const events = order.flatMap((place) => all[place] ?? []);
    if (isAtOnce) await count(...events);
    else for (const event of events) await count(event);
    // A refund that came before the client's purchase was known counted for no device.
    const rows = await days();
    const isOfNone = order.indexOf(2) < order.indexOf(1) && order.indexOf(0) < order.indexOf(1);
    const expected = OF_DEVICE.map((row) =>
      isOfNone && row[0] === '2026-03-04' ? [row[0], 'organic', ...row.slice(2)] : row,
    );
    expect(rows).toEqual(expected);
    expect(await cohorts()).toEqual([['2026-03-03', 'paid', 'usd', 9, 9]]);
    expect(await earned()).toEqual([['usd', 9, 9]]);
  }
});

it('replaces the amount of a client in another currency', async () => {
  const { told, sent, count, days, cohorts, earned } = await start();
  await count(sent('2026-03-03', 10));
  await count(told('purchase', '2026-03-02', 9, { currency: 'eur' }));
  expect(await earned()).toEqual([['eur', 9, 0]]);
  expect(await days()).toEqual([['2026-03-03', 'paid', 'eur', 1, 9, 0, 0, 0, 0, 0]]);
  expect(await cohorts()).toEqual([['2026-03-03', 'paid', 'eur', 9, 0]]);
});

it('counts renewals for the device of the first payment', async () => {
  const { told, sent, count, days, cohorts, earned } = await start();
  await count(sent('2026-03-02', 10));
  const renewal = { tr_id: 't2', original_tr_id: 't1' };
  await count(told('renewal', '2026-04-02', 10, renewal), told('refunded', '2026-04-03', 0, renewal));
  await count(told('renewal', '2026-05-02', 10, { tr_id: 't3', original_tr_id: 't1' }));
  expect(await days()).toEqual([
    ['2026-03-02', 'paid', 'usd', 1, 10, 0, 0, 0, 0, 0],
    ['2026-04-02', 'paid', '', 0, 0, 0, 0, 0, 0, 1],
    ['2026-04-02', 'paid', 'usd', 1, 10, 10, 0, 0, 0, 0],
    ['2026-04-03', 'paid', 'usd', 0, 0, 0, 1, 10, 0, 0],
    ['2026-05-02', 'paid', '', 0, 0, 0, 0, 0, 0, 1],
    ['2026-05-02', 'paid', 'usd', 1, 10, 0, 0, 0, 0, 0],
  ]);
  expect(await earned()).toEqual([['usd', 30, 10]]);
  expect(await cohorts()).toEqual([
    ['2026-03-02', 'paid', 'usd', 10, 0],
    ['2026-04-02', 'paid', 'usd', 10, 10],
    ['2026-05-02', 'paid', 'usd', 10, 0],
  ]);
});

it('counts what a store tells of a known device for its creative and cohort', async () => {
  const { told, count, days, cohorts, creativeId } = await start();
  await count(told('purchase', '2026-03-02', 10, { creative_id: creativeId, acquired_day: '2026-03-01' }));
  expect(await days()).toEqual([['2026-03-02', 'paid', 'usd', 1, 10, 0, 0, 0, 0, 0]]);
  expect(await cohorts()).toEqual([['2026-03-02', 'paid', 'usd', 10, 0]]);
});

it.each([[true], [false]])(
  'counts a trial as such, and nothing as paid for it (store first: %s)',
  async (first) => {
    const { told, sent, count, days, cohorts } = await start();
    const events = [told('trial', '2026-03-02', 0), sent('2026-03-03', 10)];
    for (const event of first ? events : events.toReversed()) await count(event);
    const rows = await days();
    expect(rows.flatMap((row) => row.slice(3, 5))).toEqual(expect.arrayContaining([1]));
    const sum = (place: number) => rows.reduce((total, row) => total + Number(row[place]), 0);
    expect([sum(3), sum(4), sum(8)]).toEqual([1, 0, 1]);
    expect(rows.every((row) => row[0] === '2026-03-03' && row[1] === 'paid')).toBe(true);
    expect(await cohorts()).toEqual([]);
  },
);

it('counts once what two services tell, and a notification that is delivered again', async () => {
  const { told, count, days } = await start();
  const event = told('purchase', '2026-03-02', 10);
  await count(event, told('purchase', '2026-03-02', 11, { store: 'revenuecat' }));
  await count(event);
  const refund = told('refunded', '2026-03-03', 4);
  await count(refund, refund);
  await count(refund);
  expect(await days()).toEqual([
    ['2026-03-02', 'organic', 'usd', 1, 10, 4, 0, 0, 0, 0],
    ['2026-03-03', 'organic', 'usd', 0, 0, 0, 1, 4, 0, 0],
  ]);
});

it('counts the same in whatever order and batches stores and clients tell', async () => {
  const units = fc.integer({ min: 1, max: 12 });
  const transaction = fc.record({
    client: fc.option(units),
    told: fc.option(fc.record({ status: fc.constantFrom('purchase', 'renewal', 'trial'), units })),
    refunds: fc.array(fc.record({ units: fc.integer({ min: 0, max: 8 }), byStore: fc.boolean() }), {
      maxLength: 3,
    }),
  });
  const property = fc.asyncProperty(
    fc.array(transaction, { minLength: 1, maxLength: 3 }),
    fc.infiniteStream(fc.integer({ min: 0, max: 1_000 })),
    async (transactions, random) => {
      const { told, sent, count, days } = await start();
      const expected = { purchases: 0, revenue: 0, returned: 0, trials: 0, renewals: 0, paid: 0 };
      const events: (() => LoggedEvent)[] = [];
      for (const [index, own] of transactions.entries()) {
        const tr_id = `t${index}`;
        // A trial costs nothing, whatever a client says.
        const worth = own.told ? (own.told.status === 'trial' ? 0 : own.told.units) : (own.client ?? 0);
        const isPurchase = own.client !== null || (own.told !== null && own.told.status !== 'trial');
        expected.purchases += isPurchase ? 1 : 0;
        expected.revenue += isPurchase ? worth : 0;
        expected.paid += own.client !== null ? worth : 0;
        expected.trials += own.told?.status === 'trial' ? 1 : 0;
        expected.renewals += own.told?.status === 'renewal' ? 1 : 0;
        const asked = own.refunds.reduce((sum, refund) => sum + (refund.units || worth), 0);
        expected.returned += isPurchase ? Math.min(worth, asked) : 0;
        const { client, told: payment } = own;
        if (client !== null) events.push(() => sent('2026-03-02', client, { tr_id }));
        if (payment) {
          const { status } = payment;
          events.push(() => told(status, '2026-03-03', status === 'trial' ? 0 : payment.units, { tr_id }));
        }
        for (const refund of own.refunds) {
          const more = { tr_id, status: 'refunded' as const };
          events.push(() =>
            refund.byStore
              ? told('refunded', '2026-03-05', refund.units, { tr_id })
              : sent('2026-03-05', refund.units, more),
          );
        }
      }
      const next = () => random.next().value ?? 0;
      const shuffled = events.map((make) => ({ make, by: next() })).sort((left, right) => left.by - right.by);
      for (let at = 0; at < shuffled.length; ) {
        const size = 1 + (next() % 4);
        await count(...shuffled.slice(at, at + size).map(({ make }) => make()));
        at += size;
      }
      const rows = await days();
      const sum = (column: number, of = rows) => of.reduce((total, row) => total + Number(row[column]), 0);
      expect({
        ...{ purchases: sum(3), revenue: sum(4), returned: sum(5), trials: sum(8), renewals: sum(9) },
        paid: sum(
          4,
          rows.filter((row) => row[1] === 'paid'),
        ),
      }).toEqual(expected);
      // What was refunded stands on the day of the refund, too.
      expect(sum(7)).toBe(expected.returned);
    },
  );
  await fc.assert(property, { numRuns: 25 });
});
