import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { database, destinations } from '#db';
import { newId } from '#lib/ids';
import { eventOf } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { startFeeding } from './feeding.ts';

afterEach(() => vi.useRealTimers());

const db = database(env.DB);

const idOf = ({ id }: LoggedEvent) => id;

it('hands over what was counted and matches, and nothing else', async () => {
  const applicationId = newId('app');
  const own = await startFeeding(
    applicationId,
    { events: ['install', 'purchase', 'custom:level_1'] },
    { events: ['purchase', 'refund'], filter: { os: 'ios' } },
    { events: ['ad', 'retention'], filter: { paid_only: true } },
    { events: ['purchase'], offSince: 1 },
  );
  const organic = await own.createDevice();
  const paid = await own.createDevice({
    creativeId: newId('crt'),
    attribution: JSON.stringify({ method: 'click_id' }),
  });
  const tester = await own.createDevice();
  if (organic.outcome === 'moved' || paid.outcome === 'moved' || tester.outcome === 'moved')
    throw new Error('moved');
  const event = (...more: Parameters<typeof eventOf> extends [string, ...infer Rest] ? Rest : never) =>
    eventOf(applicationId, ...more);
  const purchase = event(organic.device, 'custom.purchase', { keys: ['t:1'] });
  const repeat = { ...event(organic.device, 'custom.purchase', { keys: ['t:1'] }) };
  const failed = event(organic.device, 'custom.purchase', { status: 'failed' });
  const test = event(tester.device, 'custom.purchase', { test: true });
  const custom = event(paid.device, 'custom', { event_name: 'level_1' });
  const other = event(paid.device, 'custom', { event_name: 'level_2' });
  const ad = event(paid.device, 'custom.ad');
  const freeAd = event(organic.device, 'custom.ad');
  await own.append([purchase, repeat, failed, test, custom, other, ad, freeAd]);
  await own.feed();
  const [first, second, third, fourth] = own.ids;
  const counted = own.idsOf(first);
  expect(counted).toHaveLength(5);
  expect(counted.slice(3)).toEqual([purchase, custom].map(idOf));
  expect(own.eventsOf(first).map(({ type }) => type)).toEqual([
    'install',
    'install',
    'install',
    'purchase',
    'custom:level_1',
  ]);
  expect(own.idsOf(second)).toEqual([]);
  expect(own.idsOf(third)).toEqual([ad.id]);
  expect(own.idsOf(fourth)).toEqual([]);
  expect(own.eventsOf(third)[0]?.device).toMatchObject({
    attribution: { method: 'click_id' },
    segment: { os: 'android' },
  });
  await own.feed();
  expect(own.idsOf(first)).toHaveLength(5);
});

it('knows of a change, and counts sooner for a destination', async () => {
  const own = await startFeeding(newId('app'));
  const dueIn = () => own.inside(async (_, { storage }) => ((await storage.getAlarm()) ?? 0) - Date.now());
  await own.createDevices(1);
  expect(await dueIn()).toBeGreaterThan(30 * 60_000);
  await db.insert(destinations).values({
    ...{ id: newId('dst'), applicationId: own.applicationId, kind: 'webhook', settings: {}, credentials: '' },
    ...{ events: ['install'], filter: {}, version: 1, toldVersion: 0, createdAt: 0 },
  });
  await own.stub().refreshDestinations();
  expect(await dueIn()).toBeLessThan(31_000);
});

it('costs nothing without a destination: no read of D1 and no row', async () => {
  const own = await startFeeding(newId('app'));
  const [device] = await own.createDevices(1);
  if (!device) throw new Error('no device');
  await own.feed();
  await own.append([eventOf(own.applicationId, device, 'custom.ad')]);
  await own.inside(async (counter, { storage }) => {
    const watched = new WatchedStorage(storage);
    const d1 = new WatchedD1(env.DB);
    counter.use(watched.asStorage());
    counter.db = d1.asBinding();
    await counter.settle();
    expect(d1.log.filter((query) => query.includes('destinations'))).toEqual([]);
    expect(watched.queries.filter((query) => /insert.*outbound/i.test(query))).toEqual([]);
  });
});

