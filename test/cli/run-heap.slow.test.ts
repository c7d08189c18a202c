import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapLimit } from '../helpers/heap-limit.ts';

const script = path.join(import.meta.dirname, '../bench/run-heap.ts');
const MAX_HEAP_MB = 64;

// An isolate has 128 MB for everything at once. Whatever is sent, a counter's runs end before they need more than half of it. The first case is
// what a run is meant for: a second one would read and write most devices again.
it.each([
  ['200,000 events', ['--events', '200000'], { events: 200_000, runs: 1 }],
  ['20,000 events of 6 KB each', ['--events', '20000', '--bytes', '6000'], { events: 20_000 }],
  ['100,000 events of as many names', ['--events', '100000', '--names', '100000'], { events: 100_000 }],
])(`counts %s with a heap of ${MAX_HEAP_MB} MB`, async (_, args, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...heapLimit(MAX_HEAP_MB),
    '--disable-warning=ExperimentalWarning',
    script,
    ...args,
  ]);
  expect(JSON.parse(stdout)).toMatchObject(expected);
});
