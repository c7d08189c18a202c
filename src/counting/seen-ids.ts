import { and, eq, lt } from 'drizzle-orm';
import { LruCache } from '#lib/collections/lru-cache';
import { TupleIndex } from '#lib/collections/tuple-index';
import { idToBytes } from '#lib/ids';
import { MINUTE_MS } from '#lib/time';
import { seenIds } from './schema.ts';
import { bytesOf, type ObjectStore } from './store.ts';
import { wordsOf } from './word-columns.ts';

/** The words of an id by which it is found among those of its minute. */
const TAIL_WORDS = 2;
/** No row of the log has it. */
const NO_BATCH = 0;
/** The number of ids cached in memory, at 16 to 32 bytes each. */
const MAX_CACHED_IDS = 400_000;
/** The number of ids for which a minute has room from the start. */
const MAX_EXPECTED_IDS = 100_000;

/** The minute in which an id (16 bytes, a UUIDv7) at an offset was minted. */
const minuteAt = (ids: DataView, at: number): number =>
  Math.floor((ids.getUint32(at) * 2 ** 16 + ids.getUint16(at + 4)) / MINUTE_MS);

const viewOf = (ids: Uint8Array) => new DataView(ids.buffer, ids.byteOffset, ids.byteLength);

/**
 * The ids of all appended events. A redelivered event is found by the minute of its id and the id's last 8 bytes, of which 62 bits are random.
 * The minutes in use are cached in memory.
 */
export class SeenIds {
  private readonly store: ObjectStore;
  private readonly minutes = new LruCache<number, TupleIndex>(MAX_CACHED_IDS);
  private readonly tail = new Int32Array(TAIL_WORDS);
  /** The minute that was cached last. The next one will probably have as many ids, and growing to that step by step takes twice the time. */
  private latest: TupleIndex | null = null;

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /** The indexes of the new ids among these (16 bytes each), without repeats. Stores them. */
  addAll(ids: Uint8Array, batch: number): number[] {
    const fresh: number[] = [];
    const used = new Map<number, { table: TupleIndex; tails: number[] }>();
    const view = viewOf(ids);
    // Ids of the same minute are adjacent.
    let [minute, own]: [number, ReturnType<typeof used.get>] = [-1, undefined];
    for (let at = 0; at < ids.length; at += 16) {
      const minted = minuteAt(view, at);
      if (own === undefined || minted !== minute) {
        own = used.get(minted) ?? { table: this.tableOf(minted, (ids.length - at) / 16), tails: [] };
        used.set(minted, own);
        minute = minted;
      }
      const [high, low] = [view.getUint32(at + 8), view.getUint32(at + 12)];
      if (!this.add(own.table, high, low)) continue;
      fresh.push(at / 16);
      own.tails.push(high, low);
    }
    for (const [minute, { table, tails }] of used) {
      // Kept only now: what a minute was read from lacks the ids above. The largest one is kept alone.
      this.minutes.set(minute, table, Math.min(table.size, MAX_CACHED_IDS));
      if (tails.length > 0) this.insert(minute, batch, tails);
    }
    return fresh;
  }

  private insert(minute: number, batch: number, tails: readonly number[]): void {
    // A batch is appended once. Erased installs of a minute come one by one.
    const earlier = batch === NO_BATCH ? this.tailsOf(minute, batch) : [];
    const bytes = bytesOf(Uint32Array.from([...earlier, ...tails]));
    const insertion = this.store.insert(seenIds).values({ minute, batch, tails: bytes });
    if (earlier.length === 0) insertion.run();
    else
      insertion.onConflictDoUpdate({ target: [seenIds.minute, seenIds.batch], set: { tails: bytes } }).run();
  }

  private tailsOf(minute: number, batch: number): number[] {
    const row = this.store
      .select({ tails: seenIds.tails })
      .from(seenIds)
      .where(and(eq(seenIds.minute, minute), eq(seenIds.batch, batch)))
      .get();
    return row ? [...wordsOf(row.tails)] : [];
  }

  /** Notes an install that is erased. It was appended with its device, not as one of a batch, and is known no longer. Idempotent. */
  addErased(eventId: string): void {
    this.addAll(idToBytes(eventId), NO_BATCH);
  }

  /** The batch of an event; null if it was not appended. */
  batchOf(id: Uint8Array): number | null {
    const view = viewOf(id);
    const [high, low] = [view.getUint32(8), view.getUint32(12)];
    for (const row of this.store
      .select()
      .from(seenIds)
      .where(eq(seenIds.minute, minuteAt(view, 0)))
      .all()) {
      const words = wordsOf(row.tails);
      for (let at = 0; at < words.length; at += 2) {
        if (words[at] === high && words[at + 1] === low) return row.batch;
      }
    }
    return null;
  }

  /** Deletes ids that were minted before a time (epoch milliseconds). */
  prune(before: number): void {
    this.store
      .delete(seenIds)
      .where(lt(seenIds.minute, Math.floor(before / MINUTE_MS)))
      .run();
    this.forget();
  }

  /** Clears the cache, so that it cannot contain ids that are not in storage. */
  forget(): void {
    this.minutes.clear();
    this.latest = null;
  }

  /** Returns whether the tail of an id was added; false if it was already there. */
  private add(table: TupleIndex, high: number, low: number): boolean {
    const { size } = table;
    this.tail[0] = high;
    this.tail[1] = low;
    return table.numberOf(this.tail) === size;
  }

  /** The ids of a minute, with room for `added` more if they are not cached yet. */
  private tableOf(minute: number, added: number): TupleIndex {
    const cached = this.minutes.get(minute);
    if (cached) return cached;
    const rows = this.store
      .select({ tails: seenIds.tails })
      .from(seenIds)
      .where(eq(seenIds.minute, minute))
      .all();
    const known = rows.reduce((total, { tails }) => total + tails.length / 8, added);
    const table = new TupleIndex(
      TAIL_WORDS,
      Math.max(known, Math.min(this.latest?.size ?? 0, MAX_EXPECTED_IDS)),
    );
    for (const { tails } of rows) {
      const words = wordsOf(tails);
      for (let at = 0; at < words.length; at += 2) this.add(table, words[at] ?? 0, words[at + 1] ?? 0);
    }
    this.latest = table;
    return table;
  }
}
