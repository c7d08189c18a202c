import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type StoredEvent, writeFiles } from '#lake';
import { isArchive, prepareArchive } from '../../src/cli/import-archive.ts';
import type { Target } from '../../src/cli/import-file.ts';
import { MemoryBucket } from '../lake/memory-bucket.ts';

let folder: string;
let server: Server;
let target: Target;
let asked: { created_at: string; data: { device_id: string } }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'archive-'));
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      asked.push(JSON.parse(body));
      // The first one fails, as it may.
      response.statusCode = asked.length === 1 ? 500 : 200;
      response.end(JSON.stringify({ token: `token-of-${JSON.parse(body).data.device_id}` }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  target = { url: `http://127.0.0.1:${port}`, apiKey: 'key', headerName: 'service-api-key' };
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const archived = (type: string, device: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    type,
    created_at: '2026-03-02T10:00:00.000Z',
    event_id: `evt_${device}_${type}`,
    payload: { event_name: 'level' },
    archived: { device_id: device, acquired_day: '2026-03-01' },
    ...more,
  });

it('makes envelopes of archived events, with one token a device', async () => {
  const file = path.join(folder, 'a.ndjson');
  const click = archived('click', '', { archived: {} });
  await writeFile(
    file,
    [archived('install', 'd1'), click, archived('custom', 'd1'), archived('custom', 'd2')].join('\n'),
  );
  expect(await isArchive(file)).toBe(true);
  const ready = await prepareArchive(file, target);
  const lines = (await readFile(ready, 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    ['d1', 'd2'].map((device) => ({
      type: 'custom',
      created_at: '2026-03-02T10:00:00.000Z',
      event_id: `evt_${device}_custom`,
      payload: { event_name: 'level' },
      creativeToken: `token-of-${device}`,
    })),
  );
  expect(asked.map(({ data }) => data.device_id)).toEqual(['d1', 'd1', 'd2']);
  expect(asked[0]?.created_at).toBe('2026-03-01T12:00:00.000Z');
  asked = [];
  expect(await prepareArchive(file, target)).toBe(ready);
  expect(asked).toEqual([]);
});

it('tells other files from the archive', async () => {
  const file = path.join(folder, 'b.ndjson');
  for (const text of ['', 'no json', '{"type":"custom"}']) {
    await writeFile(file, text);
    expect(await isArchive(file)).toBe(false);
  }
});

/** A click is of no device. */
function clickOf({ device_id: _, acquired_day: __, ...identity }: Record<string, unknown>): object {
  return { ...identity, type: 'click', creative_id: `crt_${'c'.repeat(32)}` };
}

it('makes envelopes of a raw event file', async () => {
  const device = `dev_${'a'.repeat(32)}`;
  const common = {
    application_id: 'app_1',
    device_id: device,
    creative_id: null,
    acquired_day: '2026-03-01',
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
      keys: [`e:${uuid}`],
      device: { os_system: '18.1' },
    },
    { ...common, type: 'retention', age: 1, session_id: 's', session_end: true, session_seconds: 60 },
    { ...common, type: 'custom', event_name: 'level', params: { value: '3' }, test: true, keys: ['h:e:no'] },
    { ...common, type: 'custom', event_name: 'level', duplicate: true },
    { ...common, type: 'custom.ad', ad_id: 'a', source: 'banner', value_micros: 12_345, currency: 'usd' },
    {
      ...common,
      type: 'custom.purchase',
      item_id: 'i',
      item_name: 'Item',
      value_micros: 4_990_000,
      currency: 'eur',
      status: 'completed',
      tr_id: 'T',
      keys: [`success:e:${uuid}`, 'success:d:T', 'success:t:T'],
    },
  ];
  const bucket = new MemoryBucket();
  const stored = events.map((event, index) => ({ ...event, id: `evt_${String(index).padStart(32, '0')}` }));
  await writeFiles(bucket, { applicationId: 'app_1', shard: 0 }, [stored as StoredEvent[]]);
  const file = path.join(folder, 'c.parquet');
  await writeFile(file, [...bucket.objects.values()][0] ?? '');

  expect(await isArchive(file)).toBe(true);
  const lines = (await readFile(await prepareArchive(file, target), 'utf8')).trim().split('\n');
  const sent = { created_at: '2026-03-02T10:00:00.250Z', creativeToken: `token-of-${device}` };
  const evt = (index: number) => `evt_${String(index).padStart(32, '0')}`;
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      ...sent,
      type: 'retention',
      event_id: uuid,
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
  // One token for one device; the first request fails here, too.
  expect(asked.map(({ created_at, data }) => [created_at, data.device_id])).toEqual([
    ['2026-03-01T12:00:00.000Z', device],
    ['2026-03-01T12:00:00.000Z', device],
  ]);
});
