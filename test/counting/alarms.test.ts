import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ObjectAlarm } from '../../src/counting/object-alarm.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { slowIt } from '../helpers/thorough.ts';

// What a counter's alarm is set for, when nobody asks it anything.

const NOW = Date.now();
const MINUTE_MS = 60_000;
/** Moves the clock alone: alarms and timers stay real. */
const setTime = (now: number) => vi.useFakeTimers({ toFake: ['Date'], now });
beforeEach(() => {
  setTime(NOW);
});
afterEach(() => {
  vi.useRealTimers();
});

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice({ acquiredAt: NOW });
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  return {
    ...counter,
    append: (events: number) =>
      counter.append(
        Array.from({ length: events }, () => eventOf(counter.applicationId, device, 'custom.ad')),
      ),
    /** Rings the alarm; returns in how many minutes it rings again. */
    ring: () =>
      counter.inside(async (own, { storage }) => {
        await own.alarm();
        return ((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY) / MINUTE_MS - Date.now() / MINUTE_MS;
      }),
  };
}

it('is counting after 45 minutes, the export after 50, and pruning a day later', async () => {
  const { append, ring, stub } = await start();
  await append(1);
  expect(await ring()).toBeCloseTo(45);
  setTime(NOW + 45 * MINUTE_MS);
  expect(await ring()).toBeCloseTo(5);
  expect(await stub().health()).toMatchObject({ pending: 0, hotEvents: 2 });
  setTime(NOW + 50 * MINUTE_MS);
  // It was never pruned, so that was due at once.
  expect(await ring()).toBeCloseTo(24 * 60 - 5, -1);
  expect(await stub().health()).toMatchObject({ hotEvents: 0 });
});

slowIt('is the export at once when more events wait for it than the log keeps', async () => {
  const { append, ring, inside, stub } = await start();
  await inside((counter) => {
    counter.waitMs = 0;
  });
  for (let batch = 0; batch < 51; batch++) await append(1_000);
  const minutes = await ring();
  const { hotEvents } = await stub().health();
  expect(hotEvents).toBeLessThan(51_001);
  // What is left is not due any more.
  expect(hotEvents).toBeGreaterThan(49_000);
  expect(minutes).toBeGreaterThan(1);
});

it('is set by the next call after one that could not set it, and never for later', async () => {
  let at: number | null = null;
  let failures = 1;
  const storage: Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm'> = {
    getAlarm: () => Promise.resolve(at),
    setAlarm: (to) => {
      if (failures-- > 0) return Promise.reject(new Error('Network connection lost.'));
      at = Number(to);
      return Promise.resolve();
    },
  };
  const alarm = new ObjectAlarm(storage as DurableObjectStorage);
  await expect(alarm.setFor(5)).rejects.toThrow();
  await alarm.setFor(7);
  expect(at).toBe(7);
  await alarm.setFor(6);
  await alarm.setFor(8);
  expect(at).toBe(6);
  // As after a restart, when nothing is known of it.
  await new ObjectAlarm(storage as DurableObjectStorage).setFor(9);
  expect(at).toBe(6);
});
