import { and, eq, inArray, sql } from 'drizzle-orm';
import { findKind, type LoggedEvent } from '#catalogue';
import { named } from '#db';
import { idFromBytes, idToBytes, isId } from '#lib/ids';
import { murmur128 } from '#lib/murmur';
import { DAY_MS, dayFromNumber, dayNumber } from '#lib/time';
import type { TransactionStep, Transactions } from '#rollup';
import { keyBlocks, keyGenerations, recentKeys } from '../schema.ts';
import { bytesOf, type Store } from '../store.ts';
import { wordsOf } from '../word-columns.ts';
import { blockOf, type Entries, mergeWhenDue } from './key-blocks.ts';
import { hexOfHash, NO_WEEK } from './purchase-keys.ts';

// Purchases with a transaction id, and what was refunded of them. They are packed like keys, in two generations: the steps of known purchases,
// and refunds that wait for their purchase. The second is nearly empty, so a purchase looks for refunds at no cost. An entry is:
//
//   0 hash of the transaction id (4)   4 event id (4)        8 day of storing       9 nanos, a double (2)
//  11 epoch second of the event       12 day, acquired day  13 creative id (4)     17 ids of the two segments (3)
//  20 currency and kind

const HASH_WORDS = 4;
const AT = {
  id: 4,
  stored: 8,
  nanos: 9,
  second: 11,
  days: 12,
  creative: 13,
  segments: 17,
  last: 20,
} as const;
const ENTRIES: Entries = { words: 21, perBlock: 96, maxRecent: 32_768 };
const ENTRY_BYTES = ENTRIES.words * 4;
/** Pseudo-days: see `KEY_DAY`. */
const GENERATION = { known: -3, waiting: -4 } as const;
type GenerationName = keyof typeof GENERATION;
/** At 8 KB per block, 1 MB per read. */
const BLOCKS_PER_READ = 128;
const KINDS = ['purchase', 'refund', 'reversal'] as const satisfies readonly TransactionStep['is'][];

/** Where `pruneEntries` finds the day of storing. */
export const TRANSACTION_GENERATIONS = Object.values(GENERATION).map((day) => ({
  ...{ day, words: ENTRIES.words, storedAt: AT.stored },
}));

/** The transactions of a run. */
export class TransactionBook implements Transactions {
  private readonly store: Store;
  private readonly takenDay: number;
  /** By hash: the steps of those transactions of the batch being counted that have several. */
  private wanted = new Map<string, TransactionStep[]>();
  /** By generation: the entries that are not saved yet. */
  private readonly pending: Record<GenerationName, PackedEntries>;
  private readonly isChanged = { known: false, waiting: false };

  constructor(store: Store, now: number) {
    this.store = store;
    this.takenDay = Math.floor(now / DAY_MS);
    this.pending = { known: new PackedEntries(), waiting: new PackedEntries() };
  }

  /** The memory of what is not saved yet, in bytes. */
  get weight(): number {
    return (this.pending.known.length + this.pending.waiting.length) * 4;
  }

  /** Looks up what is known of the transactions of a batch, before it is counted. */
  load(events: readonly (LoggedEvent | null)[]): void {
    const refunded = new Map<string, TransactionStep[]>();
    const purchased = new Map<string, TransactionStep[]>();
    for (const event of events) {
      const transaction = event && findKind(event)?.transactionOf?.(event);
      if (!transaction) continue;
      (transaction.is === 'purchase' ? purchased : refunded).set(hexOf(transaction.id), []);
    }
    this.wanted = refunded;
    if (refunded.size > 0) this.find('known', refunded);
    const all = new Map([...purchased, ...refunded]);
    if (all.size > 0) this.find('waiting', all);
    for (const [hex, steps] of purchased)
      if (steps.length > 0 || refunded.has(hex)) this.wanted.set(hex, all.get(hex) ?? []);
  }

  stepsOf(id: string): readonly TransactionStep[] {
    return this.wanted.size === 0 ? [] : (this.wanted.get(hexOf(id)) ?? []);
  }

