import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ImportProgress,
  importFile,
  progressFileOf,
  rejectedFileOf,
  type Target,
} from '../../src/cli/import/file.ts';
import { exists } from '../../src/cli/local-state.ts';
import { slowIt } from '../helpers/thorough.ts';

type Item = { n?: number; bad?: boolean };
type Seen = { key: string; apiKey: string; events: Item[] };

let folder: string;
let server: Server;
let target: Target;
let seen: Seen[];
/** Answers that come before the usual one: a status each. */
let faults: number[];
let retryAfter: string;
/** How many answers end after their first half. */
let broken: number;

async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const { events }: { events: Item[] } = JSON.parse(await text(request));
  const fault = faults.shift();
  if (fault) return { status: fault, body: { success: false, error: 'no' } };
  const { 'idempotency-key': key, 'service-api-key': apiKey } = request.headers;
  seen.push({ key: String(key), apiKey: String(apiKey), events });
  const results = events.map((event, index) =>
    event.bad
      ? { index, error: 'type is required', details: [{ path: 'type', message: 'is required' }] }
      : { index, event_id: `evt_${index}` },
  );
  const accepted = events.filter((event) => !event.bad).length;
  return { status: 200, body: { success: true, accepted, rejected: events.length - accepted, results } };
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'import-'));
  [seen, faults, retryAfter, broken] = [[], [], '0', 0];
  server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => {
        const json = JSON.stringify(body);
        const headers = {
          'Content-Type': 'application/json',
          'Content-Length': json.length,
          'Retry-After': retryAfter,
        };
        response.writeHead(status, headers);
        if (broken-- > 0) response.write(json.slice(0, json.length / 2), () => response.destroy());
        else response.end(json);
      },
      (error) => response.destroy(error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  target = { url: `http://127.0.0.1:${port}`, apiKey: 'appkey_1', headerName: 'service-api-key' };
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

async function fileOf(lines: string[]): Promise<string> {
  const file = path.join(folder, 'events.ndjson');
  await writeFile(file, lines.join('\n'));
  return file;
}
const numbered = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify({ n }));
const sentNumbers = () =>
  seen.flatMap(({ events }) => events.map(({ n }) => n)).sort((a, b) => Number(a) - Number(b));

