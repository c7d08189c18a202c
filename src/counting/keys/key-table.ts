import { TupleIndex } from '#lib/collections/tuple-index';

/** What is known of a key: see `KeyBook`. */
export const FLAG = { storedSameDay: 1, storedNear: 2, taken: 4, saved: 8 } as const;

/** Hashes of 64 bits, each with a day, numbered in order of first use, and their flags. */
export class KeyTable {
  private readonly index: TupleIndex;
  private readonly flags: Uint8Array;
  private readonly tuple = new Int32Array(3);

  /** `max`: the largest number of keys. */
  constructor(max: number) {
    this.index = new TupleIndex(this.tuple.length, max);
    this.flags = new Uint8Array(max);
  }

  get size(): number {
    return this.index.size;
  }

  /** The number of a key, or -1. */
  find(day: number, high: number, low: number): number {
    return this.index.find(this.tupleOf(day, high, low));
  }

  /** Returns whether the key was added; false if it was already there. */
  add(day: number, high: number, low: number): boolean {
    const { size } = this;
    return this.index.numberOf(this.tupleOf(day, high, low)) === size;
  }

  has(key: number, flags: number): boolean {
    return ((this.flags[key] ?? 0) & flags) !== 0;
  }

  mark(key: number, flag: number): void {
    if (key >= 0) this.flags[key] = (this.flags[key] ?? 0) | flag;
  }

  /** The numbers, by day, of the keys whose flags among `mask` are `flags`. */
  byDay(mask = 0, flags = 0): Map<number, number[]> {
    const keys: number[] = [];
    for (let key = 0; key < this.size; key++) if (((this.flags[key] ?? 0) & mask) === flags) keys.push(key);
    return Map.groupBy(keys, (key) => this.index.at(key, 0));
  }

  /** The hashes of keys: one or two words each. */
  wordsOf(keys: readonly number[], width: 1 | 2): Uint32Array {
    const words = new Uint32Array(keys.length * width);
    let at = 0;
    for (const key of keys) for (let word = 1; word <= width; word++) words[at++] = this.index.at(key, word);
    return words;
  }

  private tupleOf(day: number, high: number, low: number): Int32Array {
    this.tuple[0] = day;
    this.tuple[1] = high;
    this.tuple[2] = low;
    return this.tuple;
  }
}
