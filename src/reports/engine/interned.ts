/** The right number of a pair is below this, so that a pair fits into an exact number. */
const MAX_RIGHT = 2 ** 26;

/** Numbers pairs of numbers in order of first use. A hash table with open addressing takes a fraction of the time of a Map. */
export class Pairs {
  private readonly pairs: number[] = [];
  /** By slot: one more than the number of the pair in it; 0 if it is free. */
  private slots = new Int32Array(1024);

  numberOf(left: number, right: number): number {
    const pair = left * MAX_RIGHT + right;
    const slot = this.slotOf(pair, left, right);
    const known = this.slots[slot] ?? 0;
    if (known > 0) return known - 1;
    const number = this.pairs.push(pair) - 1;
    this.slots[slot] = number + 1;
    // At most half of the slots are taken.
    if (2 * this.pairs.length > this.slots.length) this.grow();
    return number;
  }

  partsOf(number: number): [left: number, right: number] {
    const pair = this.pairs[number] ?? 0;
    return [Math.floor(pair / MAX_RIGHT), pair % MAX_RIGHT];
  }

  /** The slot that has a pair, or the free one for it. */
  private slotOf(pair: number, left: number, right: number): number {
    const last = this.slots.length - 1;
    let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & last;
    for (;;) {
      const taken = this.slots[slot] ?? 0;
      if (taken === 0 || this.pairs[taken - 1] === pair) return slot;
      slot = (slot + 1) & last;
    }
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    for (const [number, pair] of this.pairs.entries()) {
      this.slots[this.slotOf(pair, ...this.partsOf(number))] = number + 1;
    }
  }
}
