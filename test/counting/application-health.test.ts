import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { isStuck, readApplicationHealth, readArrivals } from '#counting';
import { database, delayedMessages } from '#db';
import { newId } from '#lib/ids';
import type { CounterHealth } from '../../src/counting/api.ts';
import { startCounter } from '../helpers/counter.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';

// The health of an application, of what its counters say of theirs.

const NOW = Date.parse('2026-03-02T12:00:00Z');
afterEach(() => {
  vi.useRealTimers();
});

const WELL: CounterHealth = {
  ...{ pending: 0, oldestPendingAt: null, countedThrough: NOW, lastAppendedAt: null, slowestMs: null },
  ...{ outbox: 0, sequence: 0, flushError: null, appendError: null, hasGap: false, exportError: null },
  ...{ devices: 0, isLost: false, unknownEvents: 0, hotEvents: 0, bytes: 0, implausible: [] },
};

const emptyQueue = { metrics: () => Promise.resolve({}) } as unknown as Queue;

/** The health of an application whose counters answer like this. */
async function healthOf(
  own: readonly Partial<CounterHealth>[],
  { id = newId('app'), EVENTS = emptyQueue } = {},
) {
  const counters = new WatchedCounters(({ name }) =>
    Promise.resolve({ ...WELL, ...own[Number(name.split(':')[1])] }),
  );
  const bindings = { ...env, EVENTS, COUNTERS: counters.asBinding() };
  const health = await readApplicationHealth(bindings, { id, shards: own.length });
  if (!health.counters) throw new Error('the counters answer');
  return { ...health, counters: health.counters };
}

it('adds up what waits in all counters, and takes the extremes of times and sizes', async () => {
  const parts: Partial<CounterHealth>[] = [
    { pending: 1, outbox: 10, devices: 100, hotEvents: 1_000, bytes: 7, sequence: 2 },
    { pending: 2, outbox: 20, devices: 200, hotEvents: 2_000, bytes: 9, sequence: 4 },
    { oldestPendingAt: NOW - 5, countedThrough: NOW - 6, lastAppendedAt: NOW - 3, slowestMs: 30, bytes: 8 },
    { oldestPendingAt: NOW - 7, countedThrough: NOW - 8, lastAppendedAt: NOW - 1, slowestMs: 20 },
  ];
  for (const all of [parts, parts.toReversed()]) {
    expect((await healthOf(all)).counters).toEqual({
      ...WELL,
      ...{ pending: 3, outbox: 30, devices: 300, hotEvents: 3_000, bytes: 9, sequence: 4 },
      ...{ oldestPendingAt: NOW - 7, countedThrough: NOW - 8, lastAppendedAt: NOW - 1, slowestMs: 30 },
    });
  }
});

it.each([
  { flushError: 'no database' },
  { appendError: 'no room' },
  { exportError: 'no bucket' },
  { hasGap: true },
] satisfies Partial<CounterHealth>[])('shows what is wrong with any of them: %o', async (wrong) => {
  for (const parts of [
    [wrong, {}, {}],
    [{}, {}, wrong],
  ])
    expect((await healthOf(parts)).counters).toMatchObject(wrong);
});

it('counts through no event that the queue still has, or will deliver again', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  expect((await healthOf([{}])).counters.countedThrough).toBe(NOW);
  const queuedAt = new Date(NOW - 40_000);
  const EVENTS = { metrics: () => Promise.resolve({ oldestMessageTimestamp: queuedAt }) } as unknown as Queue;
  expect((await healthOf([{}], { EVENTS })).counters.countedThrough).toBe(NOW - 40_001);
  const id = newId('app');
  await database(env.DB)
    .insert(delayedMessages)
    .values({ applicationId: id, messageId: 'm', events: 3, receivedAt: NOW - 90_000 });
  const health = await healthOf([{}], { id });
  expect(health.counters.countedThrough).toBe(NOW - 90_001);
  expect(health.backlog).toMatchObject({ events: 3, oldestAt: NOW - 90_000 });
  await database(env.DB).delete(delayedMessages);
});

it('is stuck if a counter accepts nothing, if a delivery takes over half a minute, or if counting is overdue', async () => {
  const backlog = { events: 0, oldestAt: null };
  const healthy = { applicationId: 'app', counters: WELL, backlog };
  expect(isStuck(healthy, NOW)).toBe(false);
  expect(isStuck({ ...healthy, counters: { ...WELL, appendError: 'no room' } }, NOW)).toBe(true);
  expect(isStuck({ ...healthy, counters: null }, NOW)).toBe(true);
  const delivering = (ms: number) => ({ ...healthy, backlog: { events: 1, oldestAt: NOW - ms } });
  expect([30_000, 30_001].map((ms) => isStuck(delivering(ms), NOW))).toEqual([false, true]);
  const waiting = (ms: number) => ({ ...healthy, counters: { ...WELL, oldestPendingAt: NOW - ms } });
  expect([3_600_000, 3_600_001].map((ms) => isStuck(waiting(ms), NOW))).toEqual([false, true]);
});

it('still knows of devices that were counted once its counters have none', async () => {
  const { applicationId: id, createDevice, stub } = startCounter();
  await createDevice();
  await stub().settle();
  const counters = new WatchedCounters(({ method }) =>
    Promise.resolve(method === 'readLog' ? { events: [], through: null } : WELL),
  );
  const bindings = { DB: env.DB, COUNTERS: counters.asBinding() };
  expect(await readArrivals(bindings, { id, shards: 1 })).toEqual({ device: true, event: false });
});
