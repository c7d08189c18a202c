import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  counterOf,
  createDevices,
  type FoundDevice,
  findDevices,
  homeShard,
  MAX_SHARDS,
  possibleShards,
} from '#counting';
import { newId } from '#lib/ids';
import { eventOf, installOf, newDevice, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { createTenant } from '../helpers/tenant.ts';

/** Finds a device or makes it, as `/fetch-token` does. */
async function place(
  applicationId: string,
  alias: string | null,
  shards: number,
  device = newDevice(),
  own = env,
): Promise<FoundDevice & { created: boolean }> {
  const found = await findDevices(own, applicationId, shards, alias === null ? [] : [alias]);
  const [earlier] = found.values();
  if (earlier) return { ...earlier, created: false };
  const install = (shard: number) => installOf(applicationId, device, shard);
  const [placed] = await createDevices(own, applicationId, shards, [{ alias, device, install }]);
  if (!placed) throw new Error('each device has its place');
  return { shard: placed.shard, device: placed.device, created: placed.device.id === device.id };
}

const settle = async (applicationId: string, shards: number) => {
  for (let shard = 0; shard < shards; shard++) await counterOf(env, applicationId, shard).settle();
};

/** An alias by the counters where it belongs under numbers of shards. */
function aliasWhere(fits: (homeOf: (shards: number) => number) => boolean): string {
  for (let number = 0; ; number++) {
    const alias = `alias-${number}`;
    if (fits((shards) => homeShard(alias, shards))) return alias;
  }
}

/** An alias that belongs to another counter under the larger number. */
const movingAlias = (from: number, to: number) => aliasWhere((homeOf) => homeOf(from) !== homeOf(to));

describe('a device', () => {
  it('is created once, and found by its alias wherever it was created', async () => {
    const applicationId = newId('app');
    const aliases = Array.from({ length: 12 }, (_, index) => `player-${index}`);
    const devices = new Map<string, string>();
    for (const [index, alias] of aliases.entries()) {
      const shards = [1, 2, 4][index % 3] ?? 1;
      const placed = await place(applicationId, alias, shards);
      expect(placed.created).toBe(true);
      expect(possibleShards(alias, 4)).toContain(placed.shard);
      devices.set(alias, placed.device.id);
    }
    for (const alias of aliases) {
      const again = await place(applicationId, alias, 8);
      expect(again).toMatchObject({ created: false, device: { id: devices.get(alias) } });
    }
    await settle(applicationId, 8);
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 12 });
  });

  it('is created once by simultaneous calls with different numbers of shards', async () => {
    for (let round = 0; round < 5; round++) {
      const applicationId = newId('app');
      const alias = movingAlias(1, 2);
      const placed = await Promise.all(
        [1, 2, 4, 1, 2, 4].map((shards) => place(applicationId, alias, shards)),
      );
      expect(new Set(placed.map(({ device }) => device.id)).size).toBe(1);
      expect(placed.filter(({ created }) => created)).toHaveLength(1);
      await settle(applicationId, 4);
      expect(await rollupOf(applicationId)).toMatchObject({ installs: 1 });
    }
  });

  it('is not created by a counter that knows of more shards, but where it belongs now', async () => {
    const applicationId = newId('app');
    const alias = movingAlias(1, 2);
    await counterOf(env, applicationId, 0).findDevices(['another'], 2);
    expect(await place(applicationId, alias, 1)).toMatchObject({ shard: 1, created: true });
  });

  it('is found where it was created by a caller that knew of some of the shards', async () => {
    const applicationId = newId('app');
    // Lives in counter 1 of 2, and would belong elsewhere of 4.
    const alias = aliasWhere((homeOf) => homeOf(2) === 1 && homeOf(4) === 3);
    const made = await place(applicationId, alias, 2);
    expect(made).toMatchObject({ shard: 1, created: true });
    await counterOf(env, applicationId, 0).findDevices(['another'], 4);
    const wanted = { alias, device: newDevice(), install: () => installOf(applicationId, newDevice()) };
    // A caller that has found nothing among the shards that it knows of.
    const [placed] = await createDevices(env, applicationId, 1, [wanted]);
    expect(placed).toEqual({ shard: 1, device: made.device, earlierClickId: null });
    await settle(applicationId, 4);
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1 });
  });

  it('is created where the counter that knows of most shards says', async () => {
    const applicationId = newId('app');
    const [first, second] = [
      aliasWhere((homeOf) => homeOf(2) === 0 && homeOf(4) === 2 && homeOf(8) === 6),
      aliasWhere((homeOf) => homeOf(2) === 1 && homeOf(4) === 3),
    ];
    await counterOf(env, applicationId, 0).findDevices(['another'], 8);
    await counterOf(env, applicationId, 1).findDevices(['another'], 4);
    const wanted = [first, second].map((alias) => {
      const device = newDevice();
      return { alias, device, install: (shard: number) => installOf(applicationId, device, shard) };
    });
    const placed = await createDevices(env, applicationId, 2, wanted);
    expect(placed.map(({ shard }) => shard)).toEqual([first, second].map((alias) => homeShard(alias, 8)));
  });

  it('stays with a caller that knows of fewer shards, where it belongs under both numbers', async () => {
    const { createDevice, stub } = startCounter();
    await stub().findDevices(['another'], 2);
    const alias = aliasWhere((homeOf) => homeOf(2) === 0);
    expect(await createDevice({ alias, shards: 1 })).toMatchObject({ outcome: 'created' });
    // A counter that has seen more is told less: it still knows.
    const moving = movingAlias(1, 2);
    expect(await createDevice({ alias: moving, shards: 1 })).toEqual({ outcome: 'moved', shards: 2 });
  });

  it('is found by a caller that knows of fewer shards, although it belongs elsewhere now', async () => {
    const { createDevice, stub } = startCounter();
    const alias = movingAlias(1, 2);
    const made = await createDevice({ alias, shards: 1 });
    await stub().findDevices(['another'], 2);
    const again = await createDevice({ alias, shards: 1 });
    expect(again.outcome).toBe('found');
    expect(again).toMatchObject({ device: made.outcome === 'created' ? made.device : {} });
  });

  it('is not created where it no longer belongs, although the call that told of more shards failed at first', async () => {
    const { createDevice, inside, stub } = startCounter();
    const alias = movingAlias(1, 2);
    await inside(async (counter, { storage }) => {
      const watched = new WatchedStorage(storage);
      counter.use(watched.asStorage());
      watched.failOn(/from "aliases"/, 'after');
      await expect(counter.findDevices(['another'], 2)).rejects.toThrow();
      await counter.findDevices(['another'], 2);
    });
    await evictDurableObject(stub());
    expect(await createDevice({ alias, shards: 1 })).toEqual({ outcome: 'moved', shards: 2 });
  });

  it('is found with the click that it is credited with, by its alias or its id', async () => {
    const { createDevice } = startCounter();
    const attribution = JSON.stringify({ click_id: 'clk_1' });
    const device = newDevice({ attribution });
    const { id, acquiredDay, creativeId } = device;
    const found = { outcome: 'found', device: { id, acquiredDay, creativeId }, clickId: 'clk_1' };
    expect(await createDevice(device)).toMatchObject({ outcome: 'created' });
    expect(await createDevice(device)).toEqual(found);
    const named = newDevice({ attribution });
    expect(await createDevice({ ...named, alias: 'player' })).toMatchObject({ outcome: 'created' });
    expect(await createDevice({ alias: 'player' })).toMatchObject({ ...found, device: { id: named.id } });
  });

  it('is the same after a lost call', async () => {
    const applicationId = newId('app');
    const device = newDevice();
    let lost = 0;
    const flaky = {
      getByName: (name: string) => {
        const stub = env.COUNTERS.getByName(name);
        return {
          createOrFindDevices: async (...call: Parameters<typeof stub.createOrFindDevices>) => {
            const made = await stub.createOrFindDevices(...call);
            if (lost++ === 0) throw Object.assign(new Error('Network connection lost'), { retryable: true });
            return made;
          },
        };
      },
    };
    const own = { ...env, COUNTERS: flaky as unknown as Env['COUNTERS'] };
    expect(await place(applicationId, null, 1, device, own)).toMatchObject({ device: { id: device.id } });
    expect(await place(applicationId, null, 1, device)).toMatchObject({ device: { id: device.id } });
    expect(lost).toBe(2);
    await settle(applicationId, 1);
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1 });
  });
});

