import { and, eq, lt, type SQL, sql } from 'drizzle-orm';
import { isAmong, named } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { murmur128 } from '#lib/murmur';
import type { Steps } from '#lib/steps';
import { DAY_MS } from '#lib/time';
import { KEY_DAY, KEY_WORDS } from '../pack.ts';
import { keyBlocks, keyGenerations, purchaseKeys, recentKeys, transactions } from '../schema.ts';
import { bytesOf, type ObjectStore } from '../store.ts';
import { wordsOf } from '../word-columns.ts';
import { hexOfHash, pruneExpired } from './hashed-rows.ts';
import { blockOf, compactWhenDue, generationOf } from './key-blocks.ts';
import { FLAG, KeyTable } from './key-table.ts';
import { readPurchases, savePurchases } from './purchase-keys.ts';

/** The keys of one event among the words of a row (see `pack.ts`), from the word `from` up to but not including `to`. */
export type KeyRange = { words: Uint32Array; from: number; to: number };
type PurchaseKeys = { stored: string | null; taken: string | null };

/** The marks of a key that was counted on its own day, or was stored on an adjacent one. */
const SEEN = FLAG.storedSameDay | FLAG.storedNear | FLAG.taken;

/** The days on which a key of `day` matches others. */
const nearDays = (day: number) => (day <= KEY_DAY.any ? [day] : [day, day - 1, day + 1]);

const weekOfTaking = (now: number): number => Math.floor(now / (7 * DAY_MS));

/**
 * The keys of one run: which of them were seen before, and which the run stores. An event is a duplicate if any of its keys was seen on the same
 * day or an adjacent one or, for purchases and sessions, ever.
 */
export class KeyBook {
  private readonly store: ObjectStore;
  private readonly table: KeyTable;
  private readonly filter = new Uint32Array(FILTER_BITS / 32);
  private readonly purchases = new Map<string, PurchaseKeys>();
  /** The days of its keys, each with those days of other keys on which they match. */
  private readonly days = new Map<number, number[]>();
  /** The generations that were added to since the last compaction. */
  private readonly added: { day: number; week: number }[] = [];

  private constructor(store: ObjectStore, keys: number) {
    this.store = store;
    this.table = new KeyTable(keys);
  }

  /** Looks up the keys of rows of the log (`PackedRow.keys`). */
  static *open(store: ObjectStore, rows: readonly Uint32Array[]): Steps<KeyBook> {
    const total = rows.reduce((sum, row) => sum + row.length / KEY_WORDS, 0);
    const book = new KeyBook(store, total);
    let added = 0;
    for (const words of rows) {
      for (let at = 0; at < words.length; at += KEY_WORDS) book.addWanted(words, at);
      added += words.length / KEY_WORDS;
      if (added < KEYS_PER_STEP) continue;
      added = 0;
      yield;
    }
    for (const day of book.days.keys())
      book.days.set(
        day,
        nearDays(day).filter((near) => book.days.has(near)),
      );
    yield* book.markStored();
    yield* book.markPurchases();
    return book;
  }

  /** Stores all keys of an event except its session's. Returns false if the event is a duplicate. An event without keys never is. */
  take({ words, from, to }: KeyRange, eventId: string): boolean {
    let isFirst = true;
    /** The counted event that a duplicate purchase repeats. */
    let counted: string | null = null;
    for (let at = from; at < to; at += KEY_WORDS) {
      if (!this.wasSeen(words, at)) continue;
      isFirst = false;
      const purchase = this.purchases.get(hexOfHash(words, at + 2));
      counted ??= purchase?.stored ?? purchase?.taken ?? null;
    }
    for (let at = from; at < to; at += KEY_WORDS) {
      const day = dayAt(words, at);
      if (day === KEY_DAY.purchase) {
        const purchase = this.purchases.get(hexOfHash(words, at + 2));
        if (purchase && !purchase.stored) purchase.taken ??= counted ?? eventId;
      } else if (day !== KEY_DAY.session) {
        const key = this.table.find(day, words[at + 2] ?? 0, words[at + 3] ?? 0);
        if (!this.table.has(key, FLAG.storedSameDay)) this.table.mark(key, FLAG.taken);
      }
    }
    return isFirst;
  }