it('hands over an erasure after what it is about, and nothing of an erased device', async () => {
  const own = await startFeeding(newId('app'), {});
  const [erased, kept] = await own.createDevices(2);
  if (!erased || !kept) throw new Error('no device');
  await own.inside(async (counter) => {
    counter.sendParts = () => Promise.reject(new Error('down'));
    await counter.settle();
    await counter.eraseDevice(erased.id);
    await counter.fed();
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  await own.feed();
  vi.useRealTimers();
  const parts = own.sent.get(own.ids[0] ?? '') ?? [];
  expect(own.eventsOf(own.ids[0]).map(({ event }) => 'device_id' in event && event.device_id)).toEqual([
    kept.id,
  ]);
  expect(parts.at(-1)).toEqual({ erased: erased.id });
});

it('does not wait for a destination that does not respond', async () => {
  const own = await startFeeding(newId('app'), {}, {});
  const [slow, fast] = own.ids;
  await own.createDevices(1);
  await own.inside(async (counter) => {
    counter.sendParts = async (id, parts) => {
      if (id === slow) await new Promise(() => undefined);
      own.take(id, parts);
    };
    await counter.settle();
    await counter.alarm();
  });
  await vi.waitFor(() => expect(own.idsOf(fast)).toHaveLength(1));
  const [device] = await own.createDevices(1);
  const { settled } = await own.inside((counter) => counter.settle());
  expect({ settled, device: device !== undefined }).toEqual({ settled: true, device: true });
});

it('counts although D1 cannot tell the destinations, which get their events later', async () => {
  const own = await startFeeding(newId('app'), { filter: { os: 'android' } }, { filter: { os: 'ios' } });
  const d1 = new WatchedD1(env.DB);
  d1.failWhen(() => true, 'D1_ERROR: Network connection lost.');
  await own.createDevices(2);
  await own.inside(async (counter) => {
    counter.db = d1.asBinding();
    await counter.settle();
    await counter.alarm();
    await counter.fed();
    expect((await counter.health()).outbox).toBe(1);
    counter.db = env.DB;
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  await own.feed();
  await own.feed();
  vi.useRealTimers();
  expect(own.ids.map((id) => own.eventsOf(id).length)).toEqual([2, 0]);
});

const STATEMENTS = [
  'insert into "outbound_parts"',
  'delete from "outbound_parts" where "outbound_parts"."run"',
  'delete from "outbound_parts" where "outbound_parts"."part"',
  'from "outbound_parts"',
  'insert into "prepared_writes"',
  'update "progress"',
  'insert into "outbox"',
];

it.each(
  STATEMENTS.flatMap((statement) =>
    (['before', 'after', 'commit'] as const).map((when) => [when, statement] as const),
  ),
)(
  'hands over each counted event, and none that was not, if the store fails %s %s and the counter is killed',
  async (when, statement) => {
    const own = await startFeeding(newId('app'), {});
    const devices = await own.createDevices(3);
    const events = devices.map((device) =>
      eventOf(own.applicationId, device, 'custom.purchase', { keys: ['t:1'] }),
    );
    await own.append(events);
    await own
      .inside(async (counter, { storage }) => {
        const watched = new WatchedStorage(storage);
        watched.failOn(new RegExp(statement), when, 1);
        counter.use(watched.asStorage());
        // The answer is lost.
        counter.sendParts = async (id, parts) => {
          own.take(id, parts);
          throw new Error('Network connection lost.');
        };
        await counter.settle().catch(() => undefined);
        await counter.alarm();
        await counter.fed();
      })
      .catch(() => undefined);
    await own.kill();
    await own.feed();
    await own.feed();
    const [id] = own.ids;
    // Of three purchases with one key, one is counted.
    expect(
      own
        .eventsOf(id)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['install', 'install', 'install', 'purchase']);
    expect(new Set(own.idsOf(id)).size).toBe(4);
  },
);
