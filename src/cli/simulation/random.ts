/** Random numbers determined by a seed: the same seed gives the same history. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 (included) to 1 (excluded); mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  /** Picks one of the items, with a probability proportional to its weight. */
  weighted<Item>(items: readonly (readonly [Item, number])[]): Item {
    const total = items.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    const last = items.at(-1);
    if (!last) throw new Error('nothing to choose from');
    return last[0];
  }

  /** A factor around 1 whose logarithm is normal with this deviation (Box and Muller). */
  spread(deviation: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return Math.exp(deviation * radius * Math.cos(2 * Math.PI * this.next()));
  }
}

/** A multiple of `step`, without what binary fractions add. */
export const roundTo = (amount: number, step: number) =>
  Math.round(Math.round(amount / step) * step * 1e6) / 1e6;
