import { type RollupTable, SEGMENT_DIMENSIONS, type SegmentDimension } from '#catalogue';
import { sumColumnsOf } from '../tables.ts';
import { type Grain, keyColumns, segmentColumns } from './grains.ts';
import { type ColumnSource, isText, type PartColumn, PartFile, type TextColumn } from './part-file.ts';

/** What a reader wants of parts, besides their keys. */
export type PartSelection = {
  segments: readonly SegmentDimension[];
  /** Columns of sums. */
  sums: readonly string[];
  /** By column: which of its texts rows must have. */
  filters: ReadonlyMap<string, (text: string) => boolean>;
};

/** The rows of a part that were selected: texts are numbered, in order of first use. */
export type OpenPart = {
  size: number;
  /** How many rows were searched. */
  searched: number;
  /** By column of `keyColumns`. */
  keys: readonly NumberedColumn[];
  /** By dimension of `SEGMENT_DIMENSIONS`; those that were not selected have only the empty text. */
  segments: readonly NumberedColumn[];
  /** In the order of `sumColumnsOf`; null if all are 0, or were not selected. */
  sums: readonly (Float64Array | null)[];
};
export type NumberedColumn = { values: readonly string[]; numbers: Int32Array };

export const selectAll = (table: RollupTable, grain: Grain): PartSelection => ({
  segments: segmentColumns(grain),
  sums: sumColumnsOf(table),
  filters: new Map(),
});

/** Opens all of a part. Throws if the text is none. */
export const openPart = async (table: RollupTable, grain: Grain, text: string): Promise<OpenPart> =>
  new RowSelector(table, grain, selectAll(table, grain)).open(await PartFile.open(text));

const NO_TEXTS: TextColumn = { values: [''], numbers: null };
const textsOf = (column: PartColumn | undefined): TextColumn => (isText(column) ? column : NO_TEXTS);

/** Selects rows of one part after another. What it returns is overwritten by the next part: new arrays for each took a quarter of a scan. */
export class RowSelector {
  private readonly table: RollupTable;
  private readonly grain: Grain;
  private readonly selection: PartSelection;
  /** The columns that it needs. */
  readonly columns: readonly string[];
  private readonly numbers = new Map<string, Int32Array>();
  private readonly sums = new Map<string, Float64Array>();

  constructor(table: RollupTable, grain: Grain, selection: PartSelection) {
    this.table = table;
    this.grain = grain;
    this.selection = selection;
    const { segments, sums, filters } = selection;
    this.columns = [...new Set([...keyColumns(table, grain), ...segments, ...sums, ...filters.keys()])];
  }

  /** Reads the columns that are filtered by first: if no row matches, the others are not read. */
  open(source: ColumnSource): OpenPart {
    const { segments, sums, filters } = this.selection;
    const { size: searched } = source;
    const filtered = source.read([...filters.keys()]);
    let rows: Int32Array | null = null;
    for (const [name, isWanted] of filters) {
      rows = narrowed(searched, textsOf(filtered.get(name)), isWanted, rows);
    }
    const size = rows?.length ?? searched;
    const columns = size === 0 ? filtered : source.read(this.columns);
    const first = new Int32Array(size);
    const numberedOf = (name: string): NumberedColumn => {
      const { values, numbers } = textsOf(columns.get(name));
      return {
        values,
        numbers: numbers ? taken(numbers, rows, arrayOf(this.numbers, name, size, Int32Array)) : first,
      };
    };
    const sumsOf = (name: string) => {
      const column = columns.get(name);
      return column && !isText(column)
        ? taken(column, rows, arrayOf(this.sums, name, size, Float64Array))
        : null;
    };
    return {
      size,
      searched,
      keys: keyColumns(this.table, this.grain).map(numberedOf),
      segments: SEGMENT_DIMENSIONS.map((name) => numberedOf(segments.includes(name) ? name : '')),
      sums: sumColumnsOf(this.table).map((name) => (sums.includes(name) ? sumsOf(name) : null)),
    };
  }
}

/** An array of this size, of which the next part takes the memory. */
function arrayOf<Numbers extends Int32Array | Float64Array>(
  known: Map<string, Numbers>,
  name: string,
  size: number,
  Type: new (size: number) => Numbers,
): Numbers {
  let array = known.get(name);
  if (!array || array.length < size) {
    array = new Type(size);
    known.set(name, array);
  }
  return array.subarray(0, size) as Numbers;
}

/** Those among `rows`, or among all, that have a wanted text; null for all. */
function narrowed(
  size: number,
  { values, numbers }: TextColumn,
  isWanted: (text: string) => boolean,
  rows: Int32Array | null,
): Int32Array | null {
  const flags = Uint8Array.from(values, (text) => (isWanted(text) ? 1 : 0));
  if (!flags.includes(0)) return rows;
  const found = new Int32Array(numbers && flags.includes(1) ? (rows?.length ?? size) : 0);
  if (!numbers || found.length === 0) return found;
  let count = 0;
  if (rows) {
    for (const row of rows) if (flags[numbers[row] ?? 0] === 1) found[count++] = row;
  } else {
    for (let row = 0; row < size; row++) if (flags[numbers[row] ?? 0] === 1) found[count++] = row;
  }
  return found.subarray(0, count);
}

function taken<Into extends Int32Array | Float64Array>(
  column: ArrayLike<number>,
  rows: Int32Array | null,
  into: Into,
): Into {
  if (!rows) into.set(column);
  else for (let at = 0; at < rows.length; at++) into[at] = column[rows[at] ?? 0] ?? 0;
  return into;
}
