import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  isStuck,
  queryFunnel,
  readApplicationHealth,
  readArrivals,
  resumeCounting,
  settleCounters,
  sumClientTotals,
  sumFunnel,
} from '#counting';
import { database, delayedMessages } from '#db';
import { newId } from '#lib/ids';
import { MAX_WAIT_MS } from '../../src/counting/questions/application.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';

const SHARDS = 3;

/** An application with a device in each of its counters. */
async function start(shards = SHARDS) {
  const application = { id: newId('app'), shards };
  const parts = [];
  for (let shard = 0; shard < shards; shard++) {
    const counter = startCounter(application.id, shard);
    const created = await counter.createDevice({ shards });
    if (created.outcome === 'moved') throw new Error('a device without an alias can live anywhere');
    const { device } = created;
    const ad = (value_nanos: number, more: object = {}) =>
      eventOf(application.id, device, 'custom.ad', { value_nanos, ...more });
    parts.push({ ...counter, device, ad });
  }
  return { application, parts, cohort: { from: '2026-03-01', to: '2026-03-01' } };
}

describe('settling an application', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('writes the sums of all its counters to the rollups, and none of another application', async () => {
    const { application, parts } = await start();
    const other = await start(1);
    const before = Date.now();
    for (const { append, ad } of [...parts, ...other.parts]) await append([ad(1_000)]);
    const counters = new WatchedCounters();
    const answer = await settleCounters({ ...env, COUNTERS: counters.asBinding() }, application);
    expect(answer.settled).toBe(true);
    expect(answer.countedThrough).toBeGreaterThanOrEqual(before);
    expect(await rollupOf(application.id)).toMatchObject({ impressions: SHARDS, installs: SHARDS });
    expect(await rollupOf(other.application.id)).toMatchObject({ impressions: 0, installs: 0 });
    expect(counters.calls.map(({ name }) => name)).toEqual(
      Array.from({ length: SHARDS }, (_, shard) => `${application.id}:${shard}`),
    );
  });

  it('reports the time of the counter that is furthest behind', async () => {
    const { application, parts } = await start();
    await settleCounters(env, application);
    const [, second] = parts;
    await second?.append([second.ad(1)]);
    const behind = await second?.inside((counter) => {
      const db = new WatchedD1(env.DB);
      db.failOn(/INSERT INTO "counter_flushes"/, 'D1_ERROR: overloaded', { times: 100 });
      counter.db = db.asBinding();
      return Date.now();
    });
    const answer = await settleCounters(env, application);
    expect(answer.settled).toBe(false);
    expect(answer.countedThrough).toBeLessThanOrEqual(behind ?? 0);
    await second?.inside((counter) => {
      counter.db = env.DB;
    });
    await expect.poll(async () => (await settleCounters(env, application)).settled).toBe(true);
    expect(await rollupOf(application.id)).toMatchObject({ impressions: 1 });
  });

  it('is not done while the queue delivers something again', async () => {
    const { application } = await start(1);
    const delayed = { applicationId: application.id, messageId: 'm', events: 3, receivedAt: 5_000 };
    await database(env.DB).insert(delayedMessages).values(delayed);
    expect(await settleCounters(env, application)).toEqual({
      settled: false,
      countedThrough: 4_999,
      uncounted: 3,
    });
    await database(env.DB).delete(delayedMessages);
    expect(await settleCounters(env, application)).toMatchObject({ settled: true, uncounted: 0 });
  });

  /** Settles an application of which one counter answers in a way of its own. The others do not run, for time is not real here. */
  function settleWith(second: () => Promise<unknown>) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const counters = new WatchedCounters(({ name }) =>
      name.endsWith(':1') ? second() : Promise.resolve({ settled: true, countedThrough: 1, uncounted: 0 }),
    );
    return settleCounters({ ...env, COUNTERS: counters.asBinding() }, { id: newId('app'), shards: SHARDS });
  }

  it('waits no longer than it may for a counter that hangs, and says so', async () => {
    const answered = vi.fn();
    const answer = settleWith(() => new Promise(() => undefined)).then(answered);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS - 1);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await answer;
    expect(answered).toHaveBeenCalledWith({ settled: false, countedThrough: null, uncounted: null });
  });

  it('does not wait for a counter that fails, and says so', async () => {
    const failure = new Error('Internal error in Durable Object storage');
    expect(await settleWith(() => Promise.reject(failure))).toEqual({
      settled: false,
      countedThrough: null,
      uncounted: null,
    });
  });

  it('retries a counter that was moved or restarted in the meantime', async () => {
    const { application } = await start(1);
    let failures = 2;
    const counters = new WatchedCounters(() =>
      failures-- > 0
        ? Promise.reject(Object.assign(new Error('Network connection lost.'), { retryable: true }))
        : undefined,
    );
    expect(await settleCounters({ ...env, COUNTERS: counters.asBinding() }, application)).toMatchObject({
      settled: true,
    });
    expect(counters.calls).toHaveLength(3);
  });
});

