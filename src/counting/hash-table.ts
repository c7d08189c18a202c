/**
 * A set of 64-bit hashes, each with a number (a day) and 8 bits of flags. It uses open addressing over typed arrays, because a `Set` of texts
 * takes ten times the memory of the hashes.
 */
export class HashTable {
  size = 0;
  private mask: number;
  private high: Uint32Array;
  private low: Uint32Array;
  private days: Int32Array;
  /** 0 for an empty slot, otherwise flags and the `OCCUPIED` bit. */
  private flags: Uint8Array;

  constructor(expected = 16) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(16, expected * 2)));
    this.mask = capacity - 1;
    this.high = new Uint32Array(capacity);
    this.low = new Uint32Array(capacity);
    this.days = new Int32Array(capacity);
    this.flags = new Uint8Array(capacity);
  }

  /** The slot of a hash, or -1. Slots are valid until the next `add`. */
  find(day: number, high: number, low: number): number {
    let slot = this.start(day, low);
    while (this.flags[slot] !== 0) {
      if (this.low[slot] === low && this.high[slot] === high && this.days[slot] === day) return slot;
      slot = (slot + 1) & this.mask;
    }
    return -1;
  }

  /** Returns whether the hash was added; false if it was already there. */
  add(day: number, high: number, low: number): boolean {
    if (this.size * 2 > this.mask) this.grow();
    let slot = this.start(day, low);
    while (this.flags[slot] !== 0) {
      if (this.low[slot] === low && this.high[slot] === high && this.days[slot] === day) return false;
      slot = (slot + 1) & this.mask;
    }
    this.high[slot] = high;
    this.low[slot] = low;
    this.days[slot] = day;
    this.flags[slot] = OCCUPIED;
    this.size++;
    return true;
  }

  has(slot: number, flag: number): boolean {
    return slot >= 0 && ((this.flags[slot] ?? 0) & flag) !== 0;
  }

  mark(slot: number, flag: number): void {
    if (slot >= 0) this.flags[slot] = (this.flags[slot] ?? 0) | flag;
  }

  /** The hashes, two words each by day, of the entries that have `flag` but not `mark`, which they get. */
  collect(flag: number, mark: number): Map<number, Uint32Array> {
    const isWanted = (slot: number) => ((this.flags[slot] ?? 0) & (flag | mark)) === flag;
    const counts = new Map<number, number>();
    for (let slot = 0; slot <= this.mask; slot++) {
      if (!isWanted(slot)) continue;
      const day = this.days[slot] ?? 0;
      counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    const found = new Map<number, Uint32Array>();
    for (const [day, count] of counts) {
      found.set(day, new Uint32Array(count * 2));
      counts.set(day, 0);
    }
    for (let slot = 0; slot <= this.mask; slot++) {
      if (!isWanted(slot)) continue;
      const day = this.days[slot] ?? 0;
      const [words, at] = [found.get(day), counts.get(day) ?? 0];
      counts.set(day, at + 2);
      if (words) words[at] = this.high[slot] ?? 0;
      if (words) words[at + 1] = this.low[slot] ?? 0;
      this.mark(slot, mark);
    }
    return found;
  }

  forEach(visit: (day: number, high: number, low: number, flags: number) => void): void {
    for (let slot = 0; slot <= this.mask; slot++) {
      const flags = this.flags[slot] ?? 0;
      if (flags !== 0) visit(this.days[slot] ?? 0, this.high[slot] ?? 0, this.low[slot] ?? 0, flags);
    }
  }

  private start(day: number, low: number): number {
    return (low ^ Math.imul(day, 0x9e3779b1)) & this.mask;
  }

  private grow(): void {
    const larger = new HashTable(this.mask + 1);
    this.forEach((day, high, low, flags) => {
      larger.add(day, high, low);
      larger.mark(larger.find(day, high, low), flags);
    });
    this.mask = larger.mask;
    this.high = larger.high;
    this.low = larger.low;
    this.days = larger.days;
    this.flags = larger.flags;
  }
}

const OCCUPIED = 1;
/** Flags use the bits above the lowest. */
export const FLAG = { storedSameDay: 2, storedNear: 4, taken: 8, saved: 16 } as const;
