import {
  type Amounts,
  columnsOf as columnsOfMeasure,
  isMoney,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';
import { KeyValues } from './key-values.ts';

// What counters add to the rollup tables: every measure is added to the existing sum of its row. Names of tables and columns come from
// the catalogue, never from a caller.

export const ROLLUP_TABLES = Object.keys(MEASURES) as RollupTable[];

type KeyOf<Table extends RollupTable> = (typeof ROLLUP_KEYS)[Table][number];

/** The memory in bytes of a row without its segments, and of a segment without its sums, which take 8 bytes each. */
const ROW_WEIGHT = 110;
const SEGMENT_WEIGHT = 8;

export const MICROS_PER_HIGH = 1_000_000_000_000;

/** The index of a measure's sum in a segment. The high part of an amount is at the next index. */
type Place = { at: number; isAmount: boolean };

const PLACES = new Map<RollupTable, Map<string, Place>>(
  ROLLUP_TABLES.map((table) => {
    const places = new Map<string, Place>();
    let at = 0;
    for (const name of MEASURES[table]) {
      const isAmount = isMoney(name);
      places.set(name, { at, isAmount });
      at += isAmount ? 2 : 1;
    }
    return [table, places];
  }),
);

/** A row's key, and its segments as one list: the id and sums of the first, then those of the next. */
export type SegmentedRow = { key: (string | number)[]; segments: readonly number[] };

/** Up to this many segments of a row are searched in order. With more, a map finds them. */
const MAX_SCANNED = 8;

/**
 * What a run of events adds to one rollup table: one row per key, broken down by segment. Counts stay below 2^53 in any run. So do both
 * parts of an amount, because one event adds at most 2^53 micros, which is about 9,000 in the high part.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  /** The memory that the rows take, in bytes, without the values of their keys. */
  weight = 0;
  /** The segments of each row, as in `SegmentedRow`. The keys are texts of `KeyValues`. */
  protected readonly rowsByKey = new Map<string, number[]>();
  /** For rows with many segments, the index where each one's sums start, so that the work per event does not grow with them. */
  private readonly placesByKey = new Map<string, Map<number, number>>();
  private readonly keys: readonly KeyOf<Table>[];
  protected readonly values: KeyValues;
  private readonly places: ReadonlyMap<string, Place>;
  /** The number of sums per segment. */
  private readonly width: number;

  /** All tables of a run share one `values`. */
  constructor(table: Table, values = new KeyValues()) {
    this.table = table;
    this.values = values;
    this.keys = ROLLUP_KEYS[table];
    this.places = PLACES.get(table) ?? new Map();
    this.width = sumColumnsOf(table).length;
  }

  add(key: Record<KeyOf<Table>, string | number>, segment: number, amounts: Amounts<Table>): void {
    let joined = '';
    for (const name of this.keys) joined += this.values.textOf(key[name]);
    const row = this.rowsByKey.get(joined);
    const own = row ? this.placeOf(joined, row, segment) : 1;
    const sums = row && own < row.length ? row : this.extend(joined, row, segment);
    for (const name in amounts) {
      const place = this.places.get(name);
      const amount = (amounts as Record<string, number | undefined>)[name];
      if (place && amount) addAt(sums, own + place.at, place.isAmount, amount);
    }
  }

  /** The rows as keys and sums, with sums in the order of `MEASURES`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return [...this.rowsByKey].map(([joined, row]) => {
      const sums = this.sumUp(row);
      return {
        key: this.values.read(joined),
        sums: [...this.places.values()].map(({ at, isAmount }) => {
          const low = BigInt(sums[at] ?? 0);
          return isAmount ? BigInt(sums[at + 1] ?? 0) * BigInt(MICROS_PER_HIGH) + low : low;
        }),
      };
    });
  }

  /** The rows as lists of values, in the order of `additionColumns`. */
  *rows(): Generator<(string | number)[]> {
    for (const [joined, row] of this.rowsByKey) yield [...this.values.read(joined), ...this.sumUp(row)];
  }

  /** The rows by span of days, which `spanOf` derives from the first day in a key. */
  spans(spanOf: (day: string) => string): Map<string, Iterable<SegmentedRow>> {
    const spans = new Map<string, string[]>();
    for (const joined of this.rowsByKey.keys()) {
      // Each key starts with the application, then the day.
      const [, day = ''] = this.values.read(joined);
      const span = spanOf(String(day));
      const own = spans.get(span);
      if (own) own.push(joined);
      else spans.set(span, [joined]);
    }
    const rowsOf = (keys: readonly string[]) => ({ [Symbol.iterator]: () => this.segmentedRows(keys) });
    return new Map([...spans].map(([span, keys]) => [span, rowsOf(keys)]));
  }

  private *segmentedRows(keys: readonly string[]): Generator<SegmentedRow> {
    for (const joined of keys) {
      yield { key: this.values.read(joined), segments: this.rowsByKey.get(joined) ?? [] };
    }
  }

  /** Adds segments, in the form of `SegmentedRow`, to the row of a key. `key` is in the order of `ROLLUP_KEYS`. */
  addSegments(key: readonly (string | number)[], segments: ArrayLike<number>): void {
    let joined = '';
    for (const value of key) joined += this.values.textOf(value);
    for (let from = 0; from < segments.length; from += this.width + 1) {
      const segment = segments[from] ?? 0;
      const row = this.rowsByKey.get(joined);
      const own = row ? this.placeOf(joined, row, segment) : 1;
      const sums = row && own < row.length ? row : this.extend(joined, row, segment);
      for (const { at, isAmount } of this.places.values()) {
        const sum = segments[from + 1 + at] ?? 0;
        const high = isAmount ? (segments[from + 2 + at] ?? 0) : 0;
        if (sum !== 0) addAt(sums, own + at, isAmount, sum);
        if (high !== 0) sums[own + at + 1] = (sums[own + at + 1] ?? 0) + high;
      }
    }
  }

  /** The index where a segment's sums start in a row; past the end if the row does not have the segment. */
  private placeOf(joined: string, row: readonly number[], segment: number): number {
    const step = this.width + 1;
    if (row.length > MAX_SCANNED * step) return this.placesByKey.get(joined)?.get(segment) ?? row.length + 1;
    for (let at = 0; at < row.length; at += step) if (row[at] === segment) return at + 1;
    return row.length + 1;
  }

  /** Appends a segment, with sums of 0, to a row. */
  private extend(joined: string, row: number[] | undefined, segment: number): number[] {
    const step = this.width + 1;
    const own = new Array<number>(step).fill(0);
    own[0] = segment;
    this.weight += step * 8 + SEGMENT_WEIGHT + (row ? 0 : ROW_WEIGHT);
    const places = this.placesByKey.get(joined);
    if (row && places) {
      places.set(segment, row.length + 1);
      row.push(...own);
      return row;
    }
    // `push` would reserve room for more segments, which most rows never get.
    const extended = row ? row.concat(own) : own;
    this.rowsByKey.set(joined, extended);
    if (extended.length > MAX_SCANNED * step) {
      const found = new Map<number, number>();
      for (let at = 0; at < extended.length; at += step) found.set(extended[at] ?? 0, at + 1);
      this.placesByKey.set(joined, found);
    }
    return extended;
  }

  /** The sums of all segments of a row, which are in the form of `SegmentedRow`. */
  sumUp(row: readonly number[]): number[] {
    const sums = new Array<number>(this.width).fill(0);
    for (let own = 1; own < row.length; own += this.width + 1) {
      for (const { at, isAmount } of this.places.values()) {
        if (isAmount) sums[at + 1] = (sums[at + 1] ?? 0) + (row[own + at + 1] ?? 0);
        addAt(sums, at, isAmount, row[own + at] ?? 0);
      }
    }
    return sums;
  }
}

/** Adds up to 2^53 to a sum. A sum of micros carries into its high part at the next index. */
function addAt(sums: number[], at: number, isAmount: boolean, amount: number): void {
  if (!isAmount) {
    sums[at] = (sums[at] ?? 0) + amount;
    return;
  }
  const low = (sums[at] ?? 0) + (amount % MICROS_PER_HIGH);
  const high = Math.floor(amount / MICROS_PER_HIGH) + (low >= MICROS_PER_HIGH ? 1 : 0);
  sums[at] = low >= MICROS_PER_HIGH ? low - MICROS_PER_HIGH : low;
  if (high > 0) sums[at + 1] = (sums[at + 1] ?? 0) + high;
}

/** The columns of a table's sums, in the order of a segment's sums. */
export const sumColumnsOf = (table: RollupTable): string[] => MEASURES[table].flatMap(columnsOfMeasure);

/** The columns of a table's rows, in the order of `Additions.rows`. In `rollup_hours`, all sums are packed into one column. */
export const additionColumns = (table: RollupTable): string[] => [
  ...ROLLUP_KEYS[table],
  ...(table === 'rollup_hours' ? ['hours'] : sumColumnsOf(table)),
];
