import type { Bucket, FileEntry, Source, StoredEvent } from './entry.ts';
import { FileBuilder } from './file-builder.ts';
import { type FileLocation, RawFile } from './raw-file.ts';

// Files that are in the bucket and in no index, as after the loss of the index.

/** The shard of the counter that wrote a file. */
export async function shardOfFile(bucket: Bucket, location: FileLocation): Promise<number> {
  const file = await RawFile.open(bucket, location);
  const [group] = file.groups;
  if (!group) return 0;
  const columns = await file.readColumns(group, ['shard']);
  return Number(columns.get('shard')?.[0] ?? 0);
}

/**
 * All events of a file in the order of receipt, and the entry that an index has of it. Takes the memory of the whole file, which is bounded.
 */
export async function describeFile(
  bucket: Bucket,
  source: Source,
  location: FileLocation,
): Promise<{ entry: FileEntry; events: StoredEvent[] }> {
  const file = await RawFile.open(bucket, location);
  const builder = new FileBuilder(source.shard);
  const events: StoredEvent[] = [];
  for (const group of file.groups) {
    for (const event of await file.readEvents(group)) {
      event.application_id = source.applicationId;
      events.push(event);
      builder.add(event);
    }
  }
  events.sort((left, right) => (left.id < right.id ? -1 : 1));
  const revision = Number(/\.r(\d+)\.parquet$/.exec(location.key)?.[1] ?? 0);
  return { entry: { ...source, ...location, revision, ...builder.contents(), replaces: [] }, events };
}
