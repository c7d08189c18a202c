import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapLimit } from '../helpers/heap-limit.ts';

const script = path.join(import.meta.dirname, 'answer-heap.ts');
const MAX_HEAP_MB = 64;

// An isolate has 128 MB for everything at once. Whatever was sent, an answer needs no more than half of it.
it.each([
  ['a funnel of 100,000 versions', 'funnel', 100_000, { devices: 100_000 }],
  [
    'client totals of 250,000 gaps',
    'client-totals',
    250_000,
    { devices: 250_000, rows: 200, largest: '5249999', smallest: '5249900' },
  ],
  ['predicted LTV of 73,000 creatives on 100 days', 'predicted-ltv', 73_000, { devices: 73_000, rows: 501 }],
])(`answers %s with a heap of ${MAX_HEAP_MB} MB`, async (_, question, devices, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...heapLimit(MAX_HEAP_MB),
    '--disable-warning=ExperimentalWarning',
    script,
    question,
    ...['--devices', String(devices)],
  ]);
  expect(JSON.parse(stdout)).toMatchObject(expected);
});
