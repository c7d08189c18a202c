import { isNotNull, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { chunksOf } from '#lib/collections/chunks';
import { reencryptText, secretsIn } from '#lib/crypto';
import type { Database } from './client.ts';

const ROWS_PER_STATEMENT = 1_000;

/**
 * While a secret is rotated, encrypts a column with the newest secret where a former one encrypted it, so that the former can end. Idempotent;
 * a value that changes meanwhile is left as it is. `key` is the table's primary key; `reencrypt` answers null for what is to stay.
 */
export async function reencryptColumn(
  db: Database,
  secret: string,
  { table, key, encrypted }: { table: SQLiteTable; key: SQLiteColumn; encrypted: SQLiteColumn },
  reencrypt: (secret: string, text: string) => Promise<string | null> = reencryptText,
): Promise<void> {
  if (secretsIn(secret).length === 1) return;
  const rows = await db.select({ key, encrypted }).from(table).where(isNotNull(encrypted));
  const renewed: [unknown, string, string][] = [];
  for (const row of rows) {
    const former = String(row.encrypted);
    const text = await reencrypt(secret, former);
    if (text !== null) renewed.push([row.key, text, former]);
  }
  for (const part of chunksOf(renewed, ROWS_PER_STATEMENT)) {
    const values = sql`json_each(${JSON.stringify(part)})`;
    await db.run(sql`UPDATE ${table} SET ${sql.identifier(encrypted.name)} = renewed.value ->> 1
      FROM ${values} AS renewed WHERE ${key} = renewed.value ->> 0 AND ${encrypted} = renewed.value ->> 2`);
  }
}
