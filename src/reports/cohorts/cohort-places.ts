import { memoize } from '#lib/collections/memoize';
import { daysBetween } from '#lib/time';
import { type Chunk, columnOf } from '../engine/chunk.ts';
import type { GroupCells } from '../engine/group-cells.ts';

/** In place of the number of a row: the entry is of none. */
export const NO_ROW = -1;

/** The number of the row that sums up everything without a row of its own. */
export const REST_ROW = 0;

/** A day of acquisition. */
export type AcquisitionDay = {
  /** How many days ago it was. */
  ago: number;
  /** The index of the last requested day number that is over for its devices; -1 if there is none. */
  tail: number;
};

/** The column with the day on which devices were acquired. Costs are those of the devices acquired on their day. */
export const acquiredColumn = ({ isOfCosts }: Chunk) => (isOfCosts ? 'day' : 'acquired_day');

/** What `GroupCells` finds for entries that belong to no group. */
export const NO_GROUP = 1;

/** Puts the entries of chunks into the rows of a report, by the day on which devices were acquired and by group. */
export class CohortPlaces {
  /** The requested day numbers, ascending. */
  readonly numbers: readonly number[];
  private readonly lookup: GroupCells;
  private readonly rowOf: (group: number) => number;
  private readonly dayOf: (day: string) => AcquisitionDay;

  // Of the open chunk.
  private days: AcquisitionDay[] = [];
  private groups: Int32Array = new Int32Array(0);
  private dayNumbers: Int32Array = new Int32Array(0);

  /** `rowOf` is the row of a group that `lookup` has numbered, other than `NO_GROUP`. */
  constructor(
    { days, today }: { days: readonly number[]; today: string },
    lookup: GroupCells,
    rowOf: (group: number) => number,
  ) {
    const numbers = [...new Set(days)].sort((left, right) => left - right);
    this.numbers = numbers;
    this.dayOf = memoize(Number.POSITIVE_INFINITY, (day) => {
      const ago = daysBetween(day, today);
      return { ago, tail: numbers.findLastIndex((number) => number < ago) };
    });
    this.lookup = lookup;
    this.rowOf = rowOf;
  }

  async open(chunk: Chunk): Promise<void> {
    const column = acquiredColumn(chunk);
    this.groups = await this.lookup.find(chunk, column, NO_GROUP);
    const { values, numbers } = columnOf(chunk, column);
    this.days = values.map(this.dayOf);
    this.dayNumbers = numbers;
  }

  dayAt(entry: number): AcquisitionDay {
    const day = this.days[this.dayNumbers[entry] ?? 0];
    if (!day) throw new Error('An entry without its day');
    return day;
  }

  rowAt(entry: number): number {
    const group = this.groups[entry] ?? NO_GROUP;
    return group === NO_GROUP ? NO_ROW : this.rowOf(group);
  }
}
