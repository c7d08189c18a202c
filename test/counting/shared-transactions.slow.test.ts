import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { readRevenue } from '#rollup';
import { eventOf, startCounter, type TestCounter } from '../helpers/counter.ts';
import { WatchedStorage } from '../helpers/storage.ts';

// One payment of which several counters of an application learn: it counts once.

type StoreEvent = Extract<LoggedEvent, { type: 'store' }>;
type Purchase = Extract<LoggedEvent, { type: 'custom.purchase' }>;
const UNIT = 1_000_000_000;

/** Counters of one application, each with a device. Only the later ones know of those before them. */
async function start(shards = 3) {
  const applicationId = newId('app');
  const counters = Array.from({ length: shards }, (_, shard) => startCounter(applicationId, shard));
  const creativeId = newId('crt');
  const devices = await Promise.all(
    counters.map(async (counter, shard) => {
      const created = await counter.createDevice({ creativeId, shards: shard + 1 });
      if (created.outcome === 'moved') throw new Error('without an alias, no device moves');
      return created.device;
    }),
  );
  const at = (shard: number): TestCounter => counters[shard] ?? fail();
  const told = (status: StoreEvent['status'], day: string, units: number, more: Partial<StoreEvent> = {}) =>
    ({
      ...{ type: 'store', id: newId('evt'), application_id: applicationId, day, status },
      ...{ occurred_at: Date.parse(`${day}T12:00:00Z`), received_at: Date.parse(`${day}T12:00:01Z`) },
      ...{ store: 'apple', value_nanos: units * UNIT, currency: 'usd', tr_id: 't1', os_family: 'ios' },
      ...{ creative_id: null, ...more },
    }) as StoreEvent;
  const sent = (shard: number, day: string, units: number, more: Partial<Purchase> = {}) =>
    eventOf(applicationId, devices[shard] ?? fail(), 'custom.purchase', {
      ...{ day, tr_id: 't1', value_nanos: units * UNIT, shard, keys: [`success:t:${more.tr_id ?? 't1'}`] },
      ...more,
    } as Partial<Purchase>);
  const count = async (shard: number, ...events: LoggedEvent[]) => {
    await untilDone(() => at(shard).append(events));
    await untilDone(() => at(shard).stub().settle());
  };
  const kill = async (shard: number) => {
    await at(shard).stub().health();
    await evictDurableObject(at(shard).stub());
  };
  /** Lets the counters tell each other, until none has anything to tell or to count. */
  const quiet = async () => {
    for (let [isBusy, round] = [true, 0]; isBusy; round++) {
      if (round === 20) throw new Error('The counters do not end telling each other');
      isBusy = false;
      for (const { stub, inside } of counters) {
        await untilDone(() => stub().settle());
        await inside((counter) => Object.assign(counter, { tellAt: 0 }));
        await runDurableObjectAlarm(stub());
      }
      for (const { stub, inside } of counters) {
        const { pending } = await stub().health();
        const untold = await inside((_, { storage }) => [
          ...storage.sql.exec('SELECT 1 FROM untold_transactions'),
        ]);
        isBusy ||= pending > 0 || untold.length > 0;
      }
    }
  };
  const rows = async (table: string, columns: string) => {
    const { results } = await env.DB.prepare(
      `SELECT ${columns} FROM ${table} WHERE application_id = ? GROUP BY 1, 2 ORDER BY 1, 2`,
    )
      .bind(applicationId)
      .all<Record<string, number | string>>();
    return results
      .map((row) => Object.values(row))
      .filter((row) => row.slice(2).some((value) => value !== 0));
  };
  /** Day, paid or not; then purchases, revenue, returned, refunds, refunded, trials. */
  const days = () =>
    rows(
      'rollup_daily',
      `day, attribution, sum(purchases), sum(purchase_revenue) / 1e9, sum(returned_revenue) / 1e9, sum(refunds),
       sum(refunded_revenue) / 1e9, sum(trials)`,
    );
  /** Day, paid or not; then revenue and what was returned of it. */
  const cohorts = () =>
    rows('cohort_revenue', 'day, attribution, sum(purchase_revenue) / 1e9, sum(returned_revenue) / 1e9');
  /** What a device earned, and what was returned of it. */
  const earned = async (shard: number) => {
    const device = await at(shard)
      .stub()
      .readDevice(devices[shard]?.id ?? '');
    const bands = readRevenue(device?.revenue ?? null).flatMap(({ bands }) => Object.values(bands));
    return (['purchase', 'returned'] as const).map((name) =>
      bands.reduce((sum, band) => sum + band[name] / UNIT, 0),
    );
  };
  return { applicationId, counters, at, told, sent, count, quiet, kill, days, cohorts, earned, devices };
}

