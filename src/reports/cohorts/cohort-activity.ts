import { sumColumnsOf } from '#rollup';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { CohortDetails } from './cohort-details.ts';
import { type CohortPlaces, NO_ROW, REST_ROW } from './cohort-places.ts';

const COLUMNS = sumColumnsOf('cohort_activity');
export const ACTIVE_AT = COLUMNS.indexOf('active_devices');
const LAST_AT = COLUMNS.indexOf('last_active_devices');

/** Adds up the devices of rows, and those of them active since. */
export class CohortActivity {
  readonly details: CohortDetails;
  /** By row, the number of its devices. */
  readonly sizes: Float64Array;
  /** How many days ago the first and the last devices in `REST_ROW` were acquired; null if it has none. */
  rest: { oldest: number; newest: number } | null = null;
  private readonly places: CohortPlaces;

  constructor(places: CohortPlaces, rows: number) {
    this.places = places;
    this.sizes = new Float64Array(rows);
    this.details = new CohortDetails(places.numbers, rows);
  }

  async read(chunk: Chunk): Promise<void> {
    const { places } = this;
    await places.open(chunk);
    const ages = valuesIn(chunk, 'age').map(Number);
    const slots = ages.map((age) => places.numbers.findLastIndex((number) => number <= age));
    const ageAt = chunk.columns.indexOf('age');
    const { size, keys, sums } = chunk.entries;
    for (let entry = 0; entry < size; entry++) {
      const row = places.rowAt(entry);
      if (row === NO_ROW) continue;
      const at = keys[ageAt]?.[entry] ?? 0;
      const [age, slot] = [ages[at] ?? 0, slots[at] ?? -1];
      const [active, last] = [sums[ACTIVE_AT]?.[entry] ?? 0, sums[LAST_AT]?.[entry] ?? 0];
      const day = places.dayAt(entry);
      if (age === 0) this.addSize(row, day.ago, active);
      this.details.add(row, day, age, slot, active, last);
    }
  }

  private addSize(row: number, ago: number, devices: number): void {
    this.sizes[row] = (this.sizes[row] ?? 0) + devices;
    if (row !== REST_ROW) return;
    const { oldest, newest } = this.rest ?? { oldest: ago, newest: ago };
    this.rest = { oldest: Math.max(oldest, ago), newest: Math.min(newest, ago) };
  }
}
