import { and, gte, lt, sql } from 'drizzle-orm';
import { toHex } from '#lib/encoding/hex';
import { murmur128 } from '#lib/murmur';
import type { purchaseKeys, transactions } from '../schema.ts';
import type { ObjectStore } from '../store.ts';

// Tables whose rows begin with a hash and have the day on which they were stored.

type HashedTable = typeof purchaseKeys | typeof transactions;

/** Looking for expired rows reads every row. Beyond this many, each day does a share of it. */
const MAX_PRUNED_AT_ONCE = 50_000;
const PRUNED_IN_DAYS = 32;

const HASH_BYTES = 16;

/** The 32 hexadecimal digits of the bytes of a hash, whose first word is at an index. */
export function hexOfHash(words: Uint32Array, at: number): string {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const start = at * words.BYTES_PER_ELEMENT;
  return toHex(bytes, start, start + HASH_BYTES);
}

/** `hexOfHash` of a text's hash. */
export const hexOfText = (text: string): string => hexOfHash(Uint32Array.from(murmur128(text)), 0);

/** Deletes rows stored before a day (since 1970): all at once if there are few, otherwise those of a share of the hashes each day. */
export function pruneExpired(store: ObjectStore, table: HashedTable, before: number, today: number): void {
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
  const startOf = (index: number) => sql`unhex(${toHex(Uint8Array.of(index * width))})`;
  return and(
    gte(table.hash, startOf(share)),
    share + 1 < PRUNED_IN_DAYS ? lt(table.hash, startOf(share + 1)) : undefined,
  );
}
