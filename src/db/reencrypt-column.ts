import { isNotNull, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { chunksOf } from '#lib/collections/chunks';
import { reencryptText, secretsIn } from '#lib/crypto';
import type { Database } from './client.ts';
import { keyOf } from './key-of.ts';
import { apiKeys, applications, channels, connectors, destinations } from './schemas.ts';

const ROWS_PER_STATEMENT = 1_000;

/**
 * While a secret is rotated, encrypts a column with the newest secret where a former one encrypted it, so that the former can end. Idempotent;
 * a value that changes meanwhile is left as it is. `reencrypt` answers null for what is to stay.
 */
export async function reencryptColumn(
  db: Database,
  secret: string,
  encrypted: SQLiteColumn,
  reencrypt: (secret: string, text: string) => Promise<string | null> = reencryptText,
): Promise<void> {
  if (secretsIn(secret).length === 1) return;
  const { table } = encrypted;
  const [key] = keyOf(table);
  if (!key) throw new Error(`${encrypted.name} is of a table without a key`);
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

/** The columns that KEY_ENCRYPTION_SECRET encrypts, besides the key of hashes. */
const ENCRYPTED = [
  apiKeys.encrypted,
  applications.metaReferrerKey,
  channels.encryptedTarget,
  connectors.credentials,
  destinations.credentials,
];

/** Encrypts keys, credentials and addresses with the newest secret while it is rotated: see `reencryptColumn`. */
export const reencryptKeys = (db: Database, secret: string): Promise<unknown> =>
  Promise.all(ENCRYPTED.map((column) => reencryptColumn(db, secret, column)));
