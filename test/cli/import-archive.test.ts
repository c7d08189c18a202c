import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isArchive, prepareArchive } from '../../src/cli/import-archive.ts';
import type { Target } from '../../src/cli/import-file.ts';

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
