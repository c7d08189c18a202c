import { and, asc, count, desc, eq, gt, gte, lt, lte, sql } from 'drizzle-orm';
import { isAmong } from '#db';
import { ANY_DEVICE, type EventFilter, type FileEntry, type FileIndex, mayHold } from '#lake';
import { idAfter } from '#lib/ids';
import { dayIn } from '#lib/time';
import type { FilePage, IndexedFile } from '../api.ts';
import { fileErasures, files, orphanedObjects } from '../schema.ts';
import type { ObjectStore } from '../store.ts';
import { addErasures } from './file-erasures.ts';
import { type Exported, FILES_PER_READ, toEntry, toRow } from './file-rows.ts';

// The list of raw event files. A file's object is written to R2 before its entry is added here, and deleted after its entry is removed.
// Objects left over by a failure in between are in `orphaned_objects`.

/** The number of entries that one call returns, and that it scans, beside those that overlap `before`. */
const MAX_FILES = 20;
const MAX_EXAMINED = 2_000;

/** See `CounterApi.listFiles`. */
export function listFiles(
  store: ObjectStore,
  filter: EventFilter,
  { before, after }: { before: string | null; after: string | null },
): FilePage {
  const found: FileEntry[] = [];
  // Files that contain `before` are all needed to get beyond it. As many more keep the number of pages small.
  let [overlapping, beyond] = [0, 0];
  let [last, lastKey]: [string, string] = ['~', ''];
  for (let examined = 0; ; ) {
    const rows = store
      .select()
      .from(files)
      .where(
        and(
          // Two files may end with the same event only while one is replacing the other.
          sql`(${files.lastEventId}, ${files.key}) < (${last}, ${lastKey})`,
          gt(files.eventCount, 0),
          after === null ? undefined : gt(files.lastEventId, after),
          before === null ? undefined : lt(files.firstEventId, before),
          filter.from === undefined ? undefined : gte(files.lastDay, filter.from),
          filter.to === undefined ? undefined : lte(files.firstDay, filter.to),
        ),
      )
      .orderBy(desc(files.lastEventId), desc(files.key))
      .limit(FILES_PER_READ)
      .all();
    for (const row of rows) {
      // The list continues before the event after this file's last one.
      const isBeyond = before === null || idAfter(row.lastEventId) < before;
      const isFull = beyond >= Math.max(MAX_FILES, overlapping) || examined >= MAX_EXAMINED;
      if (isBeyond && isFull) return { files: found, next: row.lastEventId };
      examined++;
      const entry = toEntry(row);
      const { values: _, ...needed } = entry;
      if (mayHold(entry, filter)) {
        found.push({ ...needed, deviceFilter: ANY_DEVICE });
        if (isBeyond) beyond++;
        else overlapping++;
      }
      [last, lastKey] = [row.lastEventId, row.key];
    }
    if (rows.length < FILES_PER_READ) return { files: found, next: null };
  }
}

/** The files that may contain an event. */
export function filesOfEvent(store: ObjectStore, eventId: string): IndexedFile[] {
  return store
    .select()
    .from(files)
    .where(and(lte(files.firstEventId, eventId), gte(files.lastEventId, eventId), gt(files.eventCount, 0)))
    .all()
    .map((row) => ({ ...toEntry(row), deviceFilter: ANY_DEVICE, exportedAt: row.exportedAt }));
}

/** The keys of all listed files. */
export const listedKeys = (store: ObjectStore): Set<string> =>
  new Set(
    store
      .select({ key: files.key })
      .from(files)
      .all()
      .map(({ key }) => key),
  );

/** Lists new files. Call it in a transaction. */
export function addFiles(store: ObjectStore, entries: readonly FileEntry[], exported: Exported): void {
  for (const entry of entries) {
    const row = toRow(entry, exported);
    store.insert(files).values(row).onConflictDoUpdate({ target: files.key, set: row }).run();
    store.delete(orphanedObjects).where(eq(orphanedObjects.key, entry.key)).run();
  }
}

export function looseKeys(store: ObjectStore, limit: number): string[] {
  return store
    .select()
    .from(orphanedObjects)
    .limit(limit)
    .all()
    .map(({ key }) => key);
}

/** Records an object before it is written. */
export function noteLoose(store: ObjectStore, keys: readonly string[]): void {
  for (const key of keys) store.insert(orphanedObjects).values({ key }).onConflictDoNothing().run();
}

export function forgetLoose(store: ObjectStore, keys: readonly string[]): void {
  store.delete(orphanedObjects).where(isAmong(orphanedObjects.key, keys)).run();
}

