import {
  type Amounts,
  columnsOf as columnsOfMeasure,
  isMoney,
  keysTogether,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';
import { TupleIndex } from '#lib/collections/tuple-index';
import { KeyValues } from './key-values.ts';

// What counters add to the rollup tables: every measure is added to the existing sum of its row. Names of tables and columns come from
// the catalogue, never from a caller.

const ROLLUPS = Object.keys(MEASURES) as RollupTable[];

/** Figures by hour are only in the cube. The other rollups also have a table, which anyone can read with SQL. */
export type StoredTable = Exclude<RollupTable, 'rollup_hours'>;
export const hasTable = (rollup: RollupTable): rollup is StoredTable => rollup !== 'rollup_hours';
export const ROLLUP_TABLES = ROLLUPS.filter(hasTable);

type KeyOf<Table extends RollupTable> = (typeof ROLLUP_KEYS)[Table][number];
/** The columns of the keys of all tables. */
const KEY_COLUMNS = [...new Set(Object.values(ROLLUP_KEYS).flat())];
/** The place of each column in the key of an event's rows, which has the values of all tables: see `addNumbered`. */
export const KEY_AT = Object.fromEntries(KEY_COLUMNS.map((name, place) => [name, place])) as Readonly<
  Record<KeyOf<RollupTable>, number>
>;
export const emptyKey = (): Int32Array => new Int32Array(KEY_COLUMNS.length);

/** The high part of an amount is in thousands of units. SQL can then add up the low parts of 9 million rows within 64 bits. */
export const NANOS_PER_HIGH = 1_000_000_000_000;

/** The high part of an amount. Exact even beyond 2^53, where a quotient would be rounded to a whole number too large. */
export const highOf = (nanos: number): number => (nanos - (nanos % NANOS_PER_HIGH)) / NANOS_PER_HIGH;

/** The index of a measure's sum in a segment. The high part of an amount is at the next index. */
type SumPosition = { at: number; isAmount: boolean };

const PLACES = new Map<RollupTable, Map<string, SumPosition>>(
  ROLLUPS.map((table) => {
    const places = new Map<string, SumPosition>();
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

/** The memory of a row besides its key, and of a cell besides its place and its sums: links between the cells of a row. */
const ROW_WEIGHT = 8;
const CELL_WEIGHT = 4;

/** Sums are stored in pieces of so many cells, so that none of them is ever copied. */
const CELLS_PER_PIECE = 256;

/**
 * What a run of events adds to one rollup table: one row per key, broken down by segment. Counts stay below 2^53 in any run. So do both
 * parts of an amount, because one event adds less than 10^18 nanos, which is a million in the high part. Keys and segments are numbers of
 * `KeyValues`. The sums of a row and a segment are a cell.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  protected readonly values: KeyValues;
  private readonly keys: readonly KeyOf<Table>[];
  /** See `KEY_AT`. */
  private readonly keyPlaces: Int32Array;
  private readonly measures: ReadonlyMap<string, SumPosition>;
  private readonly places: readonly SumPosition[];
  /** The number of sums per cell. */
  private readonly width: number;
  private readonly rowIndex: TupleIndex;
  /** By row and segment. */
  private readonly cellIndex = new TupleIndex(2);
  /** The first and last cell of each row, and each cell's next one; -1 for none. */
  private readonly firstCells: number[] = [];
  private readonly lastCells: number[] = [];
  private readonly nextCells: number[] = [];
  private readonly pieces: Float64Array[] = [];
  private readonly rowKey: Int32Array;
  private readonly cellKey = new Int32Array(2);

  /** All tables of a run share one `values`. */
  constructor(table: Table, values = new KeyValues()) {
    this.table = table;
    this.values = values;
    this.keys = ROLLUP_KEYS[table];
    this.keyPlaces = Int32Array.from(this.keys, (name) => KEY_AT[name]);
    this.measures = PLACES.get(table) ?? new Map();
    this.places = [...this.measures.values()];
    this.width = sumColumnsOf(table).length;
    this.rowIndex = new TupleIndex(this.keys.length);
    this.rowKey = new Int32Array(this.keys.length);
  }

  /** The memory that the rows take, in bytes, without the values of their keys. */
  get weight(): number {
    const { rowIndex, cellIndex, width } = this;
    const cellBytes = cellIndex.tupleBytes + CELL_WEIGHT + width * Float64Array.BYTES_PER_ELEMENT;
    return rowIndex.size * (rowIndex.tupleBytes + ROW_WEIGHT) + cellIndex.size * cellBytes;
  }

  /** Adds to the sums of a row and a segment. */
  add(key: Record<KeyOf<Table>, string | number>, segment: number, amounts: Amounts<Table>): void {
    const { rowKey, values } = this;
    for (const [place, name] of this.keys.entries()) rowKey[place] = values.numberOf(key[name]);
    this.addToRow(values.numberOf(segment), amounts);
  }

  /**
   * The same with numbers of `values`, for the key (see `KEY_AT`) as for the segment: a run looks up the values of an event once for all its
   * tables.
   */
  addNumbered(key: Int32Array, segment: number, amounts: Amounts<Table>): void {
    const { keyPlaces, rowKey } = this;
    for (let at = 0; at < rowKey.length; at++) rowKey[at] = key[keyPlaces[at] ?? 0] ?? 0;
    this.addToRow(segment, amounts);
  }

  /** `rowKey` has the row's key. */
  private addToRow(segment: number, amounts: Amounts<Table>): void {
    const cell = this.cellOf(this.rowOf(this.rowKey), segment);
    const sums = this.pieceOf(cell);
    const own = (cell % CELLS_PER_PIECE) * this.width;
    for (const name in amounts) {
      const place = this.measures.get(name);
      const amount = (amounts as Record<string, number | undefined>)[name];
      if (place && amount) addAt(sums, own + place.at, place.isAmount, amount);
    }
  }

  /** The rows as keys and sums, with sums in the order of `MEASURES`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return Array.from({ length: this.rowIndex.size }, (_, row) => {
      const sums = this.sumsOf(row);
      return {
        key: this.keyOf(row),
        sums: this.places.map(({ at, isAmount }) => {
          const low = BigInt(sums[at] ?? 0);
          return isAmount ? BigInt(sums[at + 1] ?? 0) * BigInt(NANOS_PER_HIGH) + low : low;
        }),
      };
    });
  }

  /** The rows as lists of values, in the order of `additionColumns`. */
  *rows(): Generator<(string | number)[]> {
    for (let row = 0; row < this.rowIndex.size; row++) yield [...this.keyOf(row), ...this.sumsOf(row)];
  }

  /** The rows of the latest day first. */
  *latestFirst(): Generator<SegmentedRow> {
    for (const row of this.latestRows()) yield { key: this.keyOf(row), segments: this.segmentsOf(row) };
  }

  /** The same with the sums of all segments under one id. */
  *latestFirstUnder(id: number): Generator<SegmentedRow> {
    for (const row of this.latestRows()) yield { key: this.keyOf(row), segments: [id, ...this.sumsOf(row)] };
  }

  private latestRows(): Uint32Array {
    // Each key starts with the application, then the day.
    const dayOf = (row: number) => this.rowIndex.at(row, 1);
    const rows = Uint32Array.from({ length: this.rowIndex.size }, (_, row) => row);
    const days = [...new Set(Array.from(rows, dayOf))];
    const textOf = (day: number) => String(this.values.valueOf(day));
    days.sort((one, other) => (textOf(one) < textOf(other) ? 1 : -1));
    const places = new Map(days.map((day, place) => [day, place]));
    const placeOf = (row: number) => places.get(dayOf(row)) ?? 0;
    return rows.sort((one, other) => placeOf(one) - placeOf(other));
  }

  /** The sums of rows together that differ only in one column of their keys, of which they get the value that `nameOf` returns for theirs. */
  together(column: KeyOf<Table>, nameOf: (value: string | number) => string | number): Additions<Table> {
    const { values, width, places, rowIndex } = this;
    const together = new Additions(this.table, values);
    const { rowKey } = together;
    const changed = this.keys.indexOf(column);
    for (let row = 0; row < rowIndex.size; row++) {
      for (let at = 0; at < rowKey.length; at++) rowKey[at] = rowIndex.at(row, at);
      rowKey[changed] = values.numberOf(nameOf(values.valueOf(rowIndex.at(row, changed))));
      const into = together.rowOf(rowKey);
      for (let cell = this.firstCells[row] ?? -1; cell >= 0; cell = this.nextCells[cell] ?? -1) {
        const own = together.cellOf(into, this.cellIndex.at(cell, 1));
        const from = (cell % CELLS_PER_PIECE) * width;
        addSums(places, together.pieceOf(own), (own % CELLS_PER_PIECE) * width, this.pieceOf(cell), from);
      }
    }
    return together;
  }

  /** Adds segments, in the form of `SegmentedRow`, to the row of a key. `key` is in the order of `ROLLUP_KEYS`. */
  addSegments(key: readonly (string | number)[], segments: ArrayLike<number>): void {
    const { rowKey, places, width } = this;
    for (const [place, value] of key.entries()) rowKey[place] = this.values.numberOf(value);
    const row = this.rowOf(rowKey);
    for (let from = 0; from < segments.length; from += width + 1) {
      const cell = this.cellOf(row, this.values.numberOf(segments[from] ?? 0));
      addSums(places, this.pieceOf(cell), (cell % CELLS_PER_PIECE) * width, segments, from + 1);
    }
  }

  /** The sums of all segments of a row. */
  private sumsOf(row: number): number[] {
    const sums = new Array<number>(this.width).fill(0);
    for (let cell = this.firstCells[row] ?? -1; cell >= 0; cell = this.nextCells[cell] ?? -1) {
      addSums(this.places, sums, 0, this.pieceOf(cell), (cell % CELLS_PER_PIECE) * this.width);
    }
    return sums;
  }

  *segmentedRows(): Generator<SegmentedRow> {
    for (let row = 0; row < this.rowIndex.size; row++) {
      yield { key: this.keyOf(row), segments: this.segmentsOf(row) };
    }
  }

  private keyOf(row: number): (string | number)[] {
    return this.keys.map((_, place) => this.values.valueOf(this.rowIndex.at(row, place)));
  }

  /** In the order in which they were first added. */
  private segmentsOf(row: number): number[] {
    const segments: number[] = [];
    for (let cell = this.firstCells[row] ?? -1; cell >= 0; cell = this.nextCells[cell] ?? -1) {
      segments.push(Number(this.values.valueOf(this.cellIndex.at(cell, 1))));
      const sums = this.pieceOf(cell);
      const own = (cell % CELLS_PER_PIECE) * this.width;
      for (let at = own; at < own + this.width; at++) segments.push(sums[at] ?? 0);
    }
    return segments;
  }

  private rowOf(key: Int32Array): number {
    const { size } = this.rowIndex;
    const row = this.rowIndex.numberOf(key);
    if (row === size) {
      this.firstCells.push(-1);
      this.lastCells.push(-1);
    }
    return row;
  }

  private cellOf(row: number, segment: number): number {
    const { size } = this.cellIndex;
    this.cellKey[0] = row;
    this.cellKey[1] = segment;
    const cell = this.cellIndex.numberOf(this.cellKey);
    if (cell < size) return cell;
    const before = this.lastCells[row] ?? -1;
    if (before < 0) this.firstCells[row] = cell;
    else this.nextCells[before] = cell;
    this.lastCells[row] = cell;
    this.nextCells.push(-1);
    if (cell % CELLS_PER_PIECE === 0) this.pieces.push(new Float64Array(CELLS_PER_PIECE * this.width));
    return cell;
  }

  private pieceOf(cell: number): Float64Array {
    const piece = this.pieces[Math.floor(cell / CELLS_PER_PIECE)];
    if (!piece) throw new Error('the cell does not exist');
    return piece;
  }
}

/** Adds a count, or up to 10^18 nanos in either direction, to a sum. A sum of nanos carries into its high part at the next index. */
function addAt(sums: number[] | Float64Array, at: number, isAmount: boolean, amount: number): void {
  if (!isAmount) {
    sums[at] = (sums[at] ?? 0) + amount;
    return;
  }
  const low = (sums[at] ?? 0) + (amount % NANOS_PER_HIGH);
  const high = highOf(amount) + (low >= NANOS_PER_HIGH ? 1 : 0);
  sums[at] = low >= NANOS_PER_HIGH ? low - NANOS_PER_HIGH : low;
  if (high !== 0) sums[at + 1] = (sums[at + 1] ?? 0) + high;
}

/** Adds the sums of a cell, which are in a list from an index on, to those of another. */
function addSums(
  places: readonly SumPosition[],
  into: number[] | Float64Array,
  at: number,
  from: ArrayLike<number>,
  first: number,
): void {
  for (const { at: place, isAmount } of places) {
    const high = isAmount ? (from[first + place + 1] ?? 0) : 0;
    if (high !== 0) into[at + place + 1] = (into[at + place + 1] ?? 0) + high;
    const sum = from[first + place] ?? 0;
    if (sum !== 0) addAt(into, at + place, isAmount, sum);
  }
}

/** The columns of a table's sums, in the order of a segment's sums. */
export const sumColumnsOf = (table: RollupTable): string[] => MEASURES[table].flatMap(columnsOfMeasure);

/** The columns of a table's rows, which have all creatives together, in the order of `Additions.rows`. */
export const additionColumns = (table: RollupTable): string[] => [
  ...keysTogether(table),
  ...sumColumnsOf(table),
];
