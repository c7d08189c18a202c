import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ImportedRow, prepareRows } from '../../src/cli/import/devices.ts';
import { Scratch } from '../../src/cli/import/scratch.ts';
import { startStandIn } from './stand-in.ts';

let folder: string;
let service: Awaited<ReturnType<typeof startStandIn>>;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'devices-'));
  service = await startStandIn();
});
afterEach(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const rowOf = (line: number, id: string): ImportedRow => ({
  line,
  kind: 'events',
  outcome: 'read',
  device: { id, metrics: { created_at: '2026-03-01T10:00:00Z', data: {} } },
  envelopes: [{ type: 'custom', line }],
  row: {},
});

/** Prepares rows. Returns the lines of the items that it wrote, in order. `rows` receives how many bytes of them are written so far. */
async function prepare(rows: (bytesWritten: () => number) => AsyncIterable<ImportedRow>): Promise<number[]> {
  const files = { events: path.join(folder, 'events'), rejected: path.join(folder, 'rejected') };
  const scratch = new Scratch(path.join(folder, 'scratch'));
  const bytesWritten = () => statSync(files.events, { throwIfNoEntry: false })?.size ?? 0;
  await prepareRows(rows(bytesWritten), service.target, scratch, files);
  scratch.close();
  expect(await readFile(files.rejected, 'utf8')).toBe('');
  const items = (await readFile(files.events, 'utf8')).trimEnd().split('\n');
  return items.map((item) => JSON.parse(item).line);
}

const linesUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('fetches the tokens of many devices in requests of 200, and writes each row once', async () => {
  const lines = await prepare(async function* () {
    for (const line of linesUpTo(900)) yield rowOf(line, `device-${line % 450}`);
  });
  expect(lines).toEqual(linesUpTo(900));
  const sent = service.requests('/fetch-token/batch').map(({ body }) => (body.devices as unknown[]).length);
  expect(sent).toEqual([200, 200, 50]);
});

it('keeps a bounded number of rows in memory, however many a device has', async () => {
  const ROWS = 20_500;
  let written = 0;
  const lines = await prepare(async function* (bytesWritten) {
    for (const line of linesUpTo(ROWS)) {
      if (line === ROWS) written = bytesWritten();
      yield rowOf(line, 'device');
    }
  });
  expect(lines).toEqual(linesUpTo(ROWS));
  expect(written).toBeGreaterThan(0);
  expect(service.requests('/fetch-token/batch')).toHaveLength(1);
});