  add(id: string, step: TransactionStep): void {
    const hash = murmur128(id);
    const steps = this.wanted.size === 0 ? undefined : this.wanted.get(hexOfHash(Uint32Array.from(hash), 0));
    const hadPurchase = steps?.some(({ is }) => is === 'purchase') ?? false;
    const isKnown = step.is === 'purchase' || hadPurchase;
    this.pending[isKnown ? 'known' : 'waiting'].push(hash, step, this.takenDay);
    // The refunds that waited are kept for as long as the purchase.
    if (step.is === 'purchase') {
      for (const waited of steps ?? []) this.pending.known.push(hash, waited, this.takenDay);
    }
    steps?.push(step);
  }

  /** Whether a counted event is a refund, or a reversal, that waits for its purchase. */
  isWaiting(event: LoggedEvent): boolean {
    const transaction = findKind(event)?.transactionOf?.(event);
    if (!transaction || transaction.is === 'purchase') return false;
    const stepsIn = (name: GenerationName): readonly TransactionStep[] => {
      const steps: TransactionStep[] = [];
      this.find(name, new Map([[hexOf(transaction.id), steps]]));
      return steps;
    };
    return (
      stepsIn('waiting').some(({ eventId }) => eventId === event.id) &&
      !stepsIn('known').some(({ is }) => is === 'purchase')
    );
  }

  /** Writes what was added since the last call. Call it in the transaction that commits `run`, and `merge` after it. */
  save(run: number): void {
    for (const name of ['known', 'waiting'] as const) {
      const words = this.pending[name].take();
      if (words.length === 0) continue;
      const day = GENERATION[name];
      const recent = words.length / ENTRIES.words;
      this.store
        .insert(recentKeys)
        .values({ day, week: NO_WEEK, run, hashes: bytesOf(words) })
        .run();
      this.store
        .insert(keyGenerations)
        .values({ day, week: NO_WEEK, bits: 0, blocked: 0, recent })
        .onConflictDoUpdate({
          target: [keyGenerations.day, keyGenerations.week],
          set: { recent: sql`${named(keyGenerations.recent)} + ${recent}` },
        })
        .run();
      this.isChanged[name] = true;
    }
  }

  /** Merges recent entries into the blocks where there are many. Call it in a transaction. */
  merge(): void {
    for (const name of ['known', 'waiting'] as const) {
      if (this.isChanged[name]) mergeWhenDue(this.store, GENERATION[name], NO_WEEK, ENTRIES);
      this.isChanged[name] = false;
    }
  }

  /** Adds the steps of these transactions in a generation, saved and not, each once. */
  private find(name: GenerationName, wanted: ReadonlyMap<string, TransactionStep[]>): void {
    const firstWords = new Set([...wanted.keys()].map(firstWordOf));
    for (const words of this.read(name, firstWords)) {
      for (let at = 0; at < words.length; at += ENTRIES.words) {
        if (!firstWords.has(words[at] ?? 0)) continue;
        const steps = wanted.get(hexOfHash(words, at));
        if (!steps) continue;
        const step = readEntry(words, at);
        if (!steps.some(({ eventId }) => eventId === step.eventId)) steps.push(step);
      }
    }
  }

  private *read(name: GenerationName, firstWords: Iterable<number>): Generator<Uint32Array> {
    yield this.pending[name].words;
    const day = GENERATION[name];
    const own = and(eq(keyGenerations.day, day), eq(keyGenerations.week, NO_WEEK));
    const state = this.store.select().from(keyGenerations).where(own).get();
    if (!state) return;
    const recent = and(eq(recentKeys.day, day), eq(recentKeys.week, NO_WEEK));
    for (const { hashes } of this.store
      .select({ hashes: recentKeys.hashes })
      .from(recentKeys)
      .where(recent)
      .all())
      yield wordsOf(hashes);
    if (state.blocked === 0) return;
    const blocks = new Set<number>();
    for (const word of firstWords) blocks.add(blockOf(word, state.bits));
    const list = [...blocks].sort((left, right) => left - right);
    for (let start = 0; start < list.length; start += BLOCKS_PER_READ) {
      const part = JSON.stringify(list.slice(start, start + BLOCKS_PER_READ));
      const among = inArray(keyBlocks.block, sql`(SELECT value FROM json_each(${part}))`);
      const rows = this.store
        .select({ hashes: keyBlocks.hashes })
        .from(keyBlocks)
        .where(and(eq(keyBlocks.day, day), eq(keyBlocks.week, NO_WEEK), among))
        .all();
      for (const { hashes } of rows) yield wordsOf(hashes);
    }
  }
}