describe('importFile', () => {
  it('sends every line once, in batches of 500 with keys, and deletes its progress file', async () => {
    const file = await fileOf(numbered(1234));
    const steps: ImportProgress[] = [];
    const done = await importFile(file, target, (progress) => steps.push({ ...progress }));
    expect(done).toMatchObject({ lines: 1234, accepted: 1234, rejected: 0 });
    expect(sentNumbers()).toEqual(Array.from({ length: 1234 }, (_, n) => n));
    expect(seen.map(({ events }) => events.length).sort()).toEqual([234, 500, 500]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
    expect(seen.every(({ apiKey }) => apiKey === 'appkey_1')).toBe(true);
    expect(steps.map(({ lines }) => lines)).toEqual([0, 500, 1000, 1234]);
    expect(await exists(progressFileOf(file))).toBe(false);
    expect(await exists(rejectedFileOf(file))).toBe(false);
  });

  it('writes what was rejected, and why, with its line', async () => {
    const file = await fileOf(['{"n":1}', 'no json', '', '{"n":2,"bad":true}', '{"n":3}']);
    const done = await importFile(file, target, () => undefined);
    expect(done).toMatchObject({ lines: 5, accepted: 2, rejected: 2 });
    const rejected = (await readFile(rejectedFileOf(file), 'utf8')).trim().split('\n');
    expect(rejected.map((line) => JSON.parse(line))).toEqual([
      { line: 2, error: 'The line is not valid JSON', details: [], event: 'no json' },
      {
        line: 4,
        error: 'type is required',
        details: [{ path: 'type', message: 'is required' }],
        event: { n: 2, bad: true },
      },
    ]);
  });

  it('resumes where it stopped, and repeats unrecorded batches under the same key', async () => {
    const file = await fileOf(numbered(5000));
    await expect(
      importFile(file, target, ({ lines }) => {
        if (lines === 1500) throw new Error('pulled the plug');
      }),
    ).rejects.toThrow('pulled the plug');
    const before = new Map(seen.map(({ key, events }) => [key, events]));
    const noted: ImportProgress = JSON.parse(await readFile(progressFileOf(file), 'utf8'));
    expect(noted.lines).toBe(1500);
    seen = [];
    const done = await importFile(file, target, () => undefined);
    expect(done).toMatchObject({ lines: 5000, accepted: 5000 });
    expect(sentNumbers()[0]).toBe(1500);
    for (const { key, events } of seen) if (before.has(key)) expect(events).toEqual(before.get(key));
    for (const { key, events } of seen) before.set(key, events);
    const all = [...before.values()].flat().map(({ n }) => n);
    expect(new Set(all).size).toBe(5000);
    expect(all).toHaveLength(5000);
  });

  it('starts over when the file has changed', async () => {
    const file = await fileOf(numbered(600));
    await expect(
      importFile(file, target, ({ lines }) => {
        if (lines > 0) throw new Error('stop');
      }),
    ).rejects.toThrow('stop');
    await fileOf(numbered(700));
    expect(await importFile(file, target, () => undefined)).toMatchObject({ lines: 700, accepted: 700 });
  });

  it('starts over when only the end of a large file has changed', async () => {
    const lines = numbered(12_000);
    const file = await fileOf(lines);
    await expect(
      importFile(file, target, ({ lines: done }) => {
        if (done > 0) throw new Error('stop');
      }),
    ).rejects.toThrow('stop');
    const keys = new Set(seen.map(({ key }) => key));
    await fileOf([...lines.slice(0, -1), '{"n":99999}']);
    seen = [];
    const done = await importFile(file, target, () => undefined);
    expect(done).toMatchObject({ lines: 12_000, accepted: 12_000 });
    expect(sentNumbers()[0]).toBe(0);
    expect(seen.some(({ key }) => keys.has(key))).toBe(false);
  });

  it('counts progress and batches in bytes, not in characters', async () => {
    // Each line has some 150,000 characters of three bytes, and a batch 900,000 bytes.
    const wide = (length: number) => JSON.stringify({ n: 1, text: '猫'.repeat(length) });
    const file = await fileOf(Array.from({ length: 4 }, () => wide(150_010)));
    const steps: ImportProgress[] = [];
    await importFile(file, target, (progress) => steps.push({ ...progress }));
    const { size } = await stat(file);
    // The last line has no line break.
    expect(steps.at(-1)?.bytes).toBe(size + 1);
    expect(seen.map(({ events }) => events.length)).toEqual([1, 1, 1, 1]);
    seen = [];
    await importFile(await fileOf(Array.from({ length: 4 }, () => wide(149_900))), target, () => undefined);
    expect(seen.map(({ events }) => events.length)).toEqual([2, 2]);
  });

  it('rejects a line that is too large for a batch, and imports the others', async () => {
    const text = 'é'.repeat(450_000);
    const file = await fileOf(['{"n":1}', JSON.stringify({ n: 2, text }), '{"n":3}']);
    expect(await importFile(file, target, () => undefined)).toMatchObject({ accepted: 2, rejected: 1 });
    expect(sentNumbers()).toEqual([1, 3]);
    expect(await readFile(rejectedFileOf(file), 'utf8')).toMatch(
      /^\{"line":2,"error":"The line has 900018 bytes; the most is 900000"/,
    );
  });

  it('lists each rejected line once, however often the file is imported', async () => {
    const file = await fileOf(['{"n":1,"bad":true}']);
    for (let run = 0; run < 2; run++) await importFile(file, target, () => undefined);
    expect((await readFile(rejectedFileOf(file), 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('waits as long as the service asks', async () => {
    faults = [429];
    retryAfter = '7';
    const delays: (number | undefined)[] = [];
    const wait = globalThis.setTimeout;
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
      work: (...given: unknown[]) => void,
      delay?: number,
      ...given: unknown[]
    ) => {
      delays.push(delay);
      // Timers of the HTTP client keep their delay.
      return wait(work, delay === 7_000 ? 0 : delay, ...given);
    }) as typeof setTimeout);
    await importFile(await fileOf(numbered(1)), target, () => undefined).finally(() => spy.mockRestore());
    expect(delays).toContain(7_000);
  });

  slowIt('tries again after 429 and 5xx', async () => {
    faults = [429, 500];
    const done = await importFile(await fileOf(numbered(3)), target, () => undefined);
    expect(done).toMatchObject({ accepted: 3 });
  });

  it('tries again under the same key if an answer breaks off', async () => {
    broken = 1;
    const done = await importFile(await fileOf(numbered(3)), target, () => undefined);
    expect(done).toMatchObject({ accepted: 3, rejected: 0 });
    expect(seen).toHaveLength(2);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
  });

  it('stops at a refusal and shows the answer', async () => {
    faults = [401];
    await expect(importFile(await fileOf(numbered(3)), target, () => undefined)).rejects.toThrow(
      /answered 401 to \/webhook\/batch: .*"no"/,
    );
    expect(seen).toEqual([]);
  });

  it('says that there is no such file', async () => {
    await expect(importFile(path.join(folder, 'none'), target, () => undefined)).rejects.toThrow('ENOENT');
  });
});