it('combines the devices of a funnel and their times from all counters', async () => {
  const { application, parts, cohort } = await start();
  const installedAt = Date.parse('2026-03-01T10:00:00Z');
  for (const [index, { append, ad }] of parts.entries()) {
    await append([ad(1, { occurred_at: installedAt + ([5_000, 90_000, 60_000][index] ?? 0) })]);
  }
  await settleCounters(env, application);
  const steps = ['install', 'ad', 'purchase'];
  const answer = await queryFunnel(env, application, {
    cohort,
    filter: {},
    groupBy: null,
    steps,
    windowSeconds: null,
  });
  expect(sumFunnel(steps, answer)).toEqual({
    steps: [
      { step: 'install', devices: 3, medianSeconds: null },
      { step: 'ad', devices: 3, medianSeconds: 60 },
      { step: 'purchase', devices: 0, medianSeconds: null },
    ],
    incomplete: 0,
  });
  // Of an even number the mean of the middle two.
  const { steps: two } = sumFunnel(steps, answer.slice(0, 2));
  expect(two[1]).toMatchObject({ devices: 2, medianSeconds: 47.5 });
});

it("adds up clients' totals exactly, and keeps the largest gaps of all counters", async () => {
  const { application, parts, cohort } = await start();
  const large = Number.MAX_SAFE_INTEGER;
  const [first, second, third] = parts;
  if (!first || !second || !third) throw new Error('three counters were started');
  await first.append([first.ad(large, { total_ad_value: 1 }), first.ad(large, { total_ad_value: 1 })]);
  await second.append([second.ad(1, { total_ad_value: 5 })]);
  await third.append([
    third.ad(1_000_000_000, { total_ad_value: 1 }),
    third.ad(1_000_000_000, { currency: 'eur' }),
    eventOf(application.id, third.device, 'custom.purchase', { total_purchase_value: 7 }),
  ]);
  await settleCounters(env, application);
  const { totals, gaps } = await sumClientTotals(env, application, cohort);
  expect(totals).toEqual([
    { kind: 'ad', currency: null, devices: 1, devicesWithGap: 0, client: null, counted: null },
    {
      kind: 'ad',
      currency: 'usd',
      devices: 2,
      devicesWithGap: 2,
      client: '6000000000',
      counted: `${2n * BigInt(large) + 1n}`,
    },
    {
      kind: 'purchase',
      currency: 'usd',
      devices: 1,
      devicesWithGap: 1,
      client: '7000000000',
      counted: '4990000000',
    },
  ]);
  expect(gaps.map(({ deviceId, kind }) => [deviceId, kind])).toEqual([
    [first.device.id, 'ad'],
    [second.device.id, 'ad'],
    [third.device.id, 'purchase'],
  ]);
});

it('says no sum of clients that mix currencies, whichever counters they are in', async () => {
  const { application, parts, cohort } = await start(2);
  for (const { append, ad } of parts)
    await append([ad(1, { total_ad_value: 1 }), ad(1, { currency: 'eur' })]);
  await settleCounters(env, application);
  expect((await sumClientTotals(env, application, cohort)).totals).toEqual([
    { kind: 'ad', currency: null, devices: 2, devicesWithGap: 0, client: null, counted: null },
  ]);
});

it('forgets the backlog of an application only after a loss', async () => {
  const { application } = await start(1);
  const delayed = { applicationId: application.id, messageId: 'm', queue: 0, events: 3, receivedAt: 5_000 };
  await database(env.DB).insert(delayedMessages).values(delayed);
  const backlog = () =>
    database(env.DB).$count(delayedMessages, eq(delayedMessages.applicationId, application.id));
  await resumeCounting(env, application, { isRestored: false });
  expect(await backlog()).toBe(1);
  await resumeCounting(env, application, { isRestored: true });
  expect(await backlog()).toBe(0);
});

it('combines the health of all counters without counting', async () => {
  const { application, parts } = await start();
  await settleCounters(env, application);
  for (const { append, ad } of parts.slice(1)) await append([ad(1)]);
  const health = await readApplicationHealth(env, application);
  const now = Date.now();
  expect(health.counters).toMatchObject({
    pending: 2,
    outbox: 0,
    devices: 3,
    hotEvents: 5,
    flushError: null,
  });
  const waiting = health.counters?.oldestPendingAt ?? 0;
  expect(waiting).toBeGreaterThan(now - 60_000);
  expect(health.counters?.countedThrough).toBe(waiting - 1);
  expect(health.counters?.lastAppendedAt).toBeGreaterThanOrEqual(waiting);
  expect(await rollupOf(application.id)).toMatchObject({ impressions: 0 });
  expect(isStuck(health, now)).toBe(false);
  expect(isStuck(health, waiting + 60 * 60_000)).toBe(false);
  expect(isStuck(health, waiting + 60 * 60_000 + 1)).toBe(true);
  const counters = new WatchedCounters(({ name }) =>
    name.endsWith(':2') ? Promise.reject(new Error('down')) : undefined,
  );
  const unknown = await readApplicationHealth({ ...env, COUNTERS: counters.asBinding() }, application);
  expect(unknown.counters).toBeNull();
  expect(isStuck(unknown, now)).toBe(true);
});

