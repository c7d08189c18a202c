const FIRST_CAPACITY = 16;
/**
 * A slot has the number of its tuple plus 1, and above it bits of the tuple's hash, so that almost no other tuple is read: in a large index, each
 * is a wait for memory.
 */
const NUMBER_MASK = 2 ** 24 - 1;
/** The memory per tuple besides its numbers, in bytes: two slots, since at most half are used. */
const SLOT_BYTES = 8;

/**
 * Numbers up to 16 million tuples of 32-bit numbers in order of first use, from 0. It uses open addressing over typed arrays: a map of texts takes several
 * times as long to look a tuple up, and its memory is in the heap.
 */
export class TupleIndex {
  size = 0;
  private readonly width: number;
  /** See `NUMBER_MASK`; 0 for an empty slot. */
  private slots: Int32Array;
  private tuples: Int32Array;

  /** It has room for so many tuples from the start. */
  constructor(width: number, expected = 0) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(FIRST_CAPACITY, expected)));
    this.width = width;
    this.slots = new Int32Array(2 * capacity);
    this.tuples = new Int32Array(capacity * width);
  }

  /** The memory that a tuple takes, in bytes. */
  get tupleBytes(): number {
    return this.width * Int32Array.BYTES_PER_ELEMENT + SLOT_BYTES;
  }

  /** The number of a tuple, which is added if it is new: then `size` is larger than before. */
  numberOf(tuple: Int32Array): number {
    const hash = hashOf(tuple, 0, this.width);
    let slot = this.slotOf(tuple, hash);
    const known = this.slots[slot] ?? 0;
    if (known !== 0) return (known & NUMBER_MASK) - 1;
    if (this.size === this.slots.length / 2) {
      this.grow();
      slot = this.slotOf(tuple, hash);
    }
    const from = this.size * this.width;
    for (let place = 0; place < this.width; place++) this.tuples[from + place] = tuple[place] ?? 0;
    this.slots[slot] = (hash & ~NUMBER_MASK) | ++this.size;
    return this.size - 1;
  }

  /** The number of a tuple, or -1. */
  find(tuple: Int32Array): number {
    const slot = this.slotOf(tuple, hashOf(tuple, 0, this.width));
    return ((this.slots[slot] ?? 0) & NUMBER_MASK) - 1;
  }

  /** A number of a tuple. */
  at(tuple: number, place: number): number {
    return this.tuples[tuple * this.width + place] ?? 0;
  }

  /** The slot of a tuple, or the empty one in which it belongs. */
  private slotOf(tuple: Int32Array, hash: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const known = slots[slot] ?? 0;
      if (known === 0) return slot;
      if (((known ^ hash) & ~NUMBER_MASK) === 0 && this.isAt((known & NUMBER_MASK) - 1, tuple)) return slot;
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
    const tuples = new Int32Array(this.tuples.length * 2);
    tuples.set(this.tuples);
    this.tuples = tuples;
    const slots = new Int32Array(this.slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      const hash = hashOf(tuples, number * this.width, this.width);
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = (hash & ~NUMBER_MASK) | (number + 1);
    }
    this.slots = slots;
  }
}

function hashOf(tuples: Int32Array, from: number, width: number): number {
  let hash = 0;
  for (let place = from; place < from + width; place++) {
    hash = Math.imul(hash ^ (tuples[place] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
