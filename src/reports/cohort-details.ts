import type { CohortDay } from './cohort-cells.ts';

/** With more numbers than this, details are not kept of every cohort but only of those that have a row. */
const MAX_NUMBERS = 3_000_000;

/**
 * Counts of devices by cohort and requested day number: those whose last complete day number it is, those active on that day, and those
 * last active from there to before the next day number.
 */
export class CohortDetails {
  private readonly numbers: readonly number[];
  private readonly width: number;
  private counts = new Float64Array(0);

  /** `numbers` are the requested day numbers, ascending. */
  constructor(numbers: readonly number[]) {
    this.numbers = numbers;
    this.width = 3 * numbers.length;
  }

  get isFull(): boolean {
    return this.counts.length > MAX_NUMBERS;
  }

  /** `slot` is the index of the last day number up to `age`; -1 if there is none. */
  add(
    cohort: number,
    { tail }: CohortDay,
    age: number,
    slot: number,
    active: number,
    lastActive: number,
  ): void {
    const count = this.numbers.length;
    const at = cohort * this.width;
    if (at >= this.counts.length) this.grow(at + this.width);
    if (age === 0 && tail >= 0) this.increase(at + tail, active);
    if (slot >= 0 && slot <= tail && this.numbers[slot] === age) this.increase(at + count + slot, active);
    // Until a day is over, its last active devices count for the earlier day numbers only.
    const last = Math.min(slot, tail);
    if (last >= 0) this.increase(at + 2 * count + last, lastActive);
  }

  private increase(at: number, by: number): void {
    this.counts[at] = (this.counts[at] ?? 0) + by;
  }

  private grow(length: number): void {
    const larger = new Float64Array(Math.max(length, 64 * this.width, this.counts.length * 2));
    larger.set(this.counts);
    this.counts = larger;
  }

  /** Adds up the cohorts that belong to the same of `count` rows. */
  byRow(rows: Int32Array, count: number): CohortDetails {
    const merged = new CohortDetails(this.numbers);
    merged.grow(count * this.width);
    for (const [cohort, row] of rows.entries()) {
      for (let at = 0; at < this.width; at++) {
        merged.increase(row * this.width + at, this.counts[cohort * this.width + at] ?? 0);
      }
    }
    return merged;
  }

  /** The devices for which a day number is over, those of them active on that day, and those last active on it or later. */
  of(cohort: number, number: number): { eligible: number; active: number; later: number } {
    const [count, slot, from] = [this.numbers.length, this.numbers.indexOf(number), cohort * this.width];
    let [eligible, later] = [0, 0];
    for (let at = slot; at < count; at++) {
      eligible += this.counts[from + at] ?? 0;
      later += this.counts[from + 2 * count + at] ?? 0;
    }
    return { eligible, active: this.counts[from + count + slot] ?? 0, later };
  }
}
