import { nextTurn } from '#lib/next-turn';
import type { Bucket, FileEntry, FileSource, StoredEvent } from './entry.ts';
import { FileBuilder } from './file-builder.ts';
import { fileKey, revisedKey } from './keys.ts';

const MAX_EVENTS_PER_FILE = 50_000;
/** Yields to other requests after this many events. */
const EVENTS_PER_TURN = 500;
/** The memory limit while files are collected. Events with long parameters make smaller files. */
const MAX_BUILDER_BYTES = 16_000_000;

/**
 * Writes a counter's events as Parquet files and returns their entries. Each file holds the events of one day, so that engines which prune
 * Hive partitions find all events of a day in its folder. Files end after `MAX_EVENTS_PER_FILE` events of all days together, or fewer if they are
 * large.
 *
 * `slices` are read one at a time, so memory is bounded by what is collected for the files and one slice, not by the total. No more slices
 * are read once there are `maxFiles`; one slice may exceed that. Keys are derived from a file's first event: writing the same events again, as
 * after a failure, replaces the same objects. `revision` sets them apart from files that had the same events before.
 */
export async function writeFiles(
  bucket: Bucket,
  source: FileSource,
  slices: Iterable<readonly StoredEvent[]> | AsyncIterable<readonly StoredEvent[]>,
  { maxFiles = Number.POSITIVE_INFINITY, revision = 0 } = {},
): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  let builder = new FileBuilder(source.shard);
  const close = async () => {
    for await (const { bytes, footerBytes, contents } of builder.build()) {
      const first = fileKey(source.applicationId, contents);
      const key = revision === 0 ? first : revisedKey(first, revision);
      await bucket.put(key, bytes);
      entries.push({
        ...source,
        key,
        revision,
        bytes: bytes.length,
        footerBytes,
        ...contents,
        replaces: [],
      });
    }
    builder = new FileBuilder(source.shard);
  };
  let sinceTurn = 0;
  for await (const slice of slices) {
    for (const event of slice) {
      builder.add(event);
      if (isFull(builder)) await close();
    }
    if (entries.length + builder.files >= maxFiles) break;
    sinceTurn += slice.length;
    if (sinceTurn >= EVENTS_PER_TURN) {
      sinceTurn = 0;
      await nextTurn();
    }
  }
  await close();
  return entries;
}

const isFull = ({ rows, memoryBytes }: FileBuilder) =>
  rows >= MAX_EVENTS_PER_FILE || memoryBytes >= MAX_BUILDER_BYTES;
