import { type Bucket, type FileEntry, type StoredEvent, streamFile } from '#lake';

/** All events in some files, newest file first. */
export async function eventsIn(bucket: Bucket, entries: readonly FileEntry[]): Promise<StoredEvent[]> {
  const newestFirst = [...entries].sort((left, right) => (left.lastEventId < right.lastEventId ? 1 : -1));
  const events: StoredEvent[] = [];
  for (const entry of newestFirst) {
    for await (const slice of streamFile(bucket, entry)) events.push(...slice);
  }
  return events;
}
