import { and, gte, lt, sql } from 'drizzle-orm';
import type { purchaseKeys, transactions } from '../schema.ts';
import type { Store } from '../store.ts';

// Tables whose rows begin with a hash and have the day on which they were stored.

type HashedTable = typeof purchaseKeys | typeof transactions;

/** Looking for expired rows reads every row. Beyond this many, each day does a share of it. */
const MAX_PRUNED_AT_ONCE = 50_000;
const PRUNED_IN_DAYS = 32;

const hexOfByte = (byte: number): string => byte.toString(16).padStart(2, '0');
export const hexOfBytes = (bytes: Uint8Array): string => Array.from(bytes, hexOfByte).join('');

/** Deletes rows stored before a day (since 1970): all at once if there are few, otherwise those of a share of the hashes each day. */
export function pruneExpired(store: Store, table: HashedTable, before: number, today: number): void {
  const next = store.select({ hash: table.hash }).from(table).limit(1);
  const isSmall = next.offset(MAX_PRUNED_AT_ONCE).get() === undefined;
  const isExpired = lt(table.takenDay, before);
  store
    .delete(table)
    .where(isSmall ? isExpired : and(isExpired, inShare(table, today % PRUNED_IN_DAYS)))
    .run();
}

/** One of `PRUNED_IN_DAYS` ranges of hashes, by their first byte. */
function inShare(table: HashedTable, share: number) {
  const width = 256 / PRUNED_IN_DAYS;
  const startOf = (index: number) => sql`unhex(${hexOfByte(index * width)})`;
  return and(
    gte(table.hash, startOf(share)),
    share + 1 < PRUNED_IN_DAYS ? lt(table.hash, startOf(share + 1)) : undefined,
  );
}
