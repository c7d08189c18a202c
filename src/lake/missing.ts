import { chunksOf } from '#lib/collections/chunks';
import type { Bucket } from './entry.ts';

/** An invocation may open 6 connections. */
const READ_AT_ONCE = 6;

/** Which of some objects are not in the bucket. */
export async function missingAmong(bucket: Bucket, keys: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const chunk of chunksOf(keys, READ_AT_ONCE)) {
    const isMissing = await Promise.all(
      chunk.map(async (key) => {
        const object = await bucket.get(key, { range: { offset: 0, length: 1 } });
        // A body that is not read keeps its connection.
        await object?.arrayBuffer();
        return object === null;
      }),
    );
    missing.push(...chunk.filter((_, index) => isMissing[index]));
  }
  return missing;
}
