/**
 * Words per slot: the two of the hash, then the day above the flags, which is 0 for an empty slot. They are next to each other, because
 * in a large table, each look-up waits for memory once per place that it reads.
 */
const SLOT_WORDS = 3;
const DAY_SHIFT = 8;
const FLAGS_MASK = 2 ** DAY_SHIFT - 1;

const OCCUPIED = 1;
/** Flags use the bits above the lowest. */
export const FLAG = { storedSameDay: 2, storedNear: 4, taken: 8, saved: 16 } as const;

/**
 * A set of 64-bit hashes, each with a number of 24 bits (a day) and 8 bits of flags. It uses open addressing over a typed array, because a `Set`
 * of texts takes ten times the memory of the hashes.
 */
export class HashTable {
  size = 0;
  private mask: number;
  private words: Int32Array;

  constructor(expected = 16) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(16, expected * 2)));
    this.mask = capacity - 1;
    this.words = new Int32Array(capacity * SLOT_WORDS);
  }

  /** A slot of a hash, of whatever day, or -1. `next` returns the others. Slots are valid until the next `add`. */
  first(high: number, low: number): number {
    return this.search(low & this.mask, high | 0, low | 0);
  }

  /** The next slot of the hash in a slot, or -1. */
  next(slot: number): number {
    const at = slot * SLOT_WORDS;
    return this.search((slot + 1) & this.mask, this.words[at] ?? 0, this.words[at + 1] ?? 0);
  }

  /** The slot of a hash and a day, or -1. */
  find(day: number, high: number, low: number): number {
    let slot = this.first(high, low);
    while (slot >= 0 && this.dayOf(slot) !== day) slot = this.next(slot);
    return slot;
  }

  dayOf(slot: number): number {
    return (this.words[slot * SLOT_WORDS + 2] ?? 0) >> DAY_SHIFT;
  }

  /** Returns whether the hash was added; false if it was already there. */
  add(day: number, high: number, low: number): boolean {
    if (this.find(day, high, low) >= 0) return false;
    if (this.size * 2 > this.mask) this.grow();
    this.insert(high, low, (day << DAY_SHIFT) | OCCUPIED);
    this.size++;
    return true;
  }

  has(slot: number, flags: number): boolean {
    return slot >= 0 && ((this.words[slot * SLOT_WORDS + 2] ?? 0) & flags) !== 0;
  }

  mark(slot: number, flag: number): void {
    const at = slot * SLOT_WORDS + 2;
    if (slot >= 0) this.words[at] = (this.words[at] ?? 0) | flag;
  }

  /** The hashes, two words each by day, of the entries that have `flag` but not `mark`, which they get. */
  collect(flag: number, mark: number): Map<number, Uint32Array> {
    const counts = new Map<number, number>();
    const isWanted = (flags: number) => (flags & (flag | mark)) === flag;
    this.forEach((_, day, _high, _low, flags) => {
      if (isWanted(flags)) counts.set(day, (counts.get(day) ?? 0) + 1);
    });
    const found = new Map<number, Uint32Array>();
    for (const [day, count] of counts) {
      found.set(day, new Uint32Array(count * 2));
      counts.set(day, 0);
    }
    this.forEach((slot, day, high, low, flags) => {
      if (!isWanted(flags)) return;
      const [words, at] = [found.get(day), counts.get(day) ?? 0];
      counts.set(day, at + 2);
      if (words) words[at] = high;
      if (words) words[at + 1] = low;
      this.mark(slot, mark);
    });
    return found;
  }

  forEach(visit: (slot: number, day: number, high: number, low: number, flags: number) => void): void {
    const { words } = this;
    for (let slot = 0; slot <= this.mask; slot++) {
      const at = slot * SLOT_WORDS;
      const tag = words[at + 2] ?? 0;
      if (tag === 0) continue;
      visit(slot, tag >> DAY_SHIFT, (words[at] ?? 0) >>> 0, (words[at + 1] ?? 0) >>> 0, tag & FLAGS_MASK);
    }
  }

  /** The first slot from `from` that has a hash, or -1 if an empty one comes first. */
  private search(from: number, high: number, low: number): number {
    const { words, mask } = this;
    for (let slot = from; ; slot = (slot + 1) & mask) {
      const at = slot * SLOT_WORDS;
      if (words[at + 1] === low && words[at] === high && words[at + 2] !== 0) return slot;
      if (words[at + 2] === 0) return -1;
    }
  }

  /** Writes an entry that the table does not have. */
  private insert(high: number, low: number, tag: number): void {
    const { words, mask } = this;
    let slot = low & mask;
    while (words[slot * SLOT_WORDS + 2] !== 0) slot = (slot + 1) & mask;
    const at = slot * SLOT_WORDS;
    words[at] = high;
    words[at + 1] = low;
    words[at + 2] = tag;
  }

  private grow(): void {
    const { words } = this;
    this.words = new Int32Array(words.length * 2);
    this.mask = this.mask * 2 + 1;
    for (let at = 0; at < words.length; at += SLOT_WORDS) {
      const tag = words[at + 2] ?? 0;
      if (tag !== 0) this.insert(words[at] ?? 0, words[at + 1] ?? 0, tag);
    }
  }
}
