import {
  columnsOf as columnsOfMeasure,
  isMoney,
  keysTogether,
  MEASURES,
  type MeasureAmounts,
  ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';
import { sortedBy } from '#lib/collections/counting-sort';
import { memoize } from '#lib/collections/memoize';
import { TupleIndex } from '#lib/collections/tuple-index';
import { KeyValues } from './key-values.ts';

// What counters add to the rollup tables: every measure is added to the existing sum of its row. Names of tables and columns come from
// the catalogue, never from a caller.

const ROLLUPS = Object.keys(MEASURES) as RollupTable[];

/** Figures by hour are only in the cube. The other rollups also have a table, which anyone can read with SQL. */
export type StoredTable = Exclude<RollupTable, 'rollup_hours'>;
export const hasTable = (rollup: RollupTable): rollup is StoredTable => rollup !== 'rollup_hours';
export const ROLLUP_TABLES = ROLLUPS.filter(hasTable);

type KeyColumn<Table extends RollupTable> = (typeof ROLLUP_KEYS)[Table][number];
/** The columns of the keys of all tables. */
const KEY_COLUMNS = [...new Set(Object.values(ROLLUP_KEYS).flat())];
/** The place of each column in the key of an event's rows, which has the values of all tables: see `addNumbered`. */
export const KEY_AT = Object.fromEntries(KEY_COLUMNS.map((name, place) => [name, place])) as Readonly<
  Record<KeyColumn<RollupTable>, number>
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

/** The segment of a cell, beside the columns of its key. */
type CellColumn<Table extends RollupTable> = KeyColumn<Table> | 'segment';

/** The place of the day in each key, which starts with the application. */
const DAY_AT = 1;
/** Sums are stored in pieces of so many cells, so that none of them is ever copied. */
const CELLS_PER_PIECE = 256;
/** How many values of a column are remembered with what becomes of them. */
const MAX_REMEMBERED = 10_000;

/**
 * What a run of events adds to one rollup table: a cell of sums for each key and segment, which are numbers of `KeyValues`. Counts stay below 2^53 in
 * any run. So do both parts of an amount, because one event adds less than 10^18 nanos, which is a million in the high part.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  private readonly values: KeyValues;
  private readonly keys: readonly KeyColumn<Table>[];
  /** See `KEY_AT`. */
  private readonly keyPlaces: Int32Array;
  private readonly measures: ReadonlyMap<string, SumPosition>;
  private readonly places: readonly SumPosition[];
  /** The number of sums per cell. */
  private readonly width: number;
  /** Numbers the cells by their keys and segments. */
  private readonly index: TupleIndex;
  private readonly pieces: Float64Array[] = [];
  /** The key and the segment of the cell that is looked up. */
  private readonly tuple: Int32Array;

  /** All tables of a run share one `values`. */
  constructor(table: Table, values = new KeyValues()) {
    this.table = table;
    this.values = values;
    this.keys = ROLLUP_KEYS[table];
    this.keyPlaces = Int32Array.from(this.keys, (name) => KEY_AT[name]);
    this.measures = PLACES.get(table) ?? new Map();
    this.places = [...this.measures.values()];
    this.width = sumColumnsOf(table).length;
    this.tuple = new Int32Array(this.keys.length + 1);
    this.index = new TupleIndex(this.tuple.length);
  }

  /** The memory that the cells take, in bytes, without the values of their keys. */
  get weight(): number {
    return this.index.size * (this.index.tupleBytes + this.width * Float64Array.BYTES_PER_ELEMENT);
  }

  /** Adds to the sums of a key and a segment. */
  add(key: Record<KeyColumn<Table>, string | number>, segment: number, amounts: MeasureAmounts<Table>): void {
    this.lookUp(
      this.keys.map((name) => key[name]),
      segment,
    );
    this.addToCell(amounts);
  }

  /**
   * The same with numbers of `values`, for the key (see `KEY_AT`) as for the segment: a run looks up the values of an event once for all its
   * tables.
   */
  addNumbered(key: Int32Array, segment: number, amounts: MeasureAmounts<Table>): void {
    const { keyPlaces, tuple } = this;
    for (let at = 0; at < keyPlaces.length; at++) tuple[at] = key[keyPlaces[at] ?? 0] ?? 0;
    tuple[keyPlaces.length] = segment;
    this.addToCell(amounts);
  }

  /** Adds all sums of a cell. `key` is in the order of `ROLLUP_KEYS`. */
  addSums(key: readonly (string | number)[], segment: number, sums: ArrayLike<number>, from = 0): void {
    this.lookUp(key, segment);
    this.addToSums(sums, from);
  }

  /** The cells as lists of values, in the order of `additionColumns` if their segments are together. */
  *rows(): Generator<(string | number)[]> {
    for (let cell = 0; cell < this.index.size; cell++) {
      const from = this.fromOf(cell);
      yield [...this.keyOf(cell), ...this.pieceOf(cell).subarray(from, from + this.width)];
    }
  }

  /** The cells of the latest day first. Those of a key follow one another: sorted, they take a fifth less space. */
  latestFirst(): Uint32Array {
    const { index, values } = this;
    let cells: Uint32Array = Uint32Array.from({ length: index.size }, (_, cell) => cell);
    for (let place = this.segmentAt; place > DAY_AT; place--)
      cells = sortedBy(cells, (cell) => index.at(cell, place), values.size);
    const days = [...new Set(Array.from(cells, (cell) => index.at(cell, DAY_AT)))];
    days.sort((one, other) => (values.valueOf(one) < values.valueOf(other) ? 1 : -1));
    const ranks = new Map(days.map((day, rank) => [day, rank]));
    return sortedBy(cells, (cell) => ranks.get(index.at(cell, DAY_AT)) ?? 0, days.length);
  }

  /** The value of a cell at a place of its key, or its segment at `segmentAt`. */
  valueAt(cell: number, place: number): string | number {
    return this.values.valueOf(this.index.at(cell, place));
  }

  get segmentAt(): number {
    return this.keys.length;
  }

  /** Appends the texts of such values of cells. `textOf` is asked once per value. */
  appendTexts(
    texts: string[],
    cells: Iterable<number>,
    place: number,
    textOf: (value: string | number) => string,
  ): void {
    const textOfNumber = memoize(MAX_REMEMBERED, (number: number) => textOf(this.values.valueOf(number)));
    for (const cell of cells) texts.push(textOfNumber(this.index.at(cell, place)));
  }

  /** Appends the sums of cells in a column, by its index in `sumColumnsOf`. */
  appendSums(sums: number[], cells: Iterable<number>, column: number): void {
    for (const cell of cells) sums.push(this.pieceOf(cell)[this.fromOf(cell) + column] ?? 0);
  }

  /** The sums together of cells that only differ in some columns, in which they get the values that these functions return for theirs. */
  together(
    renamed: Partial<Record<CellColumn<Table>, (value: string | number) => string | number>>,
  ): Additions<Table> {
    const { values, index } = this;
    const together = new Additions(this.table, values);
    const columns: readonly CellColumn<Table>[] = [...this.keys, 'segment'];
    const changes = columns.flatMap((name, place) => {
      const rename = renamed[name];
      if (!rename) return [];
      const numberOf = (number: number) => values.numberOf(rename(values.valueOf(number)));
      return [{ place, numberOf: memoize(MAX_REMEMBERED, numberOf) }];
    });
    for (let cell = 0; cell < index.size; cell++) {
      for (let place = 0; place < columns.length; place++) together.tuple[place] = index.at(cell, place);
      for (const { place, numberOf } of changes) together.tuple[place] = numberOf(index.at(cell, place));
      together.addToSums(this.pieceOf(cell), this.fromOf(cell));
    }
    return together;
  }

  private lookUp(key: readonly (string | number)[], segment: number): void {
    for (const [place, value] of key.entries()) this.tuple[place] = this.values.numberOf(value);
    this.tuple[this.keys.length] = this.values.numberOf(segment);
  }

  /** `tuple` has the cell's key and segment. */
  private addToCell(amounts: MeasureAmounts<Table>): void {
    const cell = this.cell();
    const sums = this.pieceOf(cell);
    const own = this.fromOf(cell);
    for (const name in amounts) {
      const place = this.measures.get(name);
      const amount = (amounts as Record<string, number | undefined>)[name];
      if (place && amount) addAt(sums, own + place.at, place.isAmount, amount);
    }
  }

  /** The same with sums that are in a list from an index on. */
  private addToSums(added: ArrayLike<number>, from: number): void {
    const cell = this.cell();
    const sums = this.pieceOf(cell);
    const own = this.fromOf(cell);
    for (const { at, isAmount } of this.places) {
      const high = isAmount ? (added[from + at + 1] ?? 0) : 0;
      if (high !== 0) sums[own + at + 1] = (sums[own + at + 1] ?? 0) + high;
      const sum = added[from + at] ?? 0;
      if (sum !== 0) addAt(sums, own + at, isAmount, sum);
    }
  }

  private keyOf(cell: number): (string | number)[] {
    return this.keys.map((_, place) => this.valueAt(cell, place));
  }

  /** The cell of `tuple`. */
  private cell(): number {
    const { size } = this.index;
    const cell = this.index.numberOf(this.tuple);
    if (cell === size && cell % CELLS_PER_PIECE === 0)
      this.pieces.push(new Float64Array(CELLS_PER_PIECE * this.width));
    return cell;
  }

  private pieceOf(cell: number): Float64Array {
    const piece = this.pieces[Math.floor(cell / CELLS_PER_PIECE)];
    if (!piece) throw new Error('the cell does not exist');
    return piece;
  }

  /** The index of a cell's sums in its piece. */
  private fromOf(cell: number): number {
    return (cell % CELLS_PER_PIECE) * this.width;
  }
}

/** Adds a count, or up to 10^18 nanos in either direction, to a sum. A sum of nanos carries into its high part at the next index. */
function addAt(sums: Float64Array, at: number, isAmount: boolean, amount: number): void {
  if (!isAmount) {
    sums[at] = (sums[at] ?? 0) + amount;
    return;
  }
  const low = (sums[at] ?? 0) + (amount % NANOS_PER_HIGH);
  const high = highOf(amount) + (low >= NANOS_PER_HIGH ? 1 : 0);
  sums[at] = low >= NANOS_PER_HIGH ? low - NANOS_PER_HIGH : low;
  if (high !== 0) sums[at + 1] = (sums[at + 1] ?? 0) + high;
}

/** The columns of a table's sums, in the order of a segment's sums. */
export const sumColumnsOf = (table: RollupTable): string[] => MEASURES[table].flatMap(columnsOfMeasure);

/** The columns of a table's rows, which have all creatives together, in the order of `Additions.rows`. */
export const additionColumns = (table: RollupTable): string[] => [
  ...keysTogether(table),
  ...sumColumnsOf(table),
];
