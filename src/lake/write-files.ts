import { nextTurn } from '#lib/next-turn';
import { dayIn } from '#lib/time';
import { filePrefix } from './delete-files.ts';
import type { Bucket, FileEntry, Source, StoredEvent } from './entry.ts';
import { FileBuilder } from './file-builder.ts';

const MAX_EVENTS_PER_FILE = 50_000;
/** Yields to other requests after this many events. */
const EVENTS_PER_TURN = 500;
/** The memory limit while a file is collected. Events with long parameters make smaller files. */
const MAX_BUILDER_BYTES = 16_000_000;

/**
 * Writes a counter's events as Parquet files and returns their entries. Each file holds events received on one UTC day, so a late import of
 * many days makes no more files than any other, and a file expires as a whole. A file ends after `MAX_EVENTS_PER_FILE` events, or fewer if
 * they are large.
 *
 * `slices` are read one at a time, so memory is bounded by one file and one slice, not by the total. Keys are derived from a file's first
 * event: writing the same events again, as after a failure, replaces the same objects.
 */
export async function writeFiles(
  bucket: Bucket,
  source: Source,
  slices: Iterable<readonly StoredEvent[]> | AsyncIterable<readonly StoredEvent[]>,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  const open = new Map<string, OpenFile>();
  const close = async (day: string, { firstId, builder }: OpenFile) => {
    open.delete(day);
    entries.push(await writeFile(bucket, source, `${day}/${firstId}`, builder));
  };
  let sinceTurn = 0;
  for await (const slice of slices) {
    for (const event of slice) {
      const day = dayIn('UTC', event.received_at);
      const file = open.get(day) ?? { firstId: event.id, builder: new FileBuilder(source.shard) };
      open.set(day, file);
      file.builder.add(event);
      if (isFull(file.builder)) await close(day, file);
    }
    sinceTurn += slice.length;
    if (sinceTurn >= EVENTS_PER_TURN) {
      sinceTurn = 0;
      await nextTurn();
    }
    if (memoryOf(open) >= MAX_BUILDER_BYTES) for (const [day, file] of [...open]) await close(day, file);
  }
  for (const [day, file] of [...open]) await close(day, file);
  return entries;
}

const isFull = ({ rows, memoryBytes }: FileBuilder) =>
  rows >= MAX_EVENTS_PER_FILE || memoryBytes >= MAX_BUILDER_BYTES;

type OpenFile = { firstId: string; builder: FileBuilder };

const memoryOf = (open: ReadonlyMap<string, OpenFile>) =>
  [...open.values()].reduce((sum, { builder }) => sum + builder.memoryBytes, 0);

async function writeFile(
  bucket: Bucket,
  source: Source,
  name: string,
  builder: FileBuilder,
): Promise<FileEntry> {
  const key = `${filePrefix(source.applicationId)}${name}.parquet`;
  const { bytes, footerBytes, contents } = await builder.build();
  await bucket.put(key, bytes);
  return { ...source, key, revision: 0, bytes: bytes.length, footerBytes, ...contents, replaces: [] };
}
