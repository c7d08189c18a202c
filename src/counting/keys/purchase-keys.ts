import { and, eq, inArray, sql } from 'drizzle-orm';
import { named } from '#db';
import { idFromBytes, idToBytes } from '#lib/ids';
import { KEY_DAY } from '../pack.ts';
import { keyBlocks, keyGenerations, recentKeys } from '../schema.ts';
import { bytesOf, type Store } from '../store.ts';
import { wordsOf } from '../word-columns.ts';
import { blockOf, type Entries, mergeWhenDue } from './key-blocks.ts';

// Keys of purchases match at any time and record which purchase was counted under them. They are packed like other keys, in a single
// generation without a week: an entry is four words of hash, four of the event's id, and the day on which it was stored.

const HASH_WORDS = 4;
const ID_AT = HASH_WORDS;
const DAY_AT = 8;
const ENTRIES: Entries = { words: 9, perBlock: 224, maxRecent: 65_536 };
/** Beyond all weeks, so that it does not expire like a week. */
export const NO_WEEK = 1_000_000;
/** At 8 KB per block, 1 MB per read. */
const BLOCKS_PER_READ = 128;
/** In a large book, the search for expired keys is spread over this many days. */
const PRUNED_IN_DAYS = 32;

const day = KEY_DAY.purchase;
const generation = and(eq(keyGenerations.day, day), eq(keyGenerations.week, NO_WEEK));
const recent = and(eq(recentKeys.day, day), eq(recentKeys.week, NO_WEEK));
const blocks = and(eq(keyBlocks.day, day), eq(keyBlocks.week, NO_WEEK));

export const hexOfHash = (words: Uint32Array, at: number): string => {
  let hex = '';
  for (let word = 0; word < HASH_WORDS; word++) hex += (words[at + word] ?? 0).toString(16).padStart(8, '0');
  return hex;
};

type StoredPurchase = [hex: string, eventId: string];
type Wanted = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;

/** Which of these hashes (32 hexadecimal digits) are stored, each with the event that was counted under it. */
export function* findPurchases(store: Store, wanted: Wanted): Generator<StoredPurchase> {
  for (const page of readPurchases(store, wanted)) yield* page;
}

/** `findPurchases`, with one page per read of a bounded size. */
export function* readPurchases(store: Store, wanted: Wanted): Generator<StoredPurchase[]> {
  const state = store.select().from(keyGenerations).where(generation).get();
  if (!state) return;
  const firstWords = new Set<number>();
  for (const hex of wanted.keys()) firstWords.add(Number.parseInt(hex.slice(0, 8), 16));
  const wantedIn = (hashes: Uint8Array): StoredPurchase[] => {
    const words = wordsOf(hashes);
    const found: StoredPurchase[] = [];
    for (let at = 0; at < words.length; at += ENTRIES.words) {
      if (!firstWords.has(words[at] ?? 0)) continue;
      const hex = hexOfHash(words, at);
      if (wanted.has(hex)) found.push([hex, readEventId(words, at + ID_AT)]);
    }
    return found;
  };
  for (const { hashes } of store.select({ hashes: recentKeys.hashes }).from(recentKeys).where(recent).all()) {
    yield wantedIn(hashes);
  }
  if (state.blocked === 0) return;
  const numbers = new Set<number>();
  for (const word of firstWords) numbers.add(blockOf(word, state.bits));
  const list = [...numbers].sort((left, right) => left - right);
  for (let start = 0; start < list.length; start += BLOCKS_PER_READ) {
    const part = JSON.stringify(list.slice(start, start + BLOCKS_PER_READ));
    const rows = store
      .select({ hashes: keyBlocks.hashes })
      .from(keyBlocks)
      .where(and(blocks, inArray(keyBlocks.block, sql`(SELECT value FROM json_each(${part}))`)))
      .all();
    yield rows.flatMap(({ hashes }) => wantedIn(hashes));
  }
}

