import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import type { Bucket } from '#lake';
import { newId } from '#lib/ids';
import { DAY_MS, dayIn } from '#lib/time';
import { clickOf, eventOf, rollupOf, startCounter, type TestCounter } from '../helpers/counter.ts';
import { eventsInFiles, FaultyBucket, objectsOf } from '../helpers/lake.ts';
import { parkMessage } from '../helpers/parked.ts';
import { counterRows } from '../helpers/stored.ts';

const START = Date.now();
const TODAY = dayIn('UTC', START);
const HOUR_MS = 3_600_000;
afterEach(() => vi.useRealTimers());

/** Moves the clock alone: alarms and timers stay real. */
const setTime = (at: number) => vi.useFakeTimers({ toFake: ['Date'], now: at });

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice({ acquiredAt: START, acquiredDay: TODAY });
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  return { ...counter, device: created.device };
}

const NOTHING = { before: null, after: null };
const listed = async ({ stub }: TestCounter) => (await stub().listFiles({}, NOTHING)).files;
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id).sort();

async function alarm({ inside }: TestCounter, bucket?: Bucket): Promise<void> {
  await inside(async (counter) => {
    if (bucket) counter.bucket = bucket;
    await counter.alarm();
  });
}

/** An ad view that was received now. */
const adOf = (counter: TestCounter & { device: Parameters<typeof eventOf>[1] }, day = TODAY) =>
  eventOf(counter.applicationId, counter.device, 'custom.ad', { day, received_at: Date.now() });

it('exports counted events within the hour with their status, and trims the log', async () => {
  const counter = await start();
  const { append, stub, applicationId, device } = counter;
  const ad = (keys: string[], more = {}) =>
    eventOf(applicationId, device, 'custom.ad', { day: TODAY, keys, received_at: START, ...more });
  const events = [ad(['e:1']), ad(['e:1']), ad(['e:2'], { test: true })];
  await append(events);
  await stub().settle();
  await alarm(counter);
  expect(await listed(counter)).toEqual([]);
  setTime(START + HOUR_MS - 60_000);
  await append([ad(['e:3'])]);
  await alarm(counter);
  const files = await listed(counter);
  expect(files).toMatchObject([{ rows: 4, shard: 0, applicationId }]);
  expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key));
  expect(await counterRows(applicationId, 'log_outcomes')).toEqual([]);
  const stored = await eventsInFiles(files);
  const countingResultOf = (event: LoggedEvent | undefined) => {
    const { outcome, reason } = stored.find(({ id }) => id === event?.id) ?? {};
    return [outcome, reason];
  };
  expect(events.map(countingResultOf)).toEqual([
    [undefined, undefined],
    ['duplicate', undefined],
    ['ignored', 'test event'],
  ]);
  expect((await stub().health()).hotEvents).toBe(1);
  expect(await stub().eventStatus(events[0]?.id ?? '')).toMatchObject({
    status: 'exported',
    files: [{ rows: 4 }],
  });
  // What has left is still told from a redelivery, and its keys from a repeat.
  expect(await append(events)).toMatchObject({ appended: 0 });
  await append([ad(['e:1'])]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
});

it('exports no event that is not counted', async () => {
  const counter = await start();
  const { append, stub, inside } = counter;
  const withoutD1 = () =>
    inside((inner) => {
      inner.db = new Proxy(env.DB, {
        get: () => () => {
          throw new Error('D1 is down');
        },
      });
    });
  await append([adOf(counter)]);
  await withoutD1();
  expect(await stub().settle(50)).toMatchObject({ settled: false });
  const waits = adOf(counter);
  await append([waits]);
  setTime(START + 2 * HOUR_MS);
  await alarm(counter);
  expect(await listed(counter)).toMatchObject([{ rows: 2 }]);
  expect((await stub().health()).hotEvents).toBe(1);
  expect((await stub().readLog({}, null, 10)).events).toMatchObject([{ id: waits.id }]);
});

const EVERY_FAULT = [1, 2, 3, 4].flatMap((change) => [true, false].map((done) => ({ change, done })));

it.each(EVERY_FAULT)(
  'exports each event once although change $change of the bucket fails (done: $done) and the counter is killed',
  async (fault) => {
    const counter = await start();
    const { append, stub, applicationId } = counter;
    // Two days: two files. The third object tells about the new device.
    const events = [adOf(counter), adOf(counter, dayIn('UTC', START - DAY_MS)), adOf(counter)];
    await append(events);
    await stub().settle();
    setTime(START + 2 * HOUR_MS);
    const bucket = new FaultyBucket(env.RAW_EVENTS, fault);
    for (let attempt = 0; attempt < 3; attempt++) {
      await alarm(counter, bucket);
      await alarm(counter, bucket);
      await evictDurableObject(stub());
    }
    const files = await listed(counter);
    expect(bucket.failures).toBe(fault.change <= 3 ? 1 : 0);
    expect(files.length).toBeGreaterThanOrEqual(2);
    expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key).sort());
    const stored = await eventsInFiles(files);
    expect(idsOf(stored.filter(({ type }) => type !== 'install'))).toEqual(idsOf(events));
    expect((await stub().health()).hotEvents).toBe(0);
  },
);

