import { writeFiles } from '#lake';
import { MemoryBucket } from './memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';

export const SOURCE = { applicationId: APPLICATION_ID, shard: 2 };
export const STARTS_AT = Date.UTC(2026, 2, 10, 9);

/** Writes a history to files in a bucket of its own. */
export async function write(options: Partial<Parameters<typeof makeSlices>[0]> = {}) {
  const bucket = new MemoryBucket();
  const slices = [...makeSlices({ events: 20_000, devices: 8_000, ...options })];
  const entries = await writeFiles(bucket, SOURCE, slices);
  return { bucket, entries, events: slices.flat() };
}