/** Stores new keys. Call it in a transaction, and `mergePurchases` after it; `takenDay` counts from 1970. */
export function savePurchases(
  store: Store,
  run: number,
  taken: readonly (readonly [hex: string, eventId: string])[],
  takenDay: number,
): void {
  if (taken.length === 0) return;
  const words = new Uint32Array(taken.length * ENTRIES.words);
  for (const [index, [hex, eventId]] of taken.entries()) {
    const at = index * ENTRIES.words;
    for (let word = 0; word < HASH_WORDS; word++) {
      words[at + word] = Number.parseInt(hex.slice(word * 8, word * 8 + 8), 16);
    }
    writeEventId(words, at + ID_AT, eventId);
    words[at + DAY_AT] = takenDay;
  }
  store
    .insert(recentKeys)
    .values({ day, week: NO_WEEK, run, hashes: bytesOf(words) })
    .run();
  store
    .insert(keyGenerations)
    .values({ day, week: NO_WEEK, bits: 0, blocked: 0, recent: taken.length })
    .onConflictDoUpdate({
      target: [keyGenerations.day, keyGenerations.week],
      set: { recent: sql`${named(keyGenerations.recent)} + ${taken.length}` },
    })
    .run();
}

/** Merges recent keys into the blocks once there are many. Call it in a transaction. */
export function mergePurchases(store: Store): void {
  mergeWhenDue(store, day, NO_WEEK, ENTRIES);
}

/** A generation whose entries each have the day (since 1970) on which they were stored. */
type DatedEntries = { day: number; words: number; storedAt: number };

/** Deletes keys of purchases stored before a day (since 1970). */
export const prunePurchases = (store: Store, before: number, today: number): void =>
  pruneEntries(store, { day, words: ENTRIES.words, storedAt: DAY_AT }, before, today);

/** Deletes entries stored before a day (since 1970): all at once if there are few, otherwise a share of the blocks each day. */
export function pruneEntries(
  store: Store,
  { day, words: width, storedAt }: DatedEntries,
  before: number,
  today: number,
): void {
  const generation = and(eq(keyGenerations.day, day), eq(keyGenerations.week, NO_WEEK));
  const recent = and(eq(recentKeys.day, day), eq(recentKeys.week, NO_WEEK));
  const blocks = and(eq(keyBlocks.day, day), eq(keyBlocks.week, NO_WEEK));
  const bytesPerEntry = width * 4;
  const state = store.select().from(keyGenerations).where(generation).get();
  if (!state) return;
  const isKept = (words: Uint32Array, at: number) => (words[at + storedAt] ?? 0) >= before;
  let [blocked, left] = [state.blocked, state.recent];
  for (const { run, hashes } of store.select().from(recentKeys).where(recent).all()) {
    const kept = pick(wordsOf(hashes), width, isKept);
    if (kept.byteLength === hashes.byteLength) continue;
    left -= (hashes.byteLength - kept.byteLength) / bytesPerEntry;
    const row = and(recent, eq(recentKeys.run, run));
    if (kept.length === 0) store.delete(recentKeys).where(row).run();
    else
      store
        .update(recentKeys)
        .set({ hashes: bytesOf(kept) })
        .where(row)
        .run();
  }
  const count = 2 ** state.bits;
  const step = Math.min(count, PRUNED_IN_DAYS);
  for (let block = today % step; block < count; block += step) {
    const row = and(blocks, eq(keyBlocks.block, block));
    const hashes = store.select({ hashes: keyBlocks.hashes }).from(keyBlocks).where(row).get()?.hashes;
    if (!hashes) continue;
    const kept = pick(wordsOf(hashes), width, isKept);
    if (kept.byteLength === hashes.byteLength) continue;
    blocked -= (hashes.byteLength - kept.byteLength) / bytesPerEntry;
    if (kept.length === 0) store.delete(keyBlocks).where(row).run();
    else
      store
        .update(keyBlocks)
        .set({ hashes: bytesOf(kept) })
        .where(row)
        .run();
  }
  if (blocked === state.blocked && left === state.recent) return;
  store.update(keyGenerations).set({ blocked, recent: left }).where(generation).run();
}

function pick(
  words: Uint32Array,
  width: number,
  isKept: (words: Uint32Array, at: number) => boolean,
): Uint32Array {
  const kept = new Uint32Array(words.length);
  let length = 0;
  for (let at = 0; at < words.length; at += width) {
    if (!isKept(words, at)) continue;
    kept.set(words.subarray(at, at + width), length);
    length += width;
  }
  return kept.subarray(0, length);
}

/** An id is stored as its raw bytes. Byte order does not matter, because only these two functions write and read it. */
function writeEventId(words: Uint32Array, at: number, eventId: string): void {
  new Uint8Array(words.buffer, words.byteOffset + at * 4, 16).set(idToBytes(eventId));
}

const readEventId = (words: Uint32Array, at: number): string =>
  idFromBytes('evt', new Uint8Array(words.buffer, words.byteOffset + at * 4, 16));
