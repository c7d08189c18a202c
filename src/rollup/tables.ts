import {
  type Amounts,
  columnsOf as columnsOfMeasure,
  isMoney,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';

// The rollup tables as counters fill them: every measure is added to what the row holds already.
// Names are columns, so the statements are made from the catalogue and from nothing a caller sends.

export const ROLLUP_TABLES = Object.keys(MEASURES) as RollupTable[];

type KeyOf<Table extends RollupTable> = (typeof ROLLUP_KEYS)[Table][number];

/** What a row takes beside the texts of its key. */
const ROW_WEIGHT = 700;

/** What a segment takes in a row beside its sums of 8 bytes each. */
const SEGMENT_WEIGHT = 24;

export const MICROS_PER_HIGH = 1_000_000_000_000;

/** Where a metric's sum stands in a row; an amount has its high part in the next place. */
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

/** Keys that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['age']);

/**
 * `segments` holds, one after the other, each segment's id and its own sums; `places`, once they are many, where each one's sums
 * begin, so that an event takes the same work however many there are.
 */
type Row = { sums: number[]; segments: number[]; places: Map<number, number> | null };

/** A row's key, and one after the other each of its segments' id and sums. */
export type SegmentedRow = { key: (string | number)[]; segments: readonly number[] };

/** So many segments of a row are looked through; more are looked up. */
const MAX_SCANNED = 8;

/**
 * What a run of events adds to one rollup table, a row per key, broken down by segment. Counts stay below 2^53 in any run, and so
 * do both parts of an amount: one event adds at most 2^53 micros, which is some 9,000 to the high part.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  /** Some measure of the memory that the rows take, in bytes. */
  weight = 0;
  /** By its joined key alone, because the values themselves would take as much memory again. */
  private readonly byKey = new Map<string, Row>();
  private readonly places: ReadonlyMap<string, Place>;
  private readonly width: number;

  constructor(table: Table) {
    this.table = table;
    this.places = PLACES.get(table) ?? new Map();
    this.width = sumColumnsOf(table).length;
  }

  add(key: Record<KeyOf<Table>, string | number>, segment: number, amounts: Amounts<Table>): void {
    const keys: readonly KeyOf<Table>[] = ROLLUP_KEYS[this.table];
    // Text never holds a NUL, so joined keys are equal only where their parts are.
    let joined = '';
    for (const name of keys) joined += `\0${key[name]}`;
    const row = this.rowOf(joined);
    const own = this.placeOf(row, segment);
    for (const name in amounts) {
      const place = this.places.get(name);
      const amount = (amounts as Record<string, number | undefined>)[name];
      if (!place || !amount) continue;
      addAt(row.sums, place.at, place.isAmount, amount);
      addAt(row.segments, own + place.at, place.isAmount, amount);
    }
  }

  /** Keys and sums, those in the order of `MEASURES`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return [...this.byKey].map(([joined, { sums }]) => ({
      key: this.split(joined),
      sums: [...this.places.values()].map(({ at, isAmount }) => {
        const low = BigInt(sums[at] ?? 0);
        return isAmount ? BigInt(sums[at + 1] ?? 0) * BigInt(MICROS_PER_HIGH) + low : low;
      }),
    }));
  }

  /** The values of `additionColumns`. */
  *rows(): Generator<(string | number)[]> {
    for (const [joined, { sums }] of this.byKey) yield [...this.split(joined), ...sums];
  }

  /** The rows by the span of days that they are in, which `spanOf` tells from the first day of a key. */
  spans(spanOf: (day: string) => string): Map<string, Iterable<SegmentedRow>> {
    const spans = new Map<string, string[]>();
    for (const joined of this.byKey.keys()) {
      // The application comes first in each key, then the day.
      const start = joined.indexOf('\0', 1) + 1;
      const end = joined.indexOf('\0', start);
      const span = spanOf(joined.slice(start, end < 0 ? undefined : end));
      const own = spans.get(span);
      if (own) own.push(joined);
      else spans.set(span, [joined]);
    }
    const rowsOf = (keys: readonly string[]) => ({ [Symbol.iterator]: () => this.segmentedRows(keys) });
    return new Map([...spans].map(([span, keys]) => [span, rowsOf(keys)]));
  }

  private *segmentedRows(keys: readonly string[]): Generator<SegmentedRow> {
    for (const joined of keys) {
      const row = this.byKey.get(joined);
      if (row) yield { key: this.split(joined), segments: row.segments };
    }
  }

  /** Adds segments, as `SegmentedRow` has them, to the row of a key in the order of `ROLLUP_KEYS`. */
  addSegments(key: readonly (string | number)[], segments: ArrayLike<number>): void {
    const row = this.rowOf(`\0${key.join('\0')}`);
    for (let from = 0; from < segments.length; from += this.width + 1) {
      const own = this.placeOf(row, segments[from] ?? 0);
      for (const { at, isAmount } of this.places.values()) {
        const sum = segments[from + 1 + at] ?? 0;
        const high = isAmount ? (segments[from + 2 + at] ?? 0) : 0;
        for (const [sums, place] of [
          [row.sums, at],
          [row.segments, own + at],
        ] as const) {
          if (sum !== 0) addAt(sums, place, isAmount, sum);
          if (high !== 0) sums[place + 1] = (sums[place + 1] ?? 0) + high;
        }
      }
    }
  }

  private rowOf(joined: string): Row {
    let row = this.byKey.get(joined);
    if (!row) {
      row = { sums: new Array<number>(this.width).fill(0), segments: [], places: null };
      this.byKey.set(joined, row);
      this.weight += joined.length + ROW_WEIGHT;
    }
    return row;
  }

  /** Where the sums of a segment begin in a row's. */
  private placeOf(row: Row, segment: number): number {
    const step = this.width + 1;
    const { segments } = row;
    if (row.places) {
      const place = row.places.get(segment);
      if (place !== undefined) return place;
    } else {
      for (let at = 0; at < segments.length; at += step) if (segments[at] === segment) return at + 1;
    }
    const place = segments.length + 1;
    const own = new Array<number>(step).fill(0);
    own[0] = segment;
    if (row.places) {
      segments.push(...own);
      row.places.set(segment, place);
    } else {
      // An array that is pushed to keeps room for more, of which most rows never have any.
      row.segments = segments.length === 0 ? own : segments.concat(own);
      if (row.segments.length > MAX_SCANNED * step) {
        row.places = new Map();
        for (let at = 0; at < row.segments.length; at += step) row.places.set(row.segments[at] ?? 0, at + 1);
      }
    }
    this.weight += step * 8 + SEGMENT_WEIGHT;
    return place;
  }

  private split(joined: string): (string | number)[] {
    const values = joined.slice(1).split('\0');
    return ROLLUP_KEYS[this.table].map((name, index) =>
      NUMBERS.has(name) ? Number(values[index]) : (values[index] ?? ''),
    );
  }
}

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

/** The columns of a table's sums, in the order in which a row and a segment have them. */
export const sumColumnsOf = (table: RollupTable): string[] => MEASURES[table].flatMap(columnsOfMeasure);

/** The columns of a table's rows in the order of `Additions.rows`. */
export const additionColumns = (table: RollupTable): string[] => [
  ...ROLLUP_KEYS[table],
  ...sumColumnsOf(table),
];
