import type { Segment, SegmentDimension } from '#catalogue';
import { PART_OF } from '#lib/calendar';
import { Dictionary } from '#lib/collections/dictionary';
import { daysBetween } from '#lib/time';
import type { Entries } from '#rollup';
import { isOfCreatives } from '../device-groups.ts';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { type CreativeGroup, type CreativeNames, isKnownName } from '../names.ts';
import type { CohortQuestion } from './cohorts.ts';

/** In place of the number of a value: costs without a known name of the kind that is grouped by are of no cohort. */
const NO_VALUE = -1;

/** In place of the number of a row: the entry is of none. */
export const NO_ROW = -1;

/** The number of the row that sums up all cohorts without a row of their own. */
export const REST_ROW = 0;

/** Puts the entries of chunks into the rows of a report, by the day on which devices were acquired. */
export type CohortPlaces = {
  /** The requested day numbers, ascending. */
  readonly numbers: readonly number[];
  open(chunk: Chunk): Promise<void>;
  /** To be called with entries of the open chunk, before they are asked for. */
  find(entries: Entries): void;
  dayAt(entry: number): CohortDay;
  rowAt(entry: number): number;
};

/** A day, week or month of acquisition. */
export type CohortPart = {
  label: string;
  /** The cohorts by the number of the value that they are grouped by: 0 for those not seen yet, otherwise one more than their number. */
  cells: Int32Array;
  /** How many of its cohorts have devices. */
  sized: number;
  /** Whether all of its cohorts are in the row that sums up the rest, because enough later ones were found. */
  isCutOff: boolean;
};

/** A day of acquisition. */
export type CohortDay = {
  /** How many days ago it was. */
  ago: number;
  /** The index of the last requested day number that is over for its devices; -1 if there is none. */
  tail: number;
};
type CohortPartDay = CohortDay & { part: CohortPart };

/** A day of acquisition, as of `today`. */
export function cohortDay(day: string, today: string, numbers: readonly number[]): CohortDay {
  const ago = daysBetween(day, today);
  return { ago, tail: numbers.findLastIndex((number) => number < ago) };
}

/** Numbers the days, parts and values that put rows into cohorts, so that a row takes only lookups of numbers. */
export class CohortCells implements CohortPlaces {
  readonly numbers: readonly number[];
  /** The values that cohorts are grouped by. */
  readonly values = new Dictionary<string>();
  private readonly asked: CohortQuestion;
  private readonly names: CreativeNames;
  private readonly parts = new Map<string, CohortPart>();
  private readonly days = new Map<string, CohortPartDay>();
  /** The numbers of the values that creatives belong to. */
  private readonly creatives = new Map<string, number>();

  // Of the open chunk.
  private dayColumn = 0;
  private valueColumn = -1;
  private isBySegment = false;
  private daysOfChunk: CohortPartDay[] = [];
  private valuesOfChunk: Int32Array = new Int32Array();
  private entries: Pick<Entries, 'keys' | 'segments'> = { keys: [], segments: new Int32Array() };

  constructor(asked: CohortQuestion, names: CreativeNames) {
    this.asked = asked;
    this.names = names;
    this.numbers = [...new Set(asked.days)].sort((left, right) => left - right);
    // Cohorts without a grouping have no value.
    this.values.numberOf('');
  }

  async open(chunk: Chunk): Promise<void> {
    const { group_by: group } = this.asked;
    const dayColumn = chunk.isOfCosts ? 'day' : 'acquired_day';
    this.dayColumn = chunk.columns.indexOf(dayColumn);
    this.daysOfChunk = valuesIn(chunk, dayColumn).map((day) => this.dayOf(day));
    this.valueColumn = -1;
    this.isBySegment = group !== undefined && !isOfCreatives(group);
    if (!group) return;
    if (!isOfCreatives(group)) {
      this.valuesOfChunk = Int32Array.from(chunk.segments.map((segment) => this.valueOf(segment, group)));
      return;
    }
    const column = chunk.isOfCosts ? group : 'creative_id';
    this.valueColumn = chunk.columns.indexOf(column);
    const values = valuesIn(chunk, column);
    if (chunk.isOfCosts) this.valuesOfChunk = Int32Array.from(values, (value) => this.numberOfCosts(value));
    else this.valuesOfChunk = await this.numbersOfCreatives(values, group);
  }

