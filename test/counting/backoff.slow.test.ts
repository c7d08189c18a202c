import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { and, eq, isNull } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cubeParts, database } from '#db';
import type { Bucket } from '#lake';
import { Compactor } from '../../src/counting/outbox/compactor.ts';
import { StatementLimit } from '../../src/counting/outbox/statement-limit.ts';
import { backoffMs } from '../../src/counting/retry.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { FaultyBucket } from '../helpers/lake.ts';
import { parkedOf } from '../helpers/parked.ts';

// When a counter tries again what the database or the bucket refused.

const NOW = Date.now();
const HOUR_MS = 3_600_000;
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
  const db = new WatchedD1(env.DB);
  return {
    ...counter,
    db,
    append: () => counter.append([eventOf(counter.applicationId, device, 'custom.ad')]),
    /** Rings the alarm, and returns in how many milliseconds it rings again. */
    alarm: (bucket: Bucket = env.RAW_EVENTS) =>
      counter.inside(async (own, { storage }) => {
        own.db = db.asBinding();
        own.bucket = bucket;
        own.waitMs = 0;
        await own.alarm();
        return ((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY) - Date.now();
      }),
  };
}

it('waits from a second to five minutes, twice as long after each failure', () => {
  expect([0, 1, 2, 8, 9, 50].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 256_000, 300_000, 300_000]);
});

describe('a database that fails', () => {
  it('is tried again later each time, and at first as soon as before once it has taken something', async () => {
    const { append, alarm, db, stub } = await start();
    await append();
    db.failWhen((sql) => sql.includes('"counter_flushes"'), 'D1_ERROR: overloaded');
    // The first alarm counts, and fails with what it counted.
    expect([await alarm(), await alarm(), await alarm()]).toEqual([2_000, 4_000, 8_000]);
    expect(await stub().health()).toMatchObject({ outbox: 1, flushError: expect.any(String) });
    db.failWhen(() => false, '');
    expect(await alarm()).toBeGreaterThan(60_000);
    expect(await stub().health()).toMatchObject({ outbox: 0, flushError: null });
    await append();
    db.failWhen((sql) => sql.includes('"counter_flushes"'), 'D1_ERROR: overloaded');
    expect(await alarm()).toBe(2_000);
  });

  it('is tried again by a counter that was restarted', async () => {
    const { append, alarm, db, stub, inside } = await start();
    await append();
    db.failWhen((sql) => sql.includes('"counter_flushes"'), 'D1_ERROR: overloaded');
    await alarm();
    await inside((_, { storage }) => storage.deleteAlarm());
    await evictDurableObject(stub());
    const due = await inside((_, { storage }) => storage.getAlarm());
    expect(due).toBeLessThan(NOW + 60_000);
  });
});

it('tries a bucket that fails again later each time, and at first as soon as before once it has taken something', async () => {
  const { append, alarm, stub } = await start();
  const broken = new FaultyBucket(env.RAW_EVENTS, 'always');
  await append();
  await alarm();
  setTime(NOW + HOUR_MS);
  expect([await alarm(broken), await alarm(broken), await alarm(broken)]).toEqual([2_000, 4_000, 8_000]);
  expect(await stub().health()).toMatchObject({ hotEvents: 2, exportError: expect.stringContaining('R2') });
  await alarm();
  expect(await stub().health()).toMatchObject({ hotEvents: 0, exportError: null });
  await append();
  await alarm();
  setTime(NOW + 2 * HOUR_MS);
  expect(await alarm(broken)).toBe(2_000);
});

describe('blocks of many runs', () => {
  /** Counts in so many runs that their blocks are due to be merged. */
  async function startMany() {
    const counter = await start();
    for (let run = 0; run < 18; run++) {
      await counter.append();
      await counter.stub().settle();
    }
    await counter.append();
    const parts = () =>
      database(env.DB).$count(
        cubeParts,
        and(eq(cubeParts.applicationId, counter.applicationId), isNull(cubeParts.replacedAt)),
      );
    const before = await parts();
    return { ...counter, parts, before };
  }

  it('are compacted, and sent with the alarm that compacted them', async () => {
    const { alarm, stub, parts, before, applicationId } = await startMany();
    await alarm();
    expect((await stub().health()).outbox).toBe(0);
    expect(await parts()).toBeLessThan(before / 4);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 19 });
  });

  it('are compacted by the next alarm where the statements of one do not suffice', async () => {
    const { applicationId, inside } = await startMany();
    const compactor = new Compactor();
    const compact = (spent: number) =>
      inside(async (_, { storage }) => {
        const limit = new StatementLimit();
        limit.spend(Array.from({ length: spent }));
        await compactor.compact(openStore(storage), env.DB, `${applicationId}:0`, limit);
        return storage.sql.exec('SELECT 1 FROM outbox').toArray().length;
      });
    expect(await compact(870)).toBe(1);
    const compacted = await compact(0);
    expect(compacted).toBeGreaterThan(2);
    expect(await compact(0)).toBe(compacted);
  });

  it('stay as they are if the database refuses the compacted ones, and hold up nothing', async () => {
    const { alarm, append, db, stub, parts, before, applicationId } = await startMany();
    db.failWhen((sql) => /UPDATE "cube_parts"/.test(sql), 'D1_ERROR: CHECK constraint failed');
    await alarm();
    expect(await stub().health()).toMatchObject({ outbox: 0, flushError: null });
    expect(await parts()).toBeGreaterThanOrEqual(before);
    await append();
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 20 });
    expect(await parkedOf(applicationId)).toEqual([]);
  });
});
