import { idAfter } from '#lib/ids';
import type { Bucket, FileEntry, StoredEvent } from './entry.ts';
import { type EventFilter, matches, mayHold } from './filter.ts';
import { type FileLocation, RawFile, type RowGroup } from './raw-file.ts';

/** Rows that are looked at for one page, about: a filter that little matches must not read every file at once. */
const MAX_ROWS_SCANNED = 200_000;

type Found = { eventId: string; file: RawFile; group: RowGroup; row: number };

/** `cursor` is empty for the first page, else the `next_cursor` of the page before. */
export type Page = { limit: number; cursor: string };
export type EventPage = { events: StoredEvent[]; next_cursor: string | null };

/**
 * A page of the events in some files, newest first by event id, which is the order of receipt. Of each file that may hold a
 * match it reads the columns that decide the filter, then whole rows for the matches alone. `next_cursor` is null at the end;
 * a page may be short, even empty, before it. Throws `MissingFileError` where the index is older than the files.
 */
export async function readEvents(
  bucket: Bucket,
  entries: readonly FileEntry[],
  filter: EventFilter,
  { limit, cursor }: Page,
): Promise<EventPage> {
  const isBefore = (eventId: string) => cursor === '' || eventId < cursor;
  const newestFirst = entries
    .filter((entry) => mayHold(entry, filter) && isBefore(entry.firstEventId))
    .sort((left, right) => (left.lastEventId < right.lastEventId ? 1 : -1));
  // One more than the page holds tells whether there is a next one.
  let found: Found[] = [];
  let scanned = 0;
  for (const [index, entry] of newestFirst.entries()) {
    const file = await RawFile.open(bucket, entry);
    for (const group of filter.deviceId ? file.groupsOf(filter.deviceId) : file.groups) {
      const rows = await file.findRows(group, filter);
      const own = rows.flatMap(({ row, eventId }) =>
        isBefore(eventId) ? [{ eventId, file, group, row }] : [],
      );
      found = [...found, ...own].sort(newestEventFirst).slice(0, limit + 1);
      scanned += group.rows;
    }
    // Files of several counters overlap in time: beyond the newest event of the files to come, nothing is missing.
    const horizon = newestFirst[index + 1]?.lastEventId;
    if (horizon === undefined) break;
    const complete = found.filter(({ eventId }) => eventId > horizon);
    if (complete.length > limit) break;
    // As a cursor it lets the event of the horizon be the next.
    const next = idAfter(horizon);
    if (scanned >= MAX_ROWS_SCANNED && isBefore(next)) {
      return { events: await readFound(complete, filter), next_cursor: next };
    }
  }
  const page = found.slice(0, limit);
  const next_cursor = found.length > limit ? (page.at(-1)?.eventId ?? null) : null;
  return { events: await readFound(page, filter), next_cursor };
}

/**
 * All events in some files that match, slice by slice, for exports: the newest file first, within a file by device and time. It
 * holds one row group at a time. Throws `MissingFileError` where the index is older than the files.
 */
export async function* streamEvents(
  bucket: Bucket,
  entries: readonly FileEntry[],
  filter: EventFilter,
): AsyncGenerator<StoredEvent[]> {
  const newestFirst = entries
    .filter((entry) => mayHold(entry, filter))
    .sort((left, right) => (left.lastEventId < right.lastEventId ? 1 : -1));
  for (const entry of newestFirst) {
    const file = await RawFile.open(bucket, entry);
    for (const group of filter.deviceId ? file.groupsOf(filter.deviceId) : file.groups) {
      const rows = (await file.findRows(group, filter)).map(({ row }) => row);
      if (rows.length === 0) continue;
      const events = (await file.readEvents(group, rows)).filter((event) => matches(event, filter));
      if (events.length > 0) yield events;
    }
  }
}

/** All events of one file that stands in no index, row group by row group. */
export async function* streamFile(bucket: Bucket, location: FileLocation): AsyncGenerator<StoredEvent[]> {
  const file = await RawFile.open(bucket, location);
  for (const group of file.groups) yield file.readEvents(group);
}

const newestEventFirst = (left: Found, right: Found) => (left.eventId < right.eventId ? 1 : -1);

/** Whole events in the order in which they were found. Each row group is read once. */
async function readFound(found: readonly Found[], filter: EventFilter): Promise<StoredEvent[]> {
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
