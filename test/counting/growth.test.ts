import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { MAX_SHARDS } from '#counting';
import { type GrowthLimits, growByLoad, LoadMeter } from '../../src/counting/growth.ts';
import { raiseShards } from '../../src/counting/shards.ts';
import { openStore } from '../../src/counting/store.ts';
import { startCounter } from '../helpers/counter.ts';
import { createTenant } from '../helpers/tenant.ts';

// When the counters of an application become more.

const LIMITS: GrowthLimits = { eventsPerSecond: 5_000, bytes: 1_000 };

async function start(shard = 0, shards = 1) {
  const { application } = await createTenant();
  const applicationId = application.id;
  const set = (value: number) =>
    env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?').bind(value, applicationId).run();
  await set(shards);
  const { inside } = startCounter(applicationId, shard);
  const meter = new LoadMeter(0);
  return {
    applicationId,
    meter,
    /** How many there are after the counter's look at its load, `now` milliseconds after the start. */
    growTo: async (now: number, bytes = 0): Promise<number | null> => {
      await inside((_, { storage }) => {
        const store = openStore(storage);
        return growByLoad({ store, db: env.DB, applicationId, shard, bytes, limits: LIMITS }, meter, now);
      });
      return shardsOf(applicationId);
    },
  };
}

const shardsOf = (applicationId: string) =>
  env.DB.prepare('SELECT shards FROM applications WHERE id = ?').bind(applicationId).first<number>('shards');

describe('the load of a counter', () => {
  it('is too much beyond the limit of events per second', async () => {
    const { meter, growTo } = await start();
    meter.add(10_000);
    expect(await growTo(2_000)).toBe(1);
    meter.add(1);
    expect(await growTo(2_000)).toBe(2);
  });

  it('is not judged by less than a second', async () => {
    const { meter, growTo } = await start();
    meter.add(6_000);
    expect(await growTo(999)).toBe(1);
    expect(await growTo(1_000)).toBe(2);
  });

  it('is measured over a minute at most: neither an idle hour nor a busy one before matters', async () => {
    const idle = await start();
    for (let minute = 1; minute <= 60; minute++) expect(await idle.growTo(minute * 60_000)).toBe(1);
    idle.meter.add(6_000);
    expect(await idle.growTo(60 * 60_000 + 1_000)).toBe(2);

    const busy = await start();
    busy.meter.add(60 * 4_000);
    expect(await busy.growTo(60_000)).toBe(1);
    busy.meter.add(4_000);
    expect(await busy.growTo(61_000)).toBe(1);
  });

  it('makes only the newest counters ask for more', async () => {
    for (const [shard, after] of [
      [1, 4],
      [2, 8],
      [3, 8],
    ] as const) {
      const { meter, growTo } = await start(shard, 4);
      meter.add(6_000);
      expect(await growTo(1_000)).toBe(after);
    }
  });
});

it('asks for more when its store exceeds the limit, and again at each doubling of its size', async () => {
  const { growTo } = await start();
  expect(await growTo(0, 1_000)).toBe(1);
  expect(await growTo(0, 1_001)).toBe(2);
  expect(await growTo(0, 2_002)).toBe(2);
  expect(await growTo(0, 2_003)).toBe(4);
});

it('asks for more because of its size although it did so because of its load', async () => {
  const { meter, growTo } = await start();
  meter.add(6_000);
  expect(await growTo(1_000, 900)).toBe(2);
  expect(await growTo(2_000, 1_001)).toBe(4);
});

it('never lowers the number of counters, and never exceeds the limit', async () => {
  const { applicationId } = await start(0, 2);
  await Promise.all([4, 4, 2].map((shards) => raiseShards(env.DB, applicationId, shards)));
  expect(await shardsOf(applicationId)).toBe(4);
  await raiseShards(env.DB, applicationId, 2);
  expect(await shardsOf(applicationId)).toBe(4);
  await raiseShards(env.DB, applicationId, 2 * MAX_SHARDS);
  expect(await shardsOf(applicationId)).toBe(MAX_SHARDS);
});