describe('the arrivals of an application', () => {
  it('are seen before they are counted, and even if they never are', async () => {
    const { application, parts } = await start(2);
    const fresh = { id: newId('app'), shards: 1 };
    expect(await readArrivals(env, fresh)).toEqual({ device: false, event: false });
    expect(await readArrivals(env, application)).toEqual({ device: true, event: false });
    const [, second] = parts;
    await second?.append([second.ad(1, { test: true })]);
    expect(await readArrivals(env, application)).toEqual({ device: true, event: true });
    await settleCounters(env, application);
    expect(await rollupOf(application.id)).toMatchObject({ impressions: 0 });
    expect(await readArrivals(env, application)).toEqual({ device: true, event: true });
  });

  it('are not read from the counters once an event has been counted', async () => {
    const { application, parts } = await start(1);
    for (const { append, ad } of parts) await append([ad(1)]);
    await settleCounters(env, application);
    const counters = new WatchedCounters();
    expect(await readArrivals({ DB: env.DB, COUNTERS: counters.asBinding() }, application)).toEqual({
      device: true,
      event: true,
    });
    expect(counters.calls).toEqual([]);
  });
});

it('restores a lost alarm with the next call of any kind', async () => {
  const { application, parts } = await start(1);
  const [counter] = parts;
  if (!counter) throw new Error('a counter was started');
  await counter.append([counter.ad(1)]);
  await counter.inside((_, state) => state.storage.deleteAlarm());
  await evictDurableObject(counter.stub());
  await readApplicationHealth(env, application);
  const alarm = await counter.inside((_, state) => state.storage.getAlarm());
  // The longest that events wait for a question.
  expect(alarm).toBeLessThanOrEqual(Date.now() + 45 * 60_000);
});

it('reports its newest event after all events have been exported to R2', async () => {
  const { application, parts } = await start(1);
  const [counter] = parts;
  if (!counter) throw new Error('a counter was started');
  await counter.append([counter.ad(1)]);
  await settleCounters(env, application);
  await counter.inside((_, state) => state.storage.sql.exec('DELETE FROM log'));
  const { counters } = await readApplicationHealth(env, application);
  expect(counters?.lastAppendedAt).toBeGreaterThan(Date.now() - 120_000);
});

it('reads the same few rows for health and client totals, however many events there were', async () => {
  const rowsRead: number[] = [];
  for (const events of [100, 5_000]) {
    const { application, parts, cohort } = await start(1);
    const [counter] = parts;
    if (!counter) throw new Error('a counter was started');
    for (let sent = 0; sent < events; sent += 100) {
      await counter.append(Array.from({ length: 100 }, () => counter.ad(1_000, { total_ad_value: 1 })));
    }
    await expect.poll(async () => (await counter.stub().settle()).settled, { timeout: 20_000 }).toBe(true);
    // As after an export.
    await counter.inside((_, state) => state.storage.sql.exec('DELETE FROM log'));
    const read = await counter.inside(async (own, state) => {
      const storage = new WatchedStorage(state.storage);
      own.use(storage.asStorage());
      const before = storage.rowsRead;
      await own.health();
      await own.clientTotals(cohort);
      return storage.rowsRead - before;
    });
    rowsRead.push(read);
    expect((await sumClientTotals(env, application, cohort)).totals).toMatchObject([
      { devices: 1, client: '1000000000', counted: `${events * 1_000}` },
    ]);
  }
  expect(rowsRead[1]).toBe(rowsRead[0]);
  expect(rowsRead[0]).toBeGreaterThan(0);
});

it('keeps the 200 largest gaps, and orders equal ones by device', async () => {
  const { application, parts, cohort } = await start(2);
  for (const { applicationId, append, createDevice, shard } of parts) {
    const events = [];
    for (let index = 0; index < 120; index++) {
      const created = await createDevice({ shards: 2 });
      if (created.outcome === 'moved') throw new Error('a device without an alias can live anywhere');
      const gap = shard === 0 && index < 3 ? 50 + index : 10;
      events.push(
        eventOf(applicationId, created.device, 'custom.ad', { value_nanos: 1, total_ad_value: gap }),
      );
    }
    await append(events);
  }
  await settleCounters(env, application);
  const { totals, gaps } = await sumClientTotals(env, application, cohort);
  expect(totals).toMatchObject([{ devices: 240, devicesWithGap: 240 }]);
  expect(gaps).toHaveLength(200);
  expect(gaps.slice(0, 4).map(({ client }) => client)).toEqual([
    '52000000000',
    '51000000000',
    '50000000000',
    '10000000000',
  ]);
  const equal = gaps.slice(3).map(({ deviceId }) => deviceId);
  expect(equal).toEqual([...equal].sort());
});