it('keeps the log, continues counting and retries later while R2 fails', async () => {
  const counter = await start();
  const { append, stub, inside, applicationId } = counter;
  await append([adOf(counter)]);
  await stub().settle();
  setTime(START + 2 * HOUR_MS);
  const bucket = new FaultyBucket(env.RAW_EVENTS, 'always');
  await append([adOf(counter)]);
  await alarm(counter, bucket);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  expect(await stub().health()).toMatchObject({ hotEvents: 3, exportError: expect.stringContaining('R2') });
  const due = await inside((_, state) => state.storage.getAlarm());
  expect(due).toBeGreaterThan(Date.now());
  expect(due).toBeLessThanOrEqual(Date.now() + 300_000);
  bucket.heal();
  await alarm(counter);
  expect(await listed(counter)).toHaveLength(1);
  expect((await stub().health()).exportError).toBeNull();
});

it('leaves out an erased device, even if it is erased while its file is being written', async () => {
  const counter = await start();
  const { append, stub, createDevice, applicationId } = counter;
  const [second, third] = [
    await createDevice({ acquiredAt: START, acquiredDay: TODAY }),
    await createDevice({ acquiredAt: START, acquiredDay: TODAY }),
  ];
  if (second.outcome === 'moved' || third.outcome === 'moved') throw new Error('one shard');
  const of = (device: typeof second.device) =>
    eventOf(applicationId, device, 'custom.ad', { day: TODAY, received_at: Date.now() });
  await append([adOf(counter), of(second.device), of(third.device)]);
  await stub().eraseDevice(counter.device.id);
  setTime(START + 2 * HOUR_MS);
  const bucket = new FaultyBucket(env.RAW_EVENTS);
  const pending: number[] = [];
  bucket.beforePut = async () => {
    await stub().eraseDevice(second.device.id);
    for (const { id } of [second.device, counter.device]) pending.push(await stub().filesToRewrite([id]));
  };
  await alarm(counter, bucket);
  expect(pending).toEqual([1, 0]);
  await alarm(counter);
  const files = await listed(counter);
  const devices = (await eventsInFiles(files)).map((event) => 'device_id' in event && event.device_id);
  expect(new Set(devices)).toEqual(new Set([third.device.id]));
  expect(await stub().filesToRewrite([counter.device.id, second.device.id])).toBe(0);
  expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key));
});

it.each([{ change: 9, done: false }, ...EVERY_FAULT])(
  'rewrites files without erased events, although change $change fails (done: $done)',
  async (fault) => {
    const counter = await start();
    const { append, stub, createDevice, applicationId } = counter;
    const other = await createDevice({ acquiredAt: START, acquiredDay: TODAY });
    if (other.outcome === 'moved') throw new Error('one shard');
    const click = clickOf(applicationId, { day: TODAY, params: { email: 'jane@example.com' } });
    const kept = eventOf(applicationId, other.device, 'custom.ad', { day: TODAY, received_at: Date.now() });
    await append([adOf(counter), kept, click]);
    await stub().settle();
    setTime(START + 2 * HOUR_MS);
    await alarm(counter);
    expect(await listed(counter)).toMatchObject([{ rows: 5 }]);
    const wanted = [counter.device.id, click.id];
    await stub().eraseDevice(counter.device.id);
    expect(await stub().eraseEvents([click.id])).toBe(0);
    expect(await stub().filesToRewrite(wanted)).toBe(2);
    expect((await stub().erasedAmong([...wanted, other.device.id])).sort()).toEqual([...wanted].sort());
    const bucket = new FaultyBucket(env.RAW_EVENTS, fault);
    for (let attempt = 0; attempt < 3; attempt++) {
      await alarm(counter, bucket);
      await evictDurableObject(stub());
    }
    expect(await stub().filesToRewrite(wanted)).toBe(0);
    const files = await listed(counter);
    const stored = await eventsInFiles(files);
    expect(stored.map(({ type }) => type).sort()).toEqual(['custom.ad', 'install']);
    expect(JSON.stringify(stored)).not.toContain('jane');
    expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key));
  },
);

