import { addDays } from '#lib/time';
import { type Entries, sumColumnsOf } from '#rollup';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { type CohortCells, type CohortPart, cellOf, REST_ROW, rowOf, setCell } from './cohort-cells.ts';
import { CohortDetails } from './cohort-details.ts';

/** A cohort with a row of its own: the label of its days, and the value that it is grouped by. */
type CohortRow = { row: number; label: string; value: string };

export type RankedCohorts = {
  /** Latest first, then largest first. */
  rows: CohortRow[];
  /** The number of devices by row. */
  sizes: readonly number[];
  /** The number of cohorts that have devices, with a row or without. */
  total: number;
  /** The first and last day of acquisition of the devices in `REST_ROW`; null if it has none. */
  restDays: { first: string; last: string } | null;
};

const COLUMNS = sumColumnsOf('cohort_activity');
const ACTIVE_AT = COLUMNS.indexOf('active_devices');
const LAST_AT = COLUMNS.indexOf('last_active_devices');

type RankedCohort = { part: CohortPart; value: number };

/** Adds up the activity of cohorts, then ranks them. If `needsDetails` is true after that, all activity has to be read again. */
export class CohortActivity {
  needsDetails = false;
  private readonly cells: CohortCells;
  private readonly asked: { limit: number; today: string };
  /** By cohort, the number of its devices. The first cohort is `REST_ROW`. */
  private sizes = [0];
  private readonly cohorts: (RankedCohort | null)[] = [null];
  private found: CohortDetails | null;
  private cutOff = 0;
  private isRanked = false;
  /** How many days ago the first and the last devices of each cohort were acquired. */
  private readonly oldest: number[] = [];
  private readonly newest: number[] = [];

  // Of the current entry.
  private day: ReturnType<CohortCells['dayAt']> | null = null;
  private value = 0;
  private age = 0;
  private slot = -1;

  constructor(cells: CohortCells, asked: { limit: number; today: string }) {
    this.cells = cells;
    this.asked = asked;
    this.found = new CohortDetails(cells.numbers);
  }

  async read(chunk: Chunk): Promise<void> {
    await this.cells.open(chunk);
    const ages = valuesIn(chunk, 'age').map(Number);
    const slots = ages.map((age) => this.slotOf(age));
    const ageAt = chunk.columns.indexOf('age');
    chunk.read((entries: Entries) => {
      const { size, keys, sums } = entries;
      this.cells.find(entries);
      for (let entry = 0; entry < size; entry++) {
        const at = keys[ageAt]?.[entry] ?? 0;
        this.age = ages[at] ?? 0;
        this.slot = slots[at] ?? -1;
        this.day = this.cells.dayAt(entry);
        this.value = this.cells.valueAt(entry);
        this.addSums(sums[ACTIVE_AT]?.[entry] ?? 0, sums[LAST_AT]?.[entry] ?? 0);
      }
    });
  }

  private slotOf(age: number): number {
    return this.cells.numbers.findLastIndex((number) => number <= age);
  }

  private addSums(active: number, lastActive: number): void {
    const { day, age, slot } = this;
    if (!day) return;
    if (this.isRanked) {
      this.found?.add(rowOf(day.part, this.value), day, age, slot, active, lastActive);
      return;
    }
    const cohort = this.cohortOf(day.part, age === 0 && active > 0);
    if (age === 0) this.addSize(cohort, day, active);
    this.found?.add(cohort, day, age, slot, active, lastActive);
    if (this.found?.isFull) this.found = null;
  }

  private addSize(cohort: number, { part, ago }: ReturnType<CohortCells['dayAt']>, devices: number): void {
    const before = this.sizes[cohort] ?? 0;
    this.sizes[cohort] = before + devices;
    if (cohort !== REST_ROW && before <= 0 && before + devices > 0) part.sized++;
    this.oldest[cohort] = Math.max(this.oldest[cohort] ?? ago, ago);
    this.newest[cohort] = Math.min(this.newest[cohort] ?? ago, ago);
  }

  private cohortOf(part: CohortPart, hasDevices: boolean): number {
    const cell = cellOf(part, this.value);
    if (cell > 0) return cell - 1;
    if (!part.isCutOff) {
      const cohort = this.sizes.push(0) - 1;
      this.cohorts.push({ part, value: this.value });
      setCell(part, this.value, cohort + 1);
      return cohort;
    }
    if (hasDevices) {
      setCell(part, this.value, REST_ROW + 1);
      this.cutOff++;
    }
    return REST_ROW;
  }

  /** Ranks the cohorts that have devices. Those past the limit, and those without devices, become part of `REST_ROW`. */
  rank(): RankedCohorts {
    const { limit, today } = this.asked;
    const ranked = this.cohorts.flatMap((own, cohort) => {
      const size = this.sizes[cohort] ?? 0;
      if (own === null || size <= 0) return [];
      const [label, value] = [own.part.label, this.cells.values.values[own.value] ?? ''];
      return [{ cohort, label, value, size, key: JSON.stringify([label || null, value || null]) }];
    });
    ranked.sort((left, right) => {
      if (left.label !== right.label) return left.label < right.label ? 1 : -1;
      return right.size - left.size || (left.key < right.key ? -1 : 1);
    });
    const kept = ranked.slice(0, limit);
    const rowOfCohort = new Int32Array(this.sizes.length).fill(REST_ROW);
    for (const [index, { cohort }] of kept.entries()) rowOfCohort[cohort] = index + 1;
    const sizes = new Array<number>(kept.length + 1).fill(0);
    const rest: number[] = [];
    for (const [cohort, row] of rowOfCohort.entries()) {
      sizes[row] = (sizes[row] ?? 0) + (this.sizes[cohort] ?? 0);
      if (row === REST_ROW && this.oldest[cohort] !== undefined) rest.push(cohort);
      const own = this.cohorts[cohort];
      if (own) setCell(own.part, own.value, row + 1);
    }
    this.needsDetails = this.found === null;
    this.found = this.found?.byRow(rowOfCohort, sizes.length) ?? new CohortDetails(this.cells.numbers);
    this.isRanked = true;
    const dayAgo = (ago: number) => addDays(today, -ago);
    const restDays = rest.length > 0 && {
      first: dayAgo(rest.reduce((most, cohort) => Math.max(most, this.oldest[cohort] ?? most), -Infinity)),
      last: dayAgo(rest.reduce((least, cohort) => Math.min(least, this.newest[cohort] ?? least), Infinity)),
    };
    return {
      rows: kept.map(({ label, value }, index) => ({ row: index + 1, label, value })),
      sizes,
      total: ranked.length + this.cutOff,
      restDays: restDays || null,
    };
  }

  /** By row, once all activity of the ranked cohorts was read. */
  get details(): CohortDetails {
    if (!this.found || !this.isRanked) throw new Error('The cohorts are not ranked yet');
    return this.found;
  }
}