/** What the platform does with a call that failed. */
async function untilDone(call: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await call();
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

const fail = (): never => {
  throw new Error('no such counter');
};

const OF_DEVICE = [
  ['2026-03-03', 'paid', 1, 9, 9, 0, 0, 0],
  ['2026-03-04', 'paid', 0, 0, 0, 1, 9, 0],
];

const ORDERS: [string, number[]][] = [
  ['the store, the client, the refund', [0, 1, 2]],
  ['the client, the store, the refund', [1, 0, 2]],
  ['the refund, the client, the store', [2, 1, 0]],
  ['the client, the refund, the store', [1, 2, 0]],
  ['the store, the refund, the client', [0, 2, 1]],
  ['the refund, the store, the client', [2, 0, 1]],
];

it.each(ORDERS)('counts a payment once, whichever counter learns first what: %s', async (_, order) => {
  for (const client of [0, 1, 2]) {
    for (const isQuietBetween of [true, false]) {
      const { told, sent, count, quiet, days, cohorts, earned } = await start();
      const store = (client + 1) % 3;
      const all: [number, LoggedEvent][] = [
        [store, told('purchase', '2026-03-02', 9)],
        [client, sent(client, '2026-03-03', 10)],
        [store, told('refunded', '2026-03-04', 0)],
      ];
      for (const [shard, event] of order.flatMap((place) => [all[place] ?? fail()])) {
        await count(shard, event);
        if (isQuietBetween) await quiet();
      }
      await quiet();
      expect(await days()).toEqual(OF_DEVICE);
      expect(await cohorts()).toEqual([['2026-03-03', 'paid', 9, 9]]);
      expect(await earned(client)).toEqual([9, 9]);
    }
  }
});

it('counts what two services tell different counters for different devices once a client tells of it', async () => {
  const { told, sent, count, quiet, days, cohorts, earned, devices } = await start();
  const named = devices[1] ?? fail();
  const ofDevice = { device_id: named.id, acquired_day: named.acquiredDay, creative_id: named.creativeId };
  await count(1, told('purchase', '2026-03-02', 9, { ...ofDevice, shard: 1 }));
  await count(0, told('purchase', '2026-03-02', 9, { store: 'revenuecat' }));
  await count(2, sent(2, '2026-03-03', 10));
  await quiet();
  expect(await days()).toEqual([['2026-03-03', 'paid', 1, 9, 0, 0, 0, 0]]);
  expect(await cohorts()).toEqual([['2026-03-03', 'paid', 9, 0]]);
  expect([await earned(0), await earned(1), await earned(2)]).toEqual([
    [0, 0],
    [0, 0],
    [9, 0],
  ]);
});

it.each(ORDERS)(
  'lets the device that paid alone earn by it, whichever counter learns first what: %s',
  async (_, order) => {
    for (const isQuietBetween of [true, false]) {
      const { told, sent, count, quiet, cohorts, earned, devices } = await start();
      const named = devices[1] ?? fail();
      const ofDevice = {
        device_id: named.id,
        acquired_day: named.acquiredDay,
        creative_id: named.creativeId,
      };
      const all: [number, LoggedEvent][] = [
        [1, told('purchase', '2026-03-02', 9, { ...ofDevice, shard: 1 })],
        [2, sent(2, '2026-03-03', 10)],
        [1, told('refunded', '2026-03-04', 4)],
      ];
      for (const [shard, event] of order.flatMap((place) => [all[place] ?? fail()])) {
        await count(shard, event);
        if (isQuietBetween) await quiet();
      }
      await quiet();
      expect(await cohorts()).toEqual([['2026-03-03', 'paid', 9, 4]]);
      expect([await earned(1), await earned(2)]).toEqual([
        [0, 0],
        [9, 4],
      ]);
    }
  },
);

it('counts a renewal that another device sends for that device alone', async () => {
  const { told, sent, count, quiet, days, cohorts, earned } = await start();
  await count(1, sent(1, '2026-03-02', 10));
  const renewal = { tr_id: 't2', original_tr_id: 't1' };
  await count(1, told('renewal', '2026-04-02', 10, renewal));
  await quiet();
  await count(2, sent(2, '2026-04-03', 11, { tr_id: 't2' }));
  await quiet();
  expect(await days()).toEqual([
    ['2026-03-02', 'paid', 1, 10, 0, 0, 0, 0],
    ['2026-04-03', 'paid', 1, 10, 0, 0, 0, 0],
  ]);
  expect(await cohorts()).toEqual([
    ['2026-03-02', 'paid', 10, 0],
    ['2026-04-03', 'paid', 10, 0],
  ]);
  expect(await earned(2)).toEqual([10, 0]);
});

it('counts a refund that is sent with a device of another counter', async () => {
  const { sent, count, quiet, days } = await start();
  const refund = sent(2, '2026-03-05', 4, { status: 'refunded', keys: [] });
  await count(2, refund);
  await count(0, sent(0, '2026-03-02', 10));
  await quiet();
  expect(await days()).toEqual([
    ['2026-03-02', 'paid', 1, 10, 4, 0, 0, 0],
    ['2026-03-05', 'paid', 0, 0, 0, 1, 4, 0],
  ]);
});

it('finds what the first counter counted while the application had no other', async () => {
  const { told, sent, count, quiet, days, at } = await start(1);
  await count(0, told('purchase', '2026-03-02', 9), told('refunded', '2026-03-04', 4));
  const untold = async () =>
    at(0).inside((_, { storage }) => [...storage.sql.exec('SELECT 1 FROM untold_transactions')].length);
  expect(await untold()).toBe(0);
  await quiet();
  const later = startCounter(at(0).applicationId, 2);
  const created = await later.createDevice({ shards: 3 });
  if (created.outcome === 'moved') throw new Error('without an alias, no device moves');
  const purchase = {
    ...sent(0, '2026-03-03', 10),
    device_id: created.device.id,
    creative_id: null,
    shard: 2,
  };
  await later.append([purchase as LoggedEvent]);
  await later.stub().settle();
  await runDurableObjectAlarm(later.stub());
  await later.stub().settle();
  expect(await days()).toEqual([
    ['2026-03-03', 'organic', 1, 9, 4, 0, 0, 0],
    ['2026-03-04', 'organic', 0, 0, 0, 1, 4, 0],
  ]);
});

it('counts the same whichever counters learn of transactions, in whatever order, whatever fails in between', async () => {
  const [units, shard] = [fc.integer({ min: 1, max: 12 }), fc.nat({ max: 2 })];
  const transaction = fc.record({
    client: fc.option(fc.record({ units, shard })),
    told: fc.option(
      fc.record({ status: fc.constantFrom('purchase', 'trial'), units, shard, namesDevice: fc.boolean() }),
    ),
    refunds: fc.array(fc.record({ units: fc.integer({ min: 0, max: 8 }), byStore: fc.boolean(), shard }), {
      maxLength: 3,
    }),
  });
  const fault = fc.record({
    matches: fc.constantFrom(/untold_transactions/, /into "log"/i, /INTO "transactions"/),
    when: fc.constantFrom('before', 'after', 'commit'),
    times: fc.integer({ min: 0, max: 2 }),
  });
  const property = fc.asyncProperty(
    fc.array(transaction, { minLength: 1, maxLength: 3 }),
    fc.tuple(fault, fault, fault),
    fc.infiniteStream(fc.nat({ max: 1_000 })),
    async (transactions, faults, random) => {
      const { told, sent, count, quiet, days, earned, counters, devices, kill } = await start();
      const ofDevice = (shard: number) => {
        const { id, acquiredDay, creativeId } = devices[shard] ?? fail();
        return { device_id: id, acquired_day: acquiredDay, creative_id: creativeId, shard };
      };
      for (const [index, { matches, when, times }] of faults.entries()) {
        await counters[index]?.inside((counter, { storage }) => {
          const watched = new WatchedStorage(storage);
          watched.failOn(matches, when as 'before', times);
          counter.use(watched.asStorage());
        });
      }
      const next = () => random.next().value ?? 0;
      const expected = { purchases: 0, revenue: 0, returned: 0, trials: 0, paid: 0 };
      const earnedThere = counters.map(() => [0, 0] as [number, number]);
      const events: (() => [number, LoggedEvent])[] = [];
      for (const [index, own] of transactions.entries()) {
        const { client, told: payment } = own;
        const tr_id = `t${index}`;
        const worth = payment ? (payment.status === 'trial' ? 0 : payment.units) : (client?.units ?? 0);
        const isPurchase = client !== null || payment?.status === 'purchase';
        expected.purchases += isPurchase ? 1 : 0;
        expected.revenue += isPurchase ? worth : 0;
        const payer = client ?? (payment?.namesDevice ? payment : null);
        expected.paid += payer && isPurchase ? worth : 0;
        expected.trials += payment?.status === 'trial' ? 1 : 0;
        const asked = own.refunds.reduce((sum, refund) => sum + (refund.units || worth), 0);
        const returned = isPurchase ? Math.min(worth, asked) : 0;
        expected.returned += returned;
        const there = payer && earnedThere[payer.shard];
        if (there && isPurchase) {
          there[0] += worth;
          there[1] += returned;
        }
        const once = <Event>(make: () => Event) => {
          let made: Event | undefined;
          return () => {
            made ??= make();
            return made;
          };
        };
        const add = (at: number, make: () => LoggedEvent) => {
          const event = once(make);
          // A message may be delivered again.
          for (let copies = 1 + (next() % 2); copies > 0; copies--) events.push(() => [at, event()]);
        };
        if (client) add(client.shard, () => sent(client.shard, '2026-03-02', client.units, { tr_id }));
        if (payment) {
          const { status } = payment;
          const value = status === 'trial' ? 0 : payment.units;
          const named = payment.namesDevice ? ofDevice(payment.shard) : {};
          add(payment.shard, () => told(status as 'trial', '2026-03-03', value, { tr_id, ...named }));
        }
        for (const refund of own.refunds) {
          // As long as no client sent the purchase, a refund goes to the counter of the payment.
          const at = client ? refund.shard : (payment?.shard ?? refund.shard);
          const more = { tr_id, status: 'refunded' as const, keys: [] };
          add(at, () =>
            refund.byStore
              ? told('refunded', '2026-03-05', refund.units, { tr_id })
              : sent(at, '2026-03-05', refund.units, more),
          );
        }
      }
      const shuffled = events.map((make) => ({ make, by: next() })).sort((left, right) => left.by - right.by);
      for (const { make } of shuffled) {
        await count(...make());
        const then = next() % 6;
        if (then === 0) await quiet();
        if (then === 1) await kill(next() % 3);
      }
      await quiet();
      const rows = await days();
      const sum = (column: number, of = rows) => of.reduce((total, row) => total + Number(row[column]), 0);
      expect({
        ...{ purchases: sum(2), revenue: sum(3), returned: sum(4), trials: sum(7) },
        paid: sum(
          3,
          rows.filter((row) => row[1] === 'paid'),
        ),
      }).toEqual(expected);
      expect(sum(6)).toBe(expected.returned);
      expect(await Promise.all(counters.map((_, shard) => earned(shard)))).toEqual(earnedThere);
    },
  );
  await fc.assert(property, { numRuns: 15 });
});