  /** Whether a session in one of the given rows was counted before, in this run or another. */
  hasSession(key: string): boolean {
    return this.table.has(this.findSession(key), FLAG.storedSameDay | FLAG.taken);
  }

  /** Stores a session that was not counted before. */
  takeSession(key: string): void {
    this.table.mark(this.findSession(key), FLAG.taken);
  }

  private findSession(key: string): number {
    const [high, low] = murmur128(key);
    return this.table.find(KEY_DAY.session, high, low);
  }

  private addWanted(words: Uint32Array, at: number): void {
    const day = dayAt(words, at);
    if (day === KEY_DAY.purchase) {
      this.purchases.set(hexOfHash(words, at + 2), { stored: null, taken: null });
      return;
    }
    const low = words[at + 3] ?? 0;
    if (!this.table.add(day, words[at + 2] ?? 0, low)) return;
    const word = (low & FILTER_MASK) >>> 5;
    this.filter[word] = (this.filter[word] ?? 0) | (1 << (low & 31));
    if (!this.days.has(day)) this.days.set(day, []);
  }

  private wasSeen(words: Uint32Array, at: number): boolean {
    const day = dayAt(words, at);
    if (day === KEY_DAY.session) return false;
    if (day === KEY_DAY.purchase) {
      const purchase = this.purchases.get(hexOfHash(words, at + 2));
      return purchase !== undefined && (purchase.stored ?? purchase.taken) !== null;
    }
    const { table } = this;
    const [high, low] = [words[at + 2] ?? 0, words[at + 3] ?? 0];
    for (const own of this.days.get(day) ?? []) {
      if (table.has(table.find(own, high, low), own === day ? SEEN : FLAG.taken)) return true;
    }
    return false;
  }

  /**
   * Writes the keys that were taken since the last call. Call it in the transaction that commits `run`, and `compact` after it. Later events of the
   * run still find them.
   */
  save(run: number, now: number): void {
    const week = weekOfTaking(now);
    for (const [day, keys] of this.table.byDay(FLAG.taken | FLAG.saved, FLAG.taken)) {
      const added = keys.length;
      for (const key of keys) this.table.mark(key, FLAG.saved);
      this.store
        .insert(recentKeys)
        .values({ day, week, run, hashes: bytesOf(this.table.wordsOf(keys, 2)) })
        .run();
      this.store
        .insert(keyGenerations)
        .values({ day, week, bits: 0, blocked: 0, recent: added })
        .onConflictDoUpdate({
          target: [keyGenerations.day, keyGenerations.week],
          set: { recent: sql`${named(keyGenerations.recent)} + ${added}` },
        })
        .run();
      this.added.push({ day, week });
    }
    const purchases: [hex: string, eventId: string][] = [];
    for (const [hex, purchase] of this.purchases) {
      if (purchase.taken === null) continue;
      purchases.push([hex, purchase.taken]);
      this.purchases.set(hex, { stored: purchase.taken, taken: null });
    }
    savePurchases(this.store, purchases, dayOf(now));
  }

  /** Compacts recent keys into the blocks where there are many, each generation in a transaction of its own. Changes no lookup. */
  *compact(transaction: (work: () => void) => void): Steps {
    for (const { day, week } of this.added.splice(0)) {
      transaction(() => compactWhenDue(this.store, day, week));
      yield;
    }
  }

  private *markPurchases(): Steps {
    if (this.purchases.size === 0) return;
    for (const page of readPurchases(this.store, this.purchases.keys())) {
      for (const [hex, eventId] of page) {
        const purchase = this.purchases.get(hex);
        if (purchase) purchase.stored = eventId;
      }
      yield;
    }
  }

