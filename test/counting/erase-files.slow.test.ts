import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { packEvents } from '#counting';
import { mergeFiles } from '#lake';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { fileIndex, listFiles } from '../../src/counting/files/file-index.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, newDevice, startCounter, type TestCounter } from '../helpers/counter.ts';
import { eventsInFiles, FaultyBucket } from '../helpers/lake.ts';
import { counterRows } from '../helpers/stored.ts';

const NOON = Date.parse('2026-03-02T12:00:00Z');
const HOUR_MS = 3_600_000;

/** Moves the clock alone: timers stay real. */
const setTime = (at: number) => vi.useFakeTimers({ toFake: ['Date'], now: at });

beforeEach(() => {
  setTime(NOON);
});
afterEach(() => vi.useRealTimers());

/** A counter whose alarm rings only when the test says so. */
async function start() {
  const counter = startCounter();
  await counter.inside((_, state) => void vi.spyOn(state.storage, 'setAlarm').mockResolvedValue());
  const device = newDevice({ acquiredAt: NOON, acquiredDay: '2026-03-02' });
  await counter.createDevice(device);
  return { ...counter, device };
}

const alarm = ({ inside }: TestCounter) => inside((counter) => counter.alarm());

/** Appends events, and exports all of the log two hours later. */
async function exported(counter: TestCounter, events: LoggedEvent[]): Promise<void> {
  await counter.append(events);
  await counter.stub().settle();
  setTime(Date.now() + 2 * HOUR_MS);
  await alarm(counter);
  expect((await counter.stub().health()).hotEvents).toBe(0);
}

const adOf = ({ applicationId }: TestCounter, device: Parameters<typeof eventOf>[1]) =>
  eventOf(applicationId, device, 'custom.ad', { received_at: Date.now() });

const clickOf = ({ applicationId }: TestCounter): LoggedEvent => ({
  id: newId('evt'),
  application_id: applicationId,
  type: 'click',
  creative_id: newId('crt'),
  day: '2026-03-02',
  occurred_at: Date.now(),
  received_at: Date.now(),
});

/** Lets each file's filter match every device, as it does one in 46. */
const matchEveryDevice = ({ inside }: TestCounter) =>
  inside((_, state) => void state.storage.sql.exec("UPDATE files SET device_filter = x'ff'"));

const listed = async ({ stub }: TestCounter) =>
  (await stub().listFiles({}, { before: null, after: null })).files;

/** Erases a device, and returns how many files may still contain it. */
async function erase({ stub }: TestCounter, deviceId: string): Promise<number> {
  await stub().eraseDevice(deviceId);
  return stub().filesToRewrite([deviceId]);
}

/** Erases an event in the same way. */
async function eraseEvent({ stub }: TestCounter, eventId: string): Promise<number> {
  await stub().eraseEvents([eventId]);
  return stub().filesToRewrite([eventId]);
}

const typesIn = async (counter: TestCounter) =>
  (await eventsInFiles(await listed(counter))).map(({ type }) => type).sort();

it('completes an erasure although the filters of files keep matching the device', async () => {
  const counter = await start();
  const other = newDevice({ acquiredAt: NOON, acquiredDay: '2026-03-02' });
  await counter.createDevice(other);
  await exported(counter, [adOf(counter, counter.device), adOf(counter, other)]);
  await exported(counter, [adOf(counter, other)]);
  await matchEveryDevice(counter);
  expect(await erase(counter, counter.device.id)).toBe(2);
  // A repeat before that is no progress.
  expect(await erase(counter, counter.device.id)).toBe(2);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['custom.ad', 'custom.ad', 'install']);
  await matchEveryDevice(counter);
  expect(await erase(counter, counter.device.id)).toBe(0);
});

it('completes the erasure of an event that lies between others of its file', async () => {
  const counter = await start();
  const click = clickOf(counter);
  await exported(counter, [adOf(counter, counter.device), click, adOf(counter, counter.device)]);
  expect(await eraseEvent(counter, click.id)).toBe(1);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['custom.ad', 'custom.ad', 'install']);
  expect(await eraseEvent(counter, click.id)).toBe(0);
});

it('finds a click that was exported after its erasure', async () => {
  const counter = await start();
  const click = clickOf(counter);
  await exported(counter, [adOf(counter, counter.device)]);
  await eraseEvent(counter, click.id);
  await alarm(counter);
  await exported(counter, [click, adOf(counter, counter.device)]);
  expect(await typesIn(counter)).toContain('click');
  expect(await eraseEvent(counter, click.id)).toBe(1);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['custom.ad', 'custom.ad', 'install']);
  expect(await eraseEvent(counter, click.id)).toBe(0);
});

it('finds a device that was created again after its erasure', async () => {
  const counter = await start();
  const { device, stub, applicationId } = counter;
  await exported(counter, [adOf(counter, device)]);
  await erase(counter, device.id);
  await alarm(counter);
  expect(await listed(counter)).toEqual([]);
  // As a late retry of the call that created it does.
  await stub().createOrFindDevices(
    1,
    [{ alias: null, device }],
    packEvents(applicationId, [clickOf(counter)]),
  );
  await exported(counter, [adOf(counter, device)]);
  expect(await typesIn(counter)).toContain('custom.ad');
  expect(await erase(counter, device.id)).toBe(1);
  await alarm(counter);
  expect(await typesIn(counter)).not.toContain('custom.ad');
  await matchEveryDevice(counter);
  expect(await erase(counter, device.id)).toBe(0);
});

