import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = path.join(import.meta.dirname, 'run-heap.ts');
const LIMITS_MB = [56, 64, 72, 96, 128];

/** The smallest of the tried V8 heap limits, in MB, with which a counter counts these events; infinite if none is enough. */
export async function measureHeap(...args: string[]): Promise<number> {
  for (const limit of LIMITS_MB) {
    const flags = [`--max-old-space-size=${limit}`, '--disable-warning=ExperimentalWarning'];
    const isEnough = await promisify(execFile)(process.execPath, [...flags, SCRIPT, ...args]).then(
      () => true,
      () => false,
    );
    if (isEnough) return limit;
  }
  return Number.POSITIVE_INFINITY;
}
