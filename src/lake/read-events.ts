import { inParallel } from '#lib/collections/in-parallel';
import { idAfter } from '#lib/ids';
import type { Bucket, FileEntry, StoredEvent } from './entry.ts';
import { type EventFilter, matches, mayHold } from './filter.ts';
import { type FileLocation, RawFile, type RowGroup } from './raw-file.ts';

/** The approximate number of rows scanned for one page, so that a filter with few matches does not read every file at once. */
const MAX_ROWS_SCANNED = 200_000;
/** Files that are read at the same time. The platform allows six connections. */
const READ_AT_ONCE = 6;

type EventPosition = { eventId: string; file: RawFile; group: RowGroup; row: number };

/** `cursor` is empty for the first page, then the previous page's `next_cursor`. */
export type PageRequest = {
  limit: number;
  cursor: string;
  /** Called after each row group, to let others have their turn. */
  giveWay?: () => Promise<void>;
};
export type EventPage = { events: StoredEvent[]; next_cursor: string | null };

/**
 * One page of the events in some files, newest first by event id, which is the order of receipt. For each file that may contain a match,
 * it reads the columns that decide the filter, then whole rows of matches only. `next_cursor` is null on the last page, and otherwise before
 * `cursor`; any page before the last may be short or even empty, because a page ends with the file that reaches `maxRows`, once all files that
 * contain the cursor are read. Memory does not depend on the number of files. Throws `MissingFileError` if the index is older than the files.
 */
export async function readEvents(
  bucket: Bucket,
  entries: readonly FileEntry[],
  filter: EventFilter,
  { limit, cursor, giveWay }: PageRequest,
  maxRows = MAX_ROWS_SCANNED,
): Promise<EventPage> {
  const isBefore = (eventId: string) => cursor === '' || eventId < cursor;
  const newestFirst = entries
    .filter((entry) => mayHold(entry, filter) && isBefore(entry.firstEventId))
    .sort((left, right) => (left.lastEventId < right.lastEventId ? 1 : -1));
  // One more than fits the page shows whether there is a next page.
  let found: EventPosition[] = [];
  let scanned = 0;
  const scan = async (entry: FileEntry) => {
    const file = await RawFile.open(bucket, entry);
    for (const group of filter.deviceId ? file.groupsOf(filter.deviceId) : file.groups) {
      const rows = await file.findRows(group, filter, { before: cursor, after: found[limit]?.eventId ?? '' });
      const own = rows.map(({ row, eventId }) => ({ eventId, file, group, row }));
      found = [...found, ...own].sort(newestEventFirst).slice(0, limit + 1);
      scanned += group.rows;
      await giveWay?.();
    }
  };
  // No page can end before all files that contain its start are read.
  const atStart = newestFirst.filter(({ lastEventId }) => !isBefore(lastEventId));
  await inParallel(atStart, READ_AT_ONCE, scan);
  const enough = scanned + Math.max(scanned, maxRows);
  for (const [index, entry] of newestFirst.entries()) {
    if (index >= atStart.length) await scan(entry);
    else if (index < atStart.length - 1) continue;
    // Files of several counters overlap in time. Newer events than the newest one of the remaining files are complete.
    const horizon = newestFirst[index + 1]?.lastEventId;
    if (horizon === undefined) break;
    const complete = found.filter(({ eventId }) => eventId > horizon);
    if (complete.length > limit) break;
    // As a cursor, it makes the horizon's event the next one.
    const next = idAfter(horizon);
    if (scanned >= enough && isBefore(next)) {
      return { events: await readFound(complete, filter), next_cursor: next };
    }
  }
  const page = found.slice(0, limit);
  const next_cursor = found.length > limit ? (page.at(-1)?.eventId ?? null) : null;
  return { events: await readFound(page, filter), next_cursor };
}

/** Streams all events of a file, row group by row group. */
export async function* streamFile(bucket: Bucket, location: FileLocation): AsyncGenerator<StoredEvent[]> {
  const file = await RawFile.open(bucket, location);
  for (const group of file.groups) yield file.readEvents(group);
}

const newestEventFirst = (left: EventPosition, right: EventPosition) =>
  left.eventId < right.eventId ? 1 : -1;

/** The complete events, in the order in which they were found. Reads each row group once. */
async function readFound(found: readonly EventPosition[], filter: EventFilter): Promise<StoredEvent[]> {
  const events = new Map<string, StoredEvent>();
  for (const [group, own] of Map.groupBy(found, ({ group }) => group)) {
    const file = own[0]?.file;
    const rows = own.map(({ row }) => row);
    for (const event of (await file?.readEvents(group, rows)) ?? []) events.set(event.id, event);
  }
  return found.flatMap(({ eventId }) => {
    const event = events.get(eventId);
    return event && matches(event, filter) ? [event] : [];
  });
}
