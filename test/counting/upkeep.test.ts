import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database, parkedMessages } from '#db';
import { settingsOf } from '#env';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { keyGenerations, seenIds } from '../../src/counting/schema.ts';
import { SeenIds } from '../../src/counting/seen-ids.ts';
import { openStore } from '../../src/counting/store.ts';
import { pruneRepeats, readRedeliveryLimit } from '../../src/counting/upkeep.ts';
import { startCounter } from '../helpers/counter.ts';

const NOW = Date.parse('2026-03-20T12:00:30Z');

it('expects redeliveries for nine days, and of what is parked for as long as it is', async () => {
  const [own, other] = [newId('app'), newId('app')];
  const limit = async () => (NOW - (await readRedeliveryLimit(env.DB, own, NOW))) / DAY_MS;
  const park = (applicationId: string, days: number) =>
    database(env.DB)
      .insert(parkedMessages)
      .values({ id: newId('prk'), applicationId, body: '', reason: '', parkedAt: NOW - days * DAY_MS });
  expect(await limit()).toBe(9);
  await park(other, 40);
  expect(await limit()).toBe(9);
  await park(own, 5);
  await park(own, 2);
  expect(await limit()).toBe(14);
  // It may contain events of any application.
  await park('', 30);
  expect(await limit()).toBe(39);
});

it('forgets the ids of events of the minutes before redeliveries end', async () => {
  /** An id that was minted at a time. */
  const idAt = (time: number) => {
    const bytes = new Uint8Array(16).fill(7);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, Math.floor(time / 2 ** 16));
    view.setUint16(4, time % 2 ** 16);
    return bytes;
  };
  await startCounter().inside((_, { storage }) => {
    const store = openStore(storage);
    const seen = new SeenIds(store);
    const limit = NOW - 9 * DAY_MS;
    const times = [limit - 60_000, limit - 1_000, limit, NOW];
    for (const [batch, time] of times.entries())
      expect(seen.addAll(idAt(time), batch)).toHaveLength(batch === 2 ? 0 : 1);
    pruneRepeats(store, seen, env, limit, NOW);
    expect(store.select({ batch: seenIds.batch }).from(seenIds).all()).toEqual([{ batch: 1 }, { batch: 3 }]);
    expect(times.map((time) => seen.addAll(idAt(time), 9).length)).toEqual([1, 0, 0, 0]);
  });
});

it('forgets keys after the days of idempotency, by whole weeks', async () => {
  await startCounter().inside((_, { storage }) => {
    const store = openStore(storage);
    const week = Math.floor((NOW - settingsOf(env).IDEMPOTENCY_DAYS * DAY_MS) / (7 * DAY_MS));
    for (const own of [week - 1, week])
      store.insert(keyGenerations).values({ day: 20_000, week: own, bits: 0, blocked: 0, recent: 1 }).run();
    pruneRepeats(store, new SeenIds(store), env, NOW - 9 * DAY_MS, NOW);
    expect(store.select().from(keyGenerations).all()).toMatchObject([{ week }]);
  });
});