  private *markStored(): Steps {
    if (this.table.size === 0) return;
    const wanted = new Set([...this.days.keys()].flatMap(nearDays));
    const generations = this.store
      .select()
      .from(keyGenerations)
      .all()
      .filter(({ day }) => wanted.has(day));
    const keys = [...this.table.byDay()];
    const highs = new Map(keys.map(([day, own]) => [day, this.table.wordsOf(own, 1)]));
    for (const { day, week, bits, blocked } of generations) {
      const mark = (hashes: Uint8Array) => this.markHashes(wordsOf(hashes), day);
      const of = { recent: generationOf(recentKeys, day, week), blocks: generationOf(keyBlocks, day, week) };
      const runs = this.store.select({ run: recentKeys.run }).from(recentKeys).where(of.recent).all();
      for (const { run } of runs) {
        const own = and(of.recent, eq(recentKeys.run, run));
        const row = this.store.select({ hashes: recentKeys.hashes }).from(recentKeys).where(own).get();
        if (row) mark(row.hashes);
        yield;
      }
      if (blocked === 0) continue;
      const near = nearDays(day).flatMap((own) => highs.get(own) ?? []);
      for (const blocks of blocksToRead(near, bits)) {
        const rows = this.store
          .select({ hashes: keyBlocks.hashes })
          .from(keyBlocks)
          .where(and(of.blocks, blocks))
          .all();
        for (const { hashes } of rows) mark(hashes);
        yield;
      }
    }
  }

  private markHashes(words: Uint32Array, storedDay: number): void {
    const { table } = this;
    const near = nearDays(storedDay).filter((day) => this.days.has(day));
    for (let at = 0; at < words.length; at += 2) {
      const low = words[at + 1] ?? 0;
      // Nearly all stored hashes are rejected here: the filter stays in the processor's cache, the table does not.
      if (((this.filter[(low & FILTER_MASK) >>> 5] ?? 0) & (1 << (low & 31))) === 0) continue;
      for (const day of near) {
        const key = table.find(day, words[at] ?? 0, low);
        table.mark(key, day === storedDay ? FLAG.storedSameDay : FLAG.storedNear);
      }
    }
  }
}

/** The number of bits of the filter, which is indexed by low words. */
const FILTER_BITS = 2 ** 22;
const FILTER_MASK = FILTER_BITS - 1;

/** At 8 KB per block, 1 MB per read. */
const BLOCKS_PER_READ = 128;
const KEYS_PER_STEP = 10_000;

/** Conditions that together cover every block that may contain a key with one of these high words, each with a bounded number of blocks. */
function blocksToRead(highs: readonly Uint32Array[], bits: number): SQL[] {
  const blocks = new Set<number>();
  for (const words of highs) for (const high of words) blocks.add(blockOf(high, bits));
  const list = [...blocks].sort((left, right) => left - right);
  return Array.from(chunksOf(list, BLOCKS_PER_READ), (part) => isAmong(keyBlocks.block, part));
}

const dayAt = (words: Uint32Array, at: number) => (words[at + 1] ?? 0) | 0;

/** Deletes keys stored before a time (epoch milliseconds), and keys and transactions of purchases stored before another. */
export function pruneKeys(
  store: ObjectStore,
  takenBefore: number,
  purchasesBefore: number,
  now: number,
): void {
  // A week is deleted as a whole, once its last day is old enough.
  const week = weekOfTaking(takenBefore);
  for (const table of [recentKeys, keyBlocks, keyGenerations])
    store.delete(table).where(lt(table.week, week)).run();
  for (const table of [purchaseKeys, transactions])
    pruneExpired(store, table, dayOf(purchasesBefore), dayOf(now));
}

const dayOf = (time: number) => Math.floor(time / DAY_MS);