/** Removes files from the index, together with their pending erasures. */
export function forgetFiles(store: ObjectStore, keys: readonly string[]): void {
  store.delete(files).where(isAmong(files.key, keys)).run();
  store.delete(fileErasures).where(isAmong(fileErasures.key, keys)).run();
}

/** The same. Their objects are then loose. */
function unlist(store: ObjectStore, keys: readonly string[]): void {
  forgetFiles(store, keys);
  noteLoose(store, keys);
}

/** The keys of files in order, after one of them. */
export function listKeys(store: ObjectStore, after: string, limit: number): string[] {
  return store
    .select({ key: files.key })
    .from(files)
    .where(and(gt(files.key, after), gt(files.eventCount, 0)))
    .orderBy(asc(files.key))
    .limit(limit)
    .all()
    .map(({ key }) => key);
}

/** The index that rewriting updates; `transaction` runs each change as one. A file's pending erasures move to its successor. */
export function fileIndex(store: ObjectStore, transaction: (work: () => void) => void): FileIndex {
  const remove = (keys: readonly string[]) => unlist(store, keys);
  return {
    replace: (old, next) =>
      transaction(() => {
        const keys = old.map(({ key }) => key);
        const replaced = store
          .select({
            exportedAt: sql<number>`coalesce(max(${files.exportedAt}), 0)`,
            throughBatch: sql<number>`coalesce(max(${files.throughBatch}), 0)`,
          })
          .from(files)
          .where(isAmong(files.key, keys))
          .get();
        const pending = store
          .select({ id: fileErasures.id })
          .from(fileErasures)
          .where(isAmong(fileErasures.key, keys))
          .all();
        remove(keys);
        addFiles(store, [next], replaced ?? { exportedAt: 0, throughBatch: 0 });
        addErasures(
          store,
          next.key,
          pending.map(({ id }) => id),
        );
      }),
    remove: (entries) => transaction(() => remove(entries.map(({ key }) => key))),
  };
}

const MAX_EXPIRED_FILES = 250;

/** Unlists files whose events were all received before a time, oldest first. Returns how many. */
export function dropExpired(store: ObjectStore, before: number): number {
  const rows = store
    .select({ key: files.key })
    .from(files)
    .where(lt(files.lastReceivedAt, before))
    .orderBy(asc(files.lastEventId))
    .limit(MAX_EXPIRED_FILES)
    .all();
  const keys = rows.map(({ key }) => key);
  unlist(store, keys);
  return keys.length;
}

/**
 * The next file with events that were received before a time, and others that were not: events of one day may arrive on many. Null if there
 * is none. `dropExpired` deletes files of which nothing is newer.
 */
export function nextPartlyExpired(store: ObjectStore, before: number): FileEntry | null {
  const firstReceivedAt = sql<number>`${files.entry} ->> 'firstReceivedAt'`;
  const row = store
    .select()
    .from(files)
    .where(
      and(sql`${firstReceivedAt} < ${before}`, gte(files.lastReceivedAt, before), gt(files.eventCount, 0)),
    )
    .limit(1)
    .get();
  return row ? toEntry(row) : null;
}

/** Smaller files are merged with others of the same day. */
const SMALL_FILE = { events: 5_000, bytes: 500_000 };
const MERGED_FILE = { files: 500, events: 50_000, bytes: 2_500_000 };

/** Small files of one past day that are to be merged, the oldest day first; empty if there are none. */
export function nextMerge(store: ObjectStore, now: number): FileEntry[] {
  const today = dayIn('UTC', now);
  const isSmall = and(
    lt(files.eventCount, SMALL_FILE.events),
    lt(files.bytes, SMALL_FILE.bytes),
    gt(files.eventCount, 0),
  );
  const day = store
    .select({ day: files.firstDay })
    .from(files)
    .where(and(isSmall, lt(files.firstDay, today)))
    .groupBy(files.firstDay)
    .having(gt(count(), 1))
    .orderBy(asc(files.firstDay))
    .limit(1)
    .get();
  if (!day) return [];
  const rows = store
    .select({ key: files.key, events: files.eventCount, bytes: files.bytes })
    .from(files)
    .where(and(isSmall, eq(files.firstDay, day.day)))
    .orderBy(asc(files.lastEventId))
    .limit(MERGED_FILE.files)
    .all();
  const chosen: string[] = [];
  let [events, bytes] = [0, 0];
  for (const file of rows) {
    events += file.events;
    bytes += file.bytes;
    if (events > MERGED_FILE.events || bytes > MERGED_FILE.bytes) break;
    chosen.push(file.key);
  }
  return store.select().from(files).where(isAmong(files.key, chosen)).all().map(toEntry);
}
