import { sumColumnsOf } from '#rollup';
import { type Chunk, columnOf } from '../engine/chunk.ts';
import { type CohortPlaces, NO_ROW, REST_ROW } from './cohort-places.ts';

const COLUMNS = sumColumnsOf('cohort_activity');
export const ACTIVE_AT = COLUMNS.indexOf('active_devices');
const LAST_AT = COLUMNS.indexOf('last_active_devices');

/**
 * Counts of devices by row: by the last day since the acquisition that is over for them, and by requested day number those active on that
 * day, and those last active from there to before the next day number.
 */
export class CohortActivity {
  /** By row, the number of its devices. */
  readonly sizes: Float64Array;
  /** How many days ago the first and the last devices in `REST_ROW` were acquired; null if it has none. */
  rest: { oldest: number; newest: number } | null = null;
  private readonly places: CohortPlaces;
  /** Days 0 to the last requested day number. */
  private readonly ages: number;
  private readonly width: number;
  private readonly counts: Float64Array;

  constructor(places: CohortPlaces, rows: number) {
    const { numbers } = places;
    this.places = places;
    this.sizes = new Float64Array(rows);
    this.ages = (numbers.at(-1) ?? 0) + 1;
    this.width = this.ages + 2 * numbers.length;
    this.counts = new Float64Array(rows * this.width);
  }

  async read(chunk: Chunk): Promise<void> {
    const { places } = this;
    const { numbers } = places;
    await places.open(chunk);
    const { values, numbers: ageAt } = columnOf(chunk, 'age');
    const ages = values.map(Number);
    /** By age, the index of the last day number up to it; -1 if there is none. */
    const slots = ages.map((age) => numbers.findLastIndex((number) => number <= age));
    for (let entry = 0; entry < chunk.size; entry++) {
      const row = places.rowAt(entry);
      if (row === NO_ROW) continue;
      const [age, slot] = [ages[ageAt[entry] ?? 0] ?? 0, slots[ageAt[entry] ?? 0] ?? -1];
      const active = chunk.sums[ACTIVE_AT]?.[entry] ?? 0;
      const { ago, tail } = places.dayAt(entry);
      if (age === 0) this.addSize(row, ago, active);
      const at = row * this.width + this.ages;
      if (slot >= 0 && slot <= tail && numbers[slot] === age) this.increase(at + slot, active);
      // Until a day is over, its last active devices count for the earlier day numbers only.
      const last = Math.min(slot, tail);
      if (last >= 0) this.increase(at + numbers.length + last, chunk.sums[LAST_AT]?.[entry] ?? 0);
    }
  }

  private addSize(row: number, ago: number, devices: number): void {
    this.sizes[row] = (this.sizes[row] ?? 0) + devices;
    if (ago > 0) this.increase(row * this.width + Math.min(ago, this.ages) - 1, devices);
    if (row !== REST_ROW) return;
    const { oldest, newest } = this.rest ?? { oldest: ago, newest: ago };
    this.rest = { oldest: Math.max(oldest, ago), newest: Math.min(newest, ago) };
  }

  private increase(at: number, by: number): void {
    this.counts[at] = (this.counts[at] ?? 0) + by;
  }

  /** The devices for which a day number is over, those of them active on that day, and those last active on it or later. */
  of(row: number, number: number): { eligible: number; active: number; later: number } {
    const { numbers } = this.places;
    const [count, slot, from] = [numbers.length, numbers.indexOf(number), row * this.width];
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