const shardsOf = (applicationId: string) =>
  env.DB.prepare('SELECT shards FROM applications WHERE id = ?').bind(applicationId).first<number>('shards');

describe('the number of shards', () => {
  it('doubles beyond a load or size, up to a limit, and not twice for one reason', async () => {
    const tenant = await createTenant();
    const applicationId = tenant.application.id;
    const { inside, append } = startCounter(applicationId);
    const device = newDevice();
    const load = async () => {
      await append(Array.from({ length: 50 }, () => eventOf(applicationId, device, 'custom.ad')));
      await inside(async (counter) => {
        counter.waitMs = 0;
        await counter.alarm();
      });
    };
    await load();
    expect(await shardsOf(applicationId)).toBe(1);
    await inside((counter) => {
      counter.growth = { eventsPerSecond: Number.POSITIVE_INFINITY, bytes: 1 };
    });
    await load();
    await load();
    expect(await shardsOf(applicationId)).toBe(2);
    await inside((counter) => {
      counter.growth = { eventsPerSecond: 0, bytes: Number.POSITIVE_INFINITY };
      counter.load.startAt(Date.now() - 10_000);
    });
    // The first counter is none of the newest any more: its devices stay, however busy they are.
    await load();
    expect(await shardsOf(applicationId)).toBe(2);
    const second = startCounter(applicationId, 1);
    await second.inside((counter) => counter.load.startAt(Date.now() - 10_000));
    await second.append([eventOf(applicationId, device, 'custom.ad', { shard: 1 })]);
    await second.inside(async (counter) => {
      counter.growth = { eventsPerSecond: 0, bytes: Number.POSITIVE_INFINITY };
      await counter.alarm();
    });
    expect(await shardsOf(applicationId)).toBe(4);
    await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?')
      .bind(MAX_SHARDS, applicationId)
      .run();
    await inside((counter) => {
      counter.growth = { eventsPerSecond: Number.POSITIVE_INFINITY, bytes: 1 };
    });
    await load();
    expect(await shardsOf(applicationId)).toBe(MAX_SHARDS);
  });
});