  private async numbersOfCreatives(ids: readonly string[], group: CreativeGroup): Promise<Int32Array> {
    // `Int32Array.from` with a function takes several times as long.
    const numbers = new Int32Array(ids.length);
    const added: number[] = [];
    for (const [at, id] of ids.entries()) {
      const number = this.creatives.get(id);
      if (number === undefined) added.push(at);
      else numbers[at] = number;
    }
    await this.names.use(added.map((at) => ids[at] ?? ''));
    for (const at of added) {
      const id = ids[at] ?? '';
      const number = this.values.numberOf(this.names.of(id, group));
      this.creatives.set(id, number);
      numbers[at] = number;
    }
    return numbers;
  }

  private numberOfCosts(value: string): number {
    return isKnownName(value) ? this.values.numberOf(value) : NO_VALUE;
  }

  find(entries: Entries): void {
    this.entries = entries;
  }

  dayAt(entry: number): CohortPartDay {
    const day = this.daysOfChunk[this.entries.keys[this.dayColumn]?.[entry] ?? 0];
    if (!day) throw new Error('An entry without its day');
    return day;
  }

  /** The number of the value that an entry is grouped by. */
  valueAt(entry: number): number {
    const { keys, segments } = this.entries;
    if (this.isBySegment) return this.valuesOfChunk[segments[entry] ?? 0] ?? 0;
    return this.valueColumn < 0 ? 0 : (this.valuesOfChunk[keys[this.valueColumn]?.[entry] ?? 0] ?? 0);
  }

  /** The row of an entry, once the cohorts are ranked. */
  rowAt(entry: number): number {
    const value = this.valueAt(entry);
    return value === NO_VALUE ? NO_ROW : rowOf(this.dayAt(entry).part, value);
  }

  /** The number of a segment's value. */
  private valueOf(segment: Segment, group: SegmentDimension): number {
    return this.values.numberOf(segment[group]);
  }

  private dayOf(day: string): CohortPartDay {
    let found = this.days.get(day);
    if (!found) {
      found = {
        part: this.partOf(PART_OF[this.asked.cohort](day)),
        ...cohortDay(day, this.asked.today, this.numbers),
      };
      this.days.set(day, found);
    }
    return found;
  }

  /**
   * Whether a part is cut off is decided once, for all its cohorts, when its first day is met: enough later cohorts are known by then. Days come
   * about the latest first. Of those that come too early, more cohorts are kept than have a row; the ranking drops them.
   */
  private partOf(label: string): CohortPart {
    let part = this.parts.get(label);
    if (!part) {
      let later = 0;
      for (const other of this.parts.values()) if (other.label > label) later += other.sized;
      part = { label, cells: new Int32Array(16), sized: 0, isCutOff: later > this.asked.limit };
      this.parts.set(label, part);
    }
    return part;
  }
}

/** The cell of a value in a part; see `CohortPart`. */
export const cellOf = (part: CohortPart, value: number): number => part.cells[value] ?? 0;

/** The row of a ranked cohort. */
export const rowOf = (part: CohortPart, value: number): number => Math.max(cellOf(part, value) - 1, REST_ROW);

export function setCell(part: CohortPart, value: number, cell: number): void {
  if (value >= part.cells.length) {
    const larger = new Int32Array(Math.max(value + 1, part.cells.length * 2));
    larger.set(part.cells);
    part.cells = larger;
  }
  part.cells[value] = cell;
}
