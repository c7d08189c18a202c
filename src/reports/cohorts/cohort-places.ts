import { daysBetween } from '#lib/time';
import type { Entries } from '#rollup';
import type { DimensionName } from '../dimensions.ts';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { GroupCells } from '../engine/group-cells.ts';
import type { CreativeNames } from '../names.ts';

/** In place of the number of a row: the entry is of none. */
export const NO_ROW = -1;

/** The number of the row that sums up everything without a row of its own. */
export const REST_ROW = 0;

/** A day of acquisition. */
export type CohortDay = {
  /** How many days ago it was. */
  ago: number;
  /** The index of the last requested day number that is over for its devices; -1 if there is none. */
  tail: number;
};

/** What is added to a row, so that `GroupCells` has a positive number for each. */
const OFFSET = 1 - NO_ROW;

/** The column with the day on which devices were acquired. Costs are those of the devices acquired on their day. */
export const acquiredColumn = ({ isOfCosts }: Chunk) => (isOfCosts ? 'day' : 'acquired_day');

/** The row of a group by its values, in the order of the groupings. */
export type RowOfGroup = (values: readonly (string | null)[]) => number;

/** Puts the entries of chunks into the rows of a report, by the day on which devices were acquired and by group. */
export class CohortPlaces {
  /** The requested day numbers, ascending. */
  readonly numbers: readonly number[];
  private readonly lookup: GroupCells;
  private readonly today: string;
  private readonly known = new Map<string, CohortDay>();

  // Of the open chunk.
  private days: CohortDay[] = [];
  private dayColumn = 0;

  // Of the entries: the rows, plus `OFFSET`.
  private rows = new Int32Array(0);
  private dayNumbers: Int32Array | undefined;

  constructor(
    { names, days, today }: { names: readonly DimensionName[]; days: readonly number[]; today: string },
    creatives: CreativeNames,
    rowOf: RowOfGroup,
  ) {
    this.today = today;
    this.numbers = [...new Set(days)].sort((left, right) => left - right);
    this.lookup = new GroupCells(names, creatives, { group: (values) => rowOf(values) + OFFSET });
  }

  async open(chunk: Chunk): Promise<void> {
    const column = acquiredColumn(chunk);
    await this.lookup.open(chunk, column);
    this.days = valuesIn(chunk, column).map((day) => this.dayOf(day));
    this.dayColumn = chunk.columns.indexOf(column);
  }

  private dayOf(day: string): CohortDay {
    let found = this.known.get(day);
    if (!found) {
      const ago = daysBetween(day, this.today);
      found = { ago, tail: this.numbers.findLastIndex((number) => number < ago) };
      this.known.set(day, found);
    }
    return found;
  }

  /** To be called with entries of the open chunk, before they are asked for. */
  find(entries: Entries): void {
    if (this.rows.length < entries.size) this.rows = new Int32Array(entries.size);
    this.lookup.find(entries, this.rows, NO_ROW + OFFSET);
    this.dayNumbers = entries.keys[this.dayColumn];
  }

  dayAt(entry: number): CohortDay {
    const day = this.days[this.dayNumbers?.[entry] ?? 0];
    if (!day) throw new Error('An entry without its day');
    return day;
  }

  rowAt(entry: number): number {
    return (this.rows[entry] ?? 0) - OFFSET;
  }
}
