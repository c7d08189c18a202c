import { and, asc, count, eq, gt, gte, inArray, sql } from 'drizzle-orm';
import { type FileEntry, mayHoldId } from '#lake';
import { FILES_PER_READ, jsonList, toEntry } from './file-rows.ts';
import { progressOf } from './log.ts';
import { erasures, fileErasures, files } from './schema.ts';
import { type Store, toParameters } from './store.ts';

// What is still to be erased from raw event files. Each file is rewritten without it in the background.

export function addErasures(store: Store, key: string, ids: readonly string[]): void {
  for (const parameter of toParameters(ids)) {
    store.run(
      sql`INSERT INTO ${fileErasures} SELECT ${key}, value FROM json_each(${parameter}) WHERE true ON CONFLICT DO NOTHING`,
    );
  }
}

/** Records which files are to be rewritten without a device or an event. Scans the entry of each newer file. */
export function eraseFromFiles(store: Store, id: string, now: number): void {
  store
    .insert(erasures)
    .values({ id, erasedAt: now })
    .onConflictDoUpdate({ target: erasures.id, set: { erasedAt: now } })
    .run();
  // Ids sort by creation time, and a device is created before its events.
  let key = '';
  const oldest = `evt_${id.slice(4, 16)}`;
  for (;;) {
    const rows = store
      .select()
      .from(files)
      .where(and(gt(files.key, key), gte(files.lastEventId, oldest)))
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
export function eraseFromNewFiles(store: Store, entries: readonly FileEntry[], since: number): void {
  const recent = store.select().from(erasures).where(gte(erasures.erasedAt, since)).all();
  for (const entry of entries) {
    addErasures(
      store,
      entry.key,
      recent.flatMap(({ id }) => (mayHoldId(entry, id) ? [id] : [])),
    );
  }
  store.delete(erasures).run();
}

/** See `CounterApi.erasedAmong`. */
export function erasedAmong(store: Store, ids: readonly string[]): string[] {
  return store
    .selectDistinct({ id: fileErasures.id })
    .from(fileErasures)
    .where(inArray(fileErasures.id, jsonList(ids)))
    .all()
    .map(({ id }) => id);
}

/** How many files may still contain what was erased under these ids. */
export function filesToRewrite(store: Store, ids: readonly string[]): number {
  const listed = store
    .select({ n: count() })
    .from(fileErasures)
    .where(inArray(fileErasures.id, jsonList(ids)))
    .get();
  // A file that is being written may contain what was erased since.
  return (listed?.n ?? 0) + (progressOf(store).exportBatch > 0 ? 1 : 0);
}

export const hasErasures = (store: Store) => store.select().from(fileErasures).limit(1).get() !== undefined;

const MAX_IDS_PER_REWRITE = 10_000;

/** The next file to rewrite, with the ids to leave out. */
export function nextErasure(store: Store): { entry: FileEntry; ids: ReadonlySet<string> } | null {
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
export function finishErasure(store: Store, key: string, ids: ReadonlySet<string>): void {
  store
    .delete(fileErasures)
    .where(and(eq(fileErasures.key, key), inArray(fileErasures.id, jsonList([...ids]))))
    .run();
}
