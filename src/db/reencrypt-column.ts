import { isNotNull, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { chunksOf } from '#lib/chunks';
import { reencryptText, secretsIn } from '#lib/crypto';
import type { Database } from './client.ts';

const ROWS_PER_STATEMENT = 1_000;

/**
 * While a secret is rotated, encrypts a column with the newest secret where a former one encrypted it, so that the former can end. Idempotent.
 * `key` is the table's primary key, under which a value never changes.
 */
export async function reencryptColumn(
  db: Database,
  secret: string,
  { table, key, encrypted }: { table: SQLiteTable; key: SQLiteColumn; encrypted: SQLiteColumn },
): Promise<void> {
  if (secretsIn(secret).length === 1) return;
  const rows = await db.select({ key, encrypted }).from(table).where(isNotNull(encrypted));
  const renewed: [unknown, string][] = [];
  for (const row of rows) {
    const text = await reencryptText(secret, String(row.encrypted));
    if (text !== null) renewed.push([row.key, text]);
  }
  for (const part of chunksOf(renewed, ROWS_PER_STATEMENT)) {
    const values = sql`json_each(${JSON.stringify(part)})`;
    await db.run(sql`UPDATE ${table} SET ${sql.identifier(encrypted.name)} = renewed.value ->> 1
      FROM ${values} AS renewed WHERE ${key} = renewed.value ->> 0`);
  }
}
