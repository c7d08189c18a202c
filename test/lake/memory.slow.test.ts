import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapLimit } from '../helpers/heap-limit.ts';

const WRITER = path.join(import.meta.dirname, 'write-file.ts');

it.each([
  ['several full files', 120_000, 0, 3],
  ['events of 6 KB', 20_000, 6_000, 8],
])('writes %s, and rewrites one, with a heap of 60 MB', async (_, events, bytes, files) => {
  const args = [...heapLimit(60), WRITER, String(events), String(bytes)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { rows, removed }: { rows: number[]; removed: number } = JSON.parse(stdout);
  expect(removed).toBeGreaterThan(0);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(events);
  expect(rows).toHaveLength(files);
});