it('keeps apart what was examined and what was not when files are merged', async () => {
  const counter = await start();
  const click = clickOf(counter);
  const other = newDevice({ acquiredAt: NOON, acquiredDay: '2026-03-02' });
  await counter.createDevice(other);
  await exported(counter, [adOf(counter, counter.device)]);
  await exported(counter, [adOf(counter, other)]);
  await matchEveryDevice(counter);
  await erase(counter, counter.device.id);
  await eraseEvent(counter, click.id);
  await alarm(counter);
  expect(await listed(counter)).toHaveLength(2);
  setTime(NOON + 2 * DAY_MS);
  await alarm(counter);
  expect(await listed(counter)).toHaveLength(1);
  await matchEveryDevice(counter);
  expect([await erase(counter, counter.device.id), await eraseEvent(counter, click.id)]).toEqual([0, 0]);

  // The click is delivered late, and its file is merged with the one examined before.
  await exported(counter, [click]);
  expect(await listed(counter)).toHaveLength(2);
  setTime(NOON + 4 * DAY_MS);
  await alarm(counter);
  expect(await listed(counter)).toHaveLength(1);
  expect(await eraseEvent(counter, click.id)).toBe(1);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['custom.ad', 'install']);
  expect(await eraseEvent(counter, click.id)).toBe(0);
});

it('erases from every file that contains a device', async () => {
  const counter = await start();
  const other = newDevice({ acquiredAt: NOON, acquiredDay: '2026-03-02' });
  await counter.createDevice(other);
  for (let file = 0; file < 3; file++)
    await exported(counter, [adOf(counter, counter.device), adOf(counter, other)]);
  expect(await erase(counter, counter.device.id)).toBe(3);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['custom.ad', 'custom.ad', 'custom.ad', 'install']);
  expect(await erase(counter, counter.device.id)).toBe(0);
});

it('keeps a pending erasure when its files are merged', async () => {
  const counter = await start();
  await exported(counter, [adOf(counter, counter.device), clickOf(counter)]);
  await exported(counter, [adOf(counter, counter.device)]);
  expect(await erase(counter, counter.device.id)).toBe(2);
  await counter.inside(async (_, { storage }) => {
    const index = fileIndex(openStore(storage), (work) => storage.transactionSync(work));
    const { files } = listFiles(openStore(storage), {}, { before: null, after: null });
    await mergeFiles(env.RAW_EVENTS, index, files);
  });
  expect(await listed(counter)).toMatchObject([{ rows: 4 }]);
  expect(await counter.stub().filesToRewrite([counter.device.id])).toBe(1);
  await alarm(counter);
  expect(await typesIn(counter)).toEqual(['click']);
  expect(await erase(counter, counter.device.id)).toBe(0);
});

it('remembers the click of an erased device', async () => {
  const { device, stub } = await start();
  expect(await stub().erasedClick(device.id)).toBeNull();
  await stub().eraseDevice(device.id, 'evt_1');
  expect(await stub().erasedClick(device.id)).toBe('evt_1');
  await stub().eraseDevice(device.id);
  expect(await stub().erasedClick(device.id)).toBe('evt_1');
});

const erasures = async ({ applicationId }: TestCounter) =>
  (await counterRows(applicationId, 'erasures')).map(({ id }) => id);

it('forgets an erasure once all files of its time have expired, and no earlier', async () => {
  const counter = await start();
  const { device } = counter;
  const other = newDevice({ acquiredAt: NOON, acquiredDay: '2026-03-02' });
  await counter.createDevice(other);
  await exported(counter, [adOf(counter, device), adOf(counter, other)]);
  await erase(counter, device.id);
  setTime(NOON + 399 * DAY_MS);
  await alarm(counter);
  expect(await erasures(counter)).toEqual([device.id]);
  setTime(NOON + 402 * DAY_MS);
  await alarm(counter);
  expect(await erasures(counter)).toEqual([]);
});

it('keeps a bounded number of erasures, the newest', async () => {
  const counter = await start();
  await exported(counter, [adOf(counter, counter.device)]);
  await counter.inside((inner, state) => {
    state.storage.sql.exec(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100010)
       INSERT INTO erasures (id, through_batch, export_batch) SELECT 'dev_' || n, 1000 + n, iif(n = 1, 77, 0) FROM numbers`,
    );
    // The range that is being exported needs the oldest of them.
    state.storage.sql.exec('UPDATE progress SET export_batch = 77');
    inner.bucket = new FaultyBucket(env.RAW_EVENTS, 'always');
  });
  await counter.append([adOf(counter, counter.device)]);
  await counter.stub().settle();
  setTime(NOON + 2 * DAY_MS);
  await alarm(counter);
  const [row] = await counter.inside((_, state) =>
    state.storage.sql.exec('SELECT count(*) AS n, min(through_batch) AS oldest FROM erasures').toArray(),
  );
  expect(row).toEqual({ n: 100_001, oldest: 1_001 });
});
