import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './client.ts';
import { commaList } from './columns.ts';
import { keyOf } from './key-of.ts';
import { retryTransient } from './retry.ts';

/** Deletes rows for which a condition holds, at most `limit`, with retries after transient errors. Returns how many. */
export async function deleteSome(
  db: Database,
  table: SQLiteTable,
  where: SQL | undefined,
  limit: number,
): Promise<number> {
  const key = commaList(keyOf(table));
  const some = sql`SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${limit}`;
  const { meta } = await retryTransient(() => db.delete(table).where(sql`(${key}) IN (${some})`).run());
  return meta.changes;
}
