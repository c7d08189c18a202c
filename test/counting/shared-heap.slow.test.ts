import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapLimit } from '../helpers/heap-limit.ts';

const script = path.join(import.meta.dirname, 'shared-heap.ts');
/** An isolate has 128 MB, of which V8 and the platform need some. */
const MAX_HEAP_MB = 96;

it(`four counters of one isolate count at once with a heap of ${MAX_HEAP_MB} MB`, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...heapLimit(MAX_HEAP_MB),
    '--disable-warning=ExperimentalWarning',
    script,
  ]);
  expect(JSON.parse(stdout)).toEqual({ events: 4 * 40_000, waiting: 0 });
});