const FIRST_CAPACITY = 16 * ENTRIES.words;

/** Entries in one array that grows. */
class PackedEntries {
  length = 0;
  private array = new Uint32Array(FIRST_CAPACITY);

  get words(): Uint32Array {
    return this.array.subarray(0, this.length);
  }

  push(hash: ArrayLike<number>, step: TransactionStep, storedDay: number): void {
    if (this.length + ENTRIES.words > this.array.length) {
      const larger = new Uint32Array(this.array.length * 2);
      larger.set(this.array);
      this.array = larger;
    }
    writeEntry(this.array, this.length, hash, step, storedDay);
    this.length += ENTRIES.words;
  }

  /** Returns the entries and forgets them. */
  take(): Uint32Array {
    const taken = this.words.slice();
    this.length = 0;
    return taken;
  }
}

const firstWordOf = (hex: string): number => Number.parseInt(hex.slice(0, 8), 16);

const hexOf = (id: string): string => hexOfHash(Uint32Array.from(murmur128(id)), 0);

function writeEntry(
  words: Uint32Array,
  at: number,
  hash: ArrayLike<number>,
  step: TransactionStep,
  storedDay: number,
): void {
  const view = new DataView(words.buffer, words.byteOffset + at * 4, ENTRY_BYTES);
  const bytes = new Uint8Array(view.buffer, view.byteOffset, ENTRY_BYTES);
  bytes.fill(0);
  for (let word = 0; word < HASH_WORDS; word++) words[at + word] = hash[word] ?? 0;
  bytes.set(idToBytes(step.eventId), AT.id * 4);
  words[at + AT.stored] = storedDay;
  view.setFloat64(AT.nanos * 4, step.nanos);
  words[at + AT.second] = step.second;
  view.setUint16(AT.days * 4, dayNumber(step.day));
  view.setUint16(AT.days * 4 + 2, dayNumber(step.acquiredDay));
  if (isId('crt', step.creativeId)) bytes.set(idToBytes(step.creativeId), AT.creative * 4);
  writeSegment(view, AT.segments * 4, step.segments.event);
  writeSegment(view, AT.segments * 4 + 6, step.segments.cohort);
  for (let letter = 0; letter < 3; letter++) bytes[AT.last * 4 + letter] = step.currency.charCodeAt(letter);
  bytes[AT.last * 4 + 3] = KINDS.indexOf(step.is);
}

function readEntry(words: Uint32Array, at: number): TransactionStep {
  const view = new DataView(words.buffer, words.byteOffset + at * 4, ENTRY_BYTES);
  const bytes = new Uint8Array(view.buffer, view.byteOffset, ENTRY_BYTES);
  const isOrganic = bytes.subarray(AT.creative * 4, AT.segments * 4).every((byte) => byte === 0);
  return {
    is: KINDS[bytes[AT.last * 4 + 3] ?? 0] ?? 'purchase',
    eventId: idFromBytes('evt', bytes, AT.id * 4),
    nanos: view.getFloat64(AT.nanos * 4),
    currency: String.fromCharCode(...bytes.subarray(AT.last * 4, AT.last * 4 + 3)),
    second: words[at + AT.second] ?? 0,
    day: dayFromNumber(view.getUint16(AT.days * 4)),
    acquiredDay: dayFromNumber(view.getUint16(AT.days * 4 + 2)),
    creativeId: isOrganic ? '' : idFromBytes('crt', bytes, AT.creative * 4),
    segments: { event: readSegment(view, AT.segments * 4), cohort: readSegment(view, AT.segments * 4 + 6) },
  };
}

/** A segment's id has 48 bits. */
function writeSegment(view: DataView, at: number, id: number): void {
  view.setUint16(at, Math.floor(id / 2 ** 32));
  view.setUint32(at + 2, id >>> 0);
}

const readSegment = (view: DataView, at: number): number =>
  view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
