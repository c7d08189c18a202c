import { deviceIdIn } from '#catalogue';
import { nextTurn } from '#lib/next-turn';
import { ContentsBuilder } from './contents.ts';
import type { Bucket, FileEntry, FileSource, StoredEvent } from './entry.ts';
import { type FileLocation, RawFile } from './raw-file.ts';

// Files that are in the bucket and in no index, as after the loss of the index.

/** What can be known of a file without reading its events. */
export type FileOutline = { shard: number; rows: number; firstEventId: string; lastEventId: string };

/** The shard of the counter that wrote a file, and which events may be in it. */
export async function outlineFile(bucket: Bucket, location: FileLocation): Promise<FileOutline> {
  const file = await RawFile.open(bucket, location);
  const [group] = file.groups;
  const columns = group ? await file.readColumns(group, ['shard']) : null;
  const ranges = file.groups.map((own) => file.eventIdsOf(own));
  return {
    shard: Number(columns?.get('shard')?.[0] ?? 0),
    rows: file.groups.reduce((sum, { rows }) => sum + rows, 0),
    firstEventId: ranges.map(([first]) => first).sort()[0] ?? '',
    lastEventId:
      ranges
        .map(([, last]) => last)
        .sort()
        .at(-1) ?? '',
  };
}

/** The events of some files with ids from one on and before another, in the order of receipt. Takes the memory of all of them. */
export async function readBetween(
  bucket: Bucket,
  { applicationId }: FileSource,
  locations: readonly FileLocation[],
  { from, to }: { from: string; to: string },
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const location of locations) {
    const file = await RawFile.open(bucket, location);
    for (const group of file.groups) {
      const [first, last] = file.eventIdsOf(group);
      if (last < from || first >= to) continue;
      const found = (await file.findRows(group, {})).filter(({ eventId: id }) => id >= from && id < to);
      if (found.length === 0) continue;
      for (const event of await file.readEvents(
        group,
        found.map(({ row }) => row),
      )) {
        event.application_id = applicationId;
        events.push(event);
      }
      await nextTurn();
    }
  }
  return events.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** The entry that an index has of a file. */
export async function describeFile(
  bucket: Bucket,
  source: FileSource,
  location: FileLocation,
): Promise<FileEntry> {
  const file = await RawFile.open(bucket, location);
  const builder = new ContentsBuilder();
  const devices = new Set<string>();
  for (const group of file.groups) {
    for (const event of await file.readEvents(group)) {
      builder.add(event);
      const deviceId = deviceIdIn(event);
      if (deviceId !== '') devices.add(deviceId);
    }
    await nextTurn();
  }
  const revision = Number(/\.r(\d+)\.parquet$/.exec(location.key)?.[1] ?? 0);
  return { ...source, ...location, revision, ...builder.contents(devices), replaces: [] };
}
