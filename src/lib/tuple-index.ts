const FIRST_CAPACITY = 16;
/** The memory per tuple besides its numbers, in bytes: two slots, since at most half are used. */
const SLOT_BYTES = 8;

/**
 * Numbers tuples of 32-bit numbers in order of first use, from 0. It uses open addressing over typed arrays: a map of texts takes several
 * times as long to look a tuple up, and its memory is in the heap.
 */
export class TupleIndex {
  size = 0;
  private readonly width: number;
  /** Per slot, the number of its tuple plus 1; 0 if the slot is empty. */
  private slots = new Int32Array(2 * FIRST_CAPACITY);
  private tuples: Int32Array;

  constructor(width: number) {
    this.width = width;
    this.tuples = new Int32Array(FIRST_CAPACITY * width);
  }

  /** The memory that a tuple takes, in bytes. */
  get tupleBytes(): number {
    return this.width * Int32Array.BYTES_PER_ELEMENT + SLOT_BYTES;
  }

  /** The number of a tuple, which is added if it is new: then `size` is larger than before. */
  numberOf(tuple: Int32Array): number {
    let slot = this.slotOf(tuple);
    const number = (this.slots[slot] ?? 0) - 1;
    if (number >= 0) return number;
    if (this.size === this.slots.length / 2) {
      this.grow();
      slot = this.slotOf(tuple);
    }
    const from = this.size * this.width;
    for (let place = 0; place < this.width; place++) this.tuples[from + place] = tuple[place] ?? 0;
    this.slots[slot] = ++this.size;
    return this.size - 1;
  }

  /** The number of a tuple, or -1. */
  find(tuple: Int32Array): number {
    return (this.slots[this.slotOf(tuple)] ?? 0) - 1;
  }

  /** A number of a tuple. */
  at(tuple: number, place: number): number {
    return this.tuples[tuple * this.width + place] ?? 0;
  }

  /** The slot of a tuple, or the empty one in which it belongs. */
  private slotOf(tuple: Int32Array): number {
    const mask = this.slots.length - 1;
    let slot = hashOf(tuple) & mask;
    for (;;) {
      const number = (this.slots[slot] ?? 0) - 1;
      if (number < 0 || this.isAt(number, tuple)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  private isAt(number: number, tuple: Int32Array): boolean {
    const from = number * this.width;
    for (let place = 0; place < this.width; place++) {
      if (this.tuples[from + place] !== tuple[place]) return false;
    }
    return true;
  }

  private grow(): void {
    const { width } = this;
    const tuples = new Int32Array(this.tuples.length * 2);
    tuples.set(this.tuples);
    this.tuples = tuples;
    this.slots = new Int32Array(this.slots.length * 2);
    const mask = this.slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = hashOf(tuples.subarray(number * width, (number + 1) * width)) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = number + 1;
    }
  }
}

function hashOf(tuple: Int32Array): number {
  let hash = 0;
  for (let place = 0; place < tuple.length; place++) {
    hash = Math.imul(hash ^ (tuple[place] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
