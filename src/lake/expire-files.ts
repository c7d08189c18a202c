import type { Bucket, FileEntry } from './entry.ts';
import type { FileIndex } from './rewrite.ts';

/** R2 deletes up to 1,000 objects at once; a file may have some more that it replaced. */
const MAX_FILES = 250;

/**
 * Deletes the files whose events were all received before a time (epoch milliseconds), the oldest first and at most 250 a call;
 * answers how many. The objects go first, so a call that failed is made good by the next one.
 */
export async function expireFiles(
  bucket: Bucket,
  index: FileIndex,
  entries: readonly FileEntry[],
  before: number,
): Promise<number> {
  const expired = entries
    .filter(({ lastReceivedAt }) => lastReceivedAt < before)
    .sort((left, right) => left.lastReceivedAt - right.lastReceivedAt)
    .slice(0, MAX_FILES);
  const keys = expired.flatMap(({ key, replaces }) => [key, ...replaces]);
  for (let start = 0; start < keys.length; start += 1_000) {
    await bucket.delete(keys.slice(start, start + 1_000));
  }
  if (expired.length > 0) await index.remove(expired);
  return expired.length;
}
