import { dayIn } from '#lib/time';
import { filePrefix } from './delete-files.ts';
import type { Bucket, FileEntry, Source, StoredEvent } from './entry.ts';
import { FileBuilder } from './file-builder.ts';

export const MAX_EVENTS_PER_FILE = 50_000;
/** Of memory while a file is collected; events with long parameters make files of fewer. */
const MAX_BUILDER_BYTES = 16_000_000;

/**
 * Writes events of one counter as Parquet files, answers their entries. Each file holds events received on one UTC day: a late
 * import of many days makes no more files than any other, and a file expires as a whole. A file ends after
 * `MAX_EVENTS_PER_FILE` events, or fewer large ones.
 *
 * `slices` are read one at a time, so memory is bounded by a file and a slice and not by what is written. Names come
 * from the first event of a file: the same events written again, as after a failure, take the place of the same objects.
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
  for await (const slice of slices) {
    for (const event of slice) {
      const day = dayIn('UTC', event.received_at);
      const file = open.get(day) ?? { firstId: event.id, builder: new FileBuilder(source.shard) };
      open.set(day, file);
      file.builder.add(event);
      if (isFull(file.builder)) await close(day, file);
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
  const { bytes, footerBytes, contents } = builder.build();
  await bucket.put(key, bytes);
  return { ...source, key, revision: 0, bytes: bytes.length, footerBytes, ...contents, replaces: [] };
}
