import { Buffer } from 'node:buffer';
import { type DrizzleSqliteDODatabase, drizzle } from 'drizzle-orm/durable-sqlite';
import { jsonChunks } from '#lib/collections/chunks';

/** An object's own SQLite. All operations are synchronous, so the code between two awaits runs completely or not at all. */
export type ObjectStore = DrizzleSqliteDODatabase<Record<string, never>>;

export const openStore = (storage: DurableObjectStorage): ObjectStore => drizzle(storage);

/** The format that an object's single row says, before any table is made or changed; 1 without one. */
export function formatIn({ sql }: DurableObjectStorage, table: 'progress' | 'state'): number {
  const columns = sql.exec('SELECT name FROM pragma_table_info(?)', table).toArray();
  if (!columns.some(({ name }) => name === 'format')) return 1;
  const [row] = sql.exec(`SELECT format FROM ${table}`).toArray();
  return Number(row?.format ?? 1);
}

/**
 * Prepares something, such as statements, once per store: for a statement that runs once per event or device, building its text takes longer
 * than running it.
 */
export function perStore<Prepared>(
  prepare: (store: ObjectStore) => Prepared,
): (store: ObjectStore) => Prepared {
  const made = new WeakMap<ObjectStore, Prepared>();
  return (store) => {
    const prepared = made.get(store) ?? prepare(store);
    made.set(store, prepared);
    return prepared;
  };
}

/** A value may have 2 MB. */
const MAX_PARAMETER_CHARACTERS = 500_000;

/** Rows as JSON arrays that each fit into one bound value; empty if there are no rows. */
export const toParameters = (rows: Iterable<unknown>): Generator<string> =>
  jsonChunks(rows, MAX_PARAMETER_CHARACTERS);

export const bytesOf = (words: Uint32Array): Buffer =>
  Buffer.from(words.buffer, words.byteOffset, words.byteLength);
