import { and, asc, count, eq, gt, gte, inArray, lt, ne, or, sql } from 'drizzle-orm';
import { isAmong } from '#db';
import { type FileEntry, mayHoldId } from '#lake';
import { progressOf } from '../log.ts';
import { erasures, fileErasures, files, log } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';
import { FILES_PER_READ, toEntry } from './file-rows.ts';

// What is still to be erased from raw event files. Each file is rewritten without it in the background.

export function addErasures(store: ObjectStore, key: string, ids: readonly string[]): void {
  for (const parameter of toParameters(ids)) {
    store.run(
      sql`INSERT INTO ${fileErasures} SELECT ${key}, value FROM json_each(${parameter}) WHERE true ON CONFLICT DO NOTHING`,
    );
  }
}

/**
 * Records which files are to be rewritten without a device or an event. Call it in the transaction that erases it from the log, when all of the log
 * is counted. A repeat examines only files with later batches: the filter of a file may match a device that is no longer in it, so the
 * erasure would never be complete otherwise. `clickEventId` is the raw event of the device's click, null if unknown.
 */
export function eraseFromFiles(store: ObjectStore, id: string, clickEventId: string | null = null): void {
  const { countedBatch: throughBatch, exportBatch } = progressOf(store);
  const erased = store.select().from(erasures).where(eq(erasures.id, id)).get();
  const row = { throughBatch, exportBatch, clickEventId: clickEventId ?? erased?.clickEventId ?? null };
  store
    .insert(erasures)
    .values({ id, ...row })
    .onConflictDoUpdate({ target: erasures.id, set: row })
    .run();
  // Ids sort by creation time, and a device is created before its events.
  const oldest = `evt_${id.slice(4, 16)}`;
  const isUnexamined = and(gt(files.throughBatch, erased?.throughBatch ?? 0), gte(files.lastEventId, oldest));
  let key = '';
  for (;;) {
    const rows = store
      .select()
      .from(files)
      .where(and(gt(files.key, key), isUnexamined))
      .orderBy(asc(files.key))
      .limit(FILES_PER_READ)
      .all();
    for (const row of rows) {
      if (mayHoldId(toEntry(row), id)) addErasures(store, row.key, [id]);
      key = row.key;
    }
    if (rows.length < FILES_PER_READ) return;
  }
}

/**
 * Records what was erased from files while they were being written. Call it in the transaction that lists them; later files are read from a log
 * that no longer has what was erased.
 */
export function eraseFromNewFiles(
  store: ObjectStore,
  entries: readonly FileEntry[],
  exportBatch: number,
): void {
  const meanwhile = store
    .select()
    .from(erasures)
    // All of a range is counted when it is taken. The first condition lets the index be used.
    .where(and(gte(erasures.throughBatch, exportBatch), eq(erasures.exportBatch, exportBatch)))
    .all();
  for (const entry of entries) {
    addErasures(
      store,
      entry.key,
      meanwhile.flatMap(({ id }) => (mayHoldId(entry, id) ? [id] : [])),
    );
  }
}

/** Once an erasure is forgotten, its repeat examines all files again. */
const MAX_ERASURES = 100_000;

/**
 * Forgets erasures that are older than everything in the log and the files, and the oldest beyond `MAX_ERASURES`. Keeps those that the range being
 * exported still needs. Call it in a transaction.
 */
export function pruneErasures(store: ObjectStore): void {
  const oldest = sql`(SELECT coalesce(min(batch), 9e15) FROM (
    SELECT min(${log.batch}) AS batch FROM ${log} UNION ALL SELECT min(${files.throughBatch}) FROM ${files}))`;
  const beyond = sql`(SELECT ${erasures.id} FROM ${erasures} ORDER BY ${erasures.throughBatch} DESC, ${erasures.id} DESC LIMIT -1 OFFSET ${MAX_ERASURES})`;
  const { exportBatch } = progressOf(store);
  store
    .delete(erasures)
    .where(
      and(
        or(lt(erasures.throughBatch, oldest), inArray(erasures.id, beyond)),
        or(eq(erasures.exportBatch, 0), ne(erasures.exportBatch, exportBatch)),
      ),
    )
    .run();
}

/** See `CounterApi.erasedClick`. */
export const erasedClick = (store: ObjectStore, deviceId: string): string | null =>
  store.select({ id: erasures.clickEventId }).from(erasures).where(eq(erasures.id, deviceId)).get()?.id ??
  null;

/** See `CounterApi.erasedAmong`. */
export function erasedAmong(store: ObjectStore, ids: readonly string[]): string[] {
  return store
    .selectDistinct({ id: fileErasures.id })
    .from(fileErasures)
    .where(isAmong(fileErasures.id, ids))
    .all()
    .map(({ id }) => id);
}

/** How many files may still contain what was erased under these ids. */
export function filesToRewrite(store: ObjectStore, ids: readonly string[]): number {
  const listed = store.select({ n: count() }).from(fileErasures).where(isAmong(fileErasures.id, ids)).get();
  // A file that was being written at the time may contain it, and is not listed yet.
  const { exportBatch } = progressOf(store);
  const unlisted = store
    .select({ n: count() })
    .from(erasures)
    .where(and(isAmong(erasures.id, ids), gt(erasures.exportBatch, 0), eq(erasures.exportBatch, exportBatch)))
    .get();
  return (listed?.n ?? 0) + (unlisted?.n ?? 0);
}

export const hasErasures = (store: ObjectStore) =>
  store.select().from(fileErasures).limit(1).get() !== undefined;

const MAX_IDS_PER_REWRITE = 10_000;

/** The next file to rewrite, with the ids to leave out. */
export function nextErasure(store: ObjectStore): { entry: FileEntry; ids: ReadonlySet<string> } | null {
  for (;;) {
    const next = store.select().from(fileErasures).orderBy(asc(fileErasures.key)).limit(1).get();
    if (!next) return null;
    const row = store.select().from(files).where(eq(files.key, next.key)).get();
    const pairs = store
      .select({ id: fileErasures.id })
      .from(fileErasures)
      .where(eq(fileErasures.key, next.key))
      .limit(MAX_IDS_PER_REWRITE)
      .all();
    if (row) return { entry: toEntry(row), ids: new Set(pairs.map(({ id }) => id)) };
    store.delete(fileErasures).where(eq(fileErasures.key, next.key)).run();
  }
}

/** Records that a file no longer contains these ids. */
export function finishErasure(store: ObjectStore, key: string, ids: ReadonlySet<string>): void {
  store
    .delete(fileErasures)
    .where(and(eq(fileErasures.key, key), isAmong(fileErasures.id, [...ids])))
    .run();
}
