import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';

const START = Date.now();
afterEach(() => vi.useRealTimers());

/** Moves the clock alone: alarms and timers stay real. */
const setTime = (at: number) => vi.useFakeTimers({ toFake: ['Date'], now: at });

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  return { ...counter, device: created.device };
}

it('gives out a settled range until it is confirmed, with what became of each event', async () => {
  const { applicationId, append, stub, device } = await start();
  const ad = (keys: string[]) => eventOf(applicationId, device, 'custom.ad', { keys });
  const events = [ad(['e:1']), ad(['e:1']), ad(['e:2'])];
  await append(events);
  expect(await stub().takeForExport()).toBeNull();
  setTime(Date.now() + 2 * 3_600_000);
  // Not counted yet, so not to be cut.
  expect(await stub().takeForExport()).toBeNull();
  await stub().settle();
  const range = await stub().takeForExport();
  expect(range?.events.map(({ event, outcome }) => [event.id, outcome]).slice(1)).toEqual([
    [events[0]?.id, undefined],
    [events[1]?.id, 'duplicate'],
    [events[2]?.id, undefined],
  ]);
  // Whatever arrives, and whoever is killed, before it is confirmed: the same range.
  await append([ad(['e:3'])]);
  await stub().settle();
  await evictDurableObject(stub());
  expect(await stub().takeForExport()).toEqual(range);
  await stub().confirmExport(range?.lastBatch ?? 0);
  await stub().confirmExport(range?.lastBatch ?? 0);
  expect((await stub().health()).hotEvents).toBe(1);
  expect(await stub().eventStatus(events[0]?.id ?? '')).toMatchObject({ status: 'exported', event: null });
  // What has left is still told from a redelivery, and its keys from a repeat.
  expect(await append(events)).toMatchObject({ appended: 0 });
  await append([ad(['e:2'])]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
});

it('leaves an erased device out of a range that was taken before', async () => {
  const { applicationId, append, stub, device } = await start();
  await append([eventOf(applicationId, device, 'custom.ad')]);
  setTime(Date.now() + 2 * 3_600_000);
  await stub().settle();
  expect((await stub().takeForExport())?.events).toHaveLength(2);
  await stub().eraseDevice(device.id);
  expect((await stub().takeForExport())?.events).toEqual([]);
});

it('forgets ids after nine days and keys later, but not while a parked message may be replayed', async () => {
  const { applicationId, append, stub, device, inside } = await start();
  const event = eventOf(applicationId, device, 'custom.ad', { keys: ['e:1'] });
  const purchase = eventOf(applicationId, device, 'custom.purchase', { keys: ['success:t:1'] });
  await append([event, purchase]);
  await stub().settle();
  const cut = async () => {
    const range = await stub().takeForExport();
    if (range) await stub().confirmExport(range.lastBatch);
  };
  const alarmAt = async (at: number) => {
    setTime(at);
    await inside((counter) => counter.alarm());
  };
  await alarmAt(START + 8 * DAY_MS);
  await cut();
  expect(await append([event])).toMatchObject({ appended: 0 });
  await env.DB.prepare('INSERT INTO parked_messages VALUES (?, ?, ?, ?, ?)')
    .bind('prk_1', applicationId, '{}', 'test', START + 8 * DAY_MS)
    .run();
  await alarmAt(START + 20 * DAY_MS);
  expect(await append([event])).toMatchObject({ appended: 0 });
  await env.DB.prepare("DELETE FROM parked_messages WHERE id = 'prk_1'").run();
  await alarmAt(START + 22 * DAY_MS);
  // Its id is forgotten, its key is not.
  expect(await append([event])).toMatchObject({ appended: 1 });
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1 });
  const again = (type: 'custom.ad' | 'custom.purchase', keys: string[]) =>
    eventOf(applicationId, device, type, { keys, id: newId('evt') });
  await alarmAt(START + 45 * DAY_MS);
  await append([again('custom.ad', ['e:1']), again('custom.purchase', ['success:t:1'])]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2, purchases: 1 });
  await alarmAt(START + 120 * DAY_MS);
  await append([again('custom.purchase', ['success:t:1'])]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ purchases: 2 });
});
