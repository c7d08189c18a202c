import type { CohortDay } from './cohort-places.ts';

/**
 * Counts of devices by row: by the last day since the acquisition that is over for them, and by requested day number those active on that
 * day, and those last active from there to before the next day number.
 */
export class CohortDetails {
  private readonly numbers: readonly number[];
  /** Days 0 to the last requested day number. */
  private readonly ages: number;
  private readonly width: number;
  private readonly counts: Float64Array;

  /** `numbers` are the requested day numbers, ascending. */
  constructor(numbers: readonly number[], rows: number) {
    this.numbers = numbers;
    this.ages = (numbers.at(-1) ?? 0) + 1;
    this.width = this.ages + 2 * numbers.length;
    this.counts = new Float64Array(rows * this.width);
  }

  /** `slot` is the index of the last day number up to `age`; -1 if there is none. */
  add(
    row: number,
    { ago, tail }: CohortDay,
    age: number,
    slot: number,
    active: number,
    lastActive: number,
  ): void {
    const from = row * this.width;
    if (age === 0 && ago > 0) this.increase(from + Math.min(ago, this.ages) - 1, active);
    const at = from + this.ages;
    if (slot >= 0 && slot <= tail && this.numbers[slot] === age) this.increase(at + slot, active);
    // Until a day is over, its last active devices count for the earlier day numbers only.
    const last = Math.min(slot, tail);
    if (last >= 0) this.increase(at + this.numbers.length + last, lastActive);
  }

  private increase(at: number, by: number): void {
    this.counts[at] = (this.counts[at] ?? 0) + by;
  }

  /** The devices for which a day number is over, those of them active on that day, and those last active on it or later. */
  of(row: number, number: number): { eligible: number; active: number; later: number } {
    const [count, slot, from] = [this.numbers.length, this.numbers.indexOf(number), row * this.width];
    const at = from + this.ages;
    let [eligible, later] = [0, 0];
    for (let age = number; age < this.ages; age++) eligible += this.counts[from + age] ?? 0;
    for (let index = slot; index < count; index++) later += this.counts[at + count + index] ?? 0;
    return { eligible, active: this.counts[at + slot] ?? 0, later };
  }

  /** By day since the acquisition, up to the last requested day number: the devices for which it is over. */
  eligibleByAge(row: number): Float64Array {
    const from = row * this.width;
    return suffixSums(this.counts.subarray(from, from + this.ages), this.ages);
  }
}

/** The sums of `numbers` from each index on, for `length` indexes. */
export function suffixSums(numbers: Float64Array, length: number): Float64Array {
  const sums = new Float64Array(length);
  for (let index = length - 1; index >= 0; index--) {
    sums[index] = (sums[index + 1] ?? 0) + (numbers[index] ?? 0);
  }
  return sums;
}