it('merges the small files of a day that is over, and deletes files after the retention', async () => {
  const counter = await start();
  const { append, stub, applicationId } = counter;
  const noon = Math.floor(START / DAY_MS) * DAY_MS + 1.5 * DAY_MS;
  const sent: LoggedEvent[] = [];
  for (let hour = 0; hour < 4; hour++) {
    setTime(noon + hour * HOUR_MS);
    const event = adOf(counter, dayIn('UTC', Date.now()));
    sent.push(event);
    await append([event]);
    await stub().settle();
    await alarm(counter);
  }
  setTime(noon + 6 * HOUR_MS);
  await alarm(counter);
  expect((await listed(counter)).length).toBeGreaterThan(3);
  setTime(noon + DAY_MS + HOUR_MS);
  await alarm(counter);
  const merged = await listed(counter);
  expect(merged.length).toBeLessThanOrEqual(2);
  expect(await objectsOf(applicationId)).toEqual(merged.map(({ key }) => key).sort());
  const stored = await eventsInFiles(merged);
  expect(idsOf(stored.filter(({ type }) => type !== 'install'))).toEqual(idsOf(sent));
  setTime(noon + 400 * DAY_MS);
  await alarm(counter);
  expect(await listed(counter)).not.toEqual([]);
  setTime(noon + 402 * DAY_MS);
  await alarm(counter);
  expect(await listed(counter)).toEqual([]);
  expect(await objectsOf(applicationId)).toEqual([]);
});

it('deletes each event after the retention, also of files with events that arrived much later', async () => {
  const counter = await start();
  const { append, stub, applicationId } = counter;
  const noon = Math.floor(START / DAY_MS) * DAY_MS + DAY_MS / 2;
  const exportAt = async (at: number) => {
    setTime(at);
    const event = adOf(counter);
    await append([event]);
    await stub().settle();
    setTime(at + 2 * HOUR_MS);
    await alarm(counter);
    return event;
  };
  await exportAt(noon);
  const late = await exportAt(noon + 30 * DAY_MS);
  setTime(noon + 32 * DAY_MS);
  await alarm(counter);
  expect(await listed(counter)).toMatchObject([{ rows: 3, firstDay: TODAY, lastDay: TODAY }]);
  setTime(noon + 402 * DAY_MS);
  await alarm(counter);
  const files = await listed(counter);
  expect(files).toMatchObject([{ rows: 1, firstEventId: late.id, firstDay: TODAY }]);
  expect(idsOf(await eventsInFiles(files))).toEqual([late.id]);
  expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key));
  setTime(noon + 432 * DAY_MS);
  await alarm(counter);
  expect(await objectsOf(applicationId)).toEqual([]);
});

it('exports events of very many days in several ranges of a bounded number of files', async () => {
  const counter = await start();
  const { append, stub, applicationId } = counter;
  const dayBefore = (days: number) => dayIn('UTC', START - days * DAY_MS);
  const sent: LoggedEvent[] = [];
  for (const first of [0, 300, 600]) {
    const events = Array.from({ length: 300 }, (_, index) => adOf(counter, dayBefore(first + index)));
    sent.push(...events);
    await append(events);
  }
  await stub().settle();
  setTime(START + 2 * HOUR_MS);
  await alarm(counter);
  const keys = await objectsOf(applicationId);
  expect(keys).toHaveLength(900);
  for (const key of keys)
    expect(key).toMatch(/^events\/application=app_\w+\/day=\d{4}-\d\d-\d\d\/evt_\w+\.parquet$/);
  expect((await stub().health()).hotEvents).toBe(0);
  const rows = await counterRows(applicationId, 'files');
  expect(new Set(rows.map(({ through_batch }) => through_batch)).size).toBe(2);
});

it('deletes ids after nine days and keys later, but not while a parked message may be replayed', async () => {
  const { applicationId, append, stub, device, inside } = await start();
  const event = eventOf(applicationId, device, 'custom.ad', { keys: ['e:1'] });
  const purchase = eventOf(applicationId, device, 'custom.purchase', { keys: ['success:t:1'] });
  await append([event, purchase]);
  await stub().settle();
  const alarmAt = async (at: number) => {
    setTime(at);
    await inside((counter) => counter.alarm());
  };
  await alarmAt(START + 8 * DAY_MS);
  expect(await append([event])).toMatchObject({ appended: 0 });
  const parked = await parkMessage(applicationId, { parkedAt: START + 8 * DAY_MS });
  await alarmAt(START + 20 * DAY_MS);
  expect(await append([event])).toMatchObject({ appended: 0 });
  await env.DB.prepare('DELETE FROM parked_messages WHERE id = ?').bind(parked).run();
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
  await alarmAt(START + 402 * DAY_MS);
  await append([again('custom.purchase', ['success:t:1'])]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ purchases: 2 });
});
