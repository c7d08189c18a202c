import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type StoredEvent, writeFiles } from '#lake';
import { readArchive } from '../../src/cli/import/archive.ts';
import { isParquet } from '../../src/cli/import/parquet.ts';
import { importRows } from '../../src/cli/import/rows.ts';
import { totalOf } from '../../src/cli/import/summary.ts';
import { slowIt } from '../helpers/thorough.ts';
import { MemoryBucket } from '../lake/memory-bucket.ts';
import { startStandIn } from './stand-in.ts';

type SentDevice = { created_at: string; data: Record<string, string> };

let folder: string;
let service: Awaited<ReturnType<typeof startStandIn>>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'archive-'));
});
beforeEach(async () => {
  service = await startStandIn();
});
afterEach(() => service.stop());
afterAll(() => rm(folder, { recursive: true }));

const importArchive = (file: string) =>
  importRows(
    { file },
    () => readArchive(file),
    service.target,
    () => undefined,
  ).then(({ summary }) => summary);
const asked = () => service.requests('/fetch-token/batch').map(({ body }) => body.devices as SentDevice[]);

it('distinguishes raw event files from other files', async () => {
  const file = path.join(folder, 'b.ndjson');
  for (const text of ['', 'no json', '{"type":"custom"}']) {
    await writeFile(file, text);
    expect(await isParquet(file)).toBe(false);
  }
});

/** A click is of no device. */
function clickOf({ device_id: _, acquired_day: __, ...identity }: Record<string, unknown>): object {
  return { ...identity, type: 'click', creative_id: `crt_${'c'.repeat(32)}` };
}

/** A raw event file of these events, numbered. */
async function rawEventFile(name: string, events: object[]): Promise<string> {
  const bucket = new MemoryBucket();
  const stored = events.map((event, index) => ({ ...event, id: `evt_${String(index).padStart(32, '0')}` }));
  await writeFiles(bucket, { applicationId: 'app_1', shard: 0 }, [stored as StoredEvent[]]);
  const file = path.join(folder, name);
  await writeFile(file, [...bucket.objects.values()][0] ?? '');
  return file;
}

slowIt('converts a raw event file to envelopes', async () => {
  const device = `dev_${'a'.repeat(32)}`;
  const common = {
    application_id: 'app_1',
    device_id: device,
    creative_id: null,
    acquired_day: '2026-03-01',
    country: 'de',
    os_family: 'ios',
    day: '2026-03-02',
    occurred_at: Date.parse('2026-03-02T10:00:00.250Z'),
    received_at: Date.parse('2026-03-02T10:00:01Z'),
  };
  const uuid = '0190a5a5-8a3e-4b1c-9d5e-0123456789ab';
  const events: object[] = [
    { ...common, type: 'install' },
    clickOf(common),
    {
      ...common,
      type: 'retention',
      age: 1,
      session_id: 's',
      keys: ['e:of the client'],
      device: { os_system: '18.1' },
    },
    { ...common, type: 'retention', age: 1, session_id: 's', session_end: true, session_seconds: 60 },
    {
      ...common,
      type: 'custom',
      event_name: 'level',
      params: { value: '3' },
      test: true,
      outcome: 'ignored',
    },
    { ...common, type: 'custom', event_name: 'level', outcome: 'duplicate' },
    { ...common, type: 'custom.ad', ad_id: 'a', source: 'banner', value_nanos: 12_345_000, currency: 'usd' },
    {
      ...common,
      type: 'custom.purchase',
      item_id: 'i',
      item_name: 'Item',
      value_nanos: 4_990_000_000,
      currency: 'eur',
      status: 'completed',
      tr_id: 'T',
      keys: [`success:e:${uuid}`, 'success:d:T', 'success:t:T'],
    },
  ];
  const file = await rawEventFile('c.parquet', events);
  expect(await isParquet(file)).toBe(true);
  let isFirst = true;
  service.intercept = () => {
    const fails = isFirst;
    isFirst = false;
    return fails ? { status: 500, body: {} } : null;
  };
  expect(totalOf(await importArchive(file))).toEqual({ read: 6, accepted: 6, repeated: 0, rejected: 0 });
  const sent = { created_at: '2026-03-02T10:00:00.250Z', creativeToken: `token-of-${device}` };
  const evt = (index: number) => `evt_${String(index).padStart(32, '0')}`;
  expect(service.events).toEqual([
    {
      ...sent,
      type: 'retention',
      event_id: 'of the client',
      os_system: '18.1',
      payload: { session_id: 's', retentionDay: 1 },
    },
    { ...sent, type: 'session', event_id: evt(3), payload: { a: 'end', sid: 's', sd: 60 } },
    {
      ...sent,
      type: 'custom',
      event_id: evt(4),
      dev: true,
      payload: { event_name: 'level', params: { value: '3' } },
    },
    {
      ...sent,
      type: 'custom.ad',
      event_id: evt(6),
      payload: { ad_id: 'a', source: 'banner', value: 0.012345, currency: 'usd' },
    },
    {
      ...sent,
      type: 'custom.purchase',
      event_id: uuid,
      dedupe_key: 'T',
      payload: {
        item_id: 'i',
        item_name: 'Item',
        value: 4.99,
        currency: 'eur',
        status: 'completed',
        tr_id: 'T',
      },
    },
  ]);
  // One token for one device; the first request fails.
  const once = [['2026-03-01T12:00:00.000Z', device, 'de', 'ios']];
  const described = asked().map((devices) =>
    devices.map(({ created_at, data }) => [created_at, data.device_id, data.country, data.os_system]),
  );
  expect(described).toEqual([once, once]);
});

/** One event for each of this many devices. */
const adsOf = (devices: number) =>
  Array.from({ length: devices }, (_, index) => ({
    application_id: 'app_1',
    device_id: `dev_${index.toString(16).padStart(32, '0')}`,
    creative_id: null,
    acquired_day: '2026-03-01',
    day: '2026-03-02',
    occurred_at: Date.parse('2026-03-02T10:00:00Z'),
    received_at: Date.parse('2026-03-02T10:00:01Z'),
    type: 'custom.ad',
    ad_id: 'a',
    source: 'banner',
    value_nanos: 1,
    currency: 'usd',
  }));

it('fetches 200 tokens per request, and none again when it continues', async () => {
  const file = await rawEventFile('d.parquet', [...adsOf(450), ...adsOf(3)]);
  service.intercept = (where) => (where === '/webhook/batch' ? { status: 401, body: {} } : null);
  await expect(importArchive(file)).rejects.toThrow('answered 401');
  expect(asked().map(({ length }) => length)).toEqual([200, 200, 50]);
  service.intercept = () => null;
  service.asked.length = 0;
  await importArchive(file);
  expect(asked()).toEqual([]);
  const tokens = service.events.map(({ creativeToken }) => creativeToken);
  expect(tokens).toHaveLength(453);
  expect(new Set(tokens).size).toBe(450);
});

it.each([
  ['a refused request', { status: 401, body: {} }, 'answered 401 to /fetch-token/batch'],
  ['a device without an answer', { status: 200, body: { results: [] } }, 'did not answer for every device'],
])('stops at %s, and continues when it is called again', async (name, refusal, message) => {
  const file = await rawEventFile(`${name}.parquet`, adsOf(1));
  service.intercept = () => refusal;
  await expect(importArchive(file)).rejects.toThrow(message);
  expect((await readdir(folder)).filter((each) => each.startsWith(name))).toEqual([`${name}.parquet`]);
  service.intercept = () => null;
  await importArchive(file);
  expect(service.events).toHaveLength(1);
});
