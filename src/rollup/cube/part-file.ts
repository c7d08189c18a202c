import { Buffer } from 'node:buffer';
import type { ColumnMetaData, DecodedArray, FileMetaData, SchemaElement } from 'hyparquet';
import type { Writer, ColumnSource as WrittenColumn } from 'hyparquet-writer';
import type { RollupTable } from '#catalogue';
import { type ColumnPages, loadedParquet, loadParquet } from '#lib/encoding/parquet';
import { formatMetadata, formatOf, requireKnownFormat } from '#lib/encoding/store-formats';
import { dayFromNumber, dayNumber } from '#lib/time';
import { sumColumnsOf } from '../tables.ts';
import { type Grain, keyColumns, segmentColumns } from './grains.ts';

// A part of the cube is a Parquet file, so that any engine reads it, and its columns are named: a column that this release does not know is
// ignored, one that the file lacks is 0 or empty. Columns of sums that are all 0 are left out.
//
// Every column is required (no nulls), and sums are stored plainly and compressed: they are read back as typed arrays without a loop over
// their values. Optional columns took ten times as long.

/** Rows of a part, column by column. */
export type PartColumns = {
  /** By name: those of `keyColumns` and `segmentColumns`. */
  texts: ReadonlyMap<string, readonly string[]>;
  /** In the order of `sumColumnsOf`. */
  sums: readonly (readonly number[])[];
};

/** All rows of a part are one row group. */
const MAX_GROUP_ROWS = 1_000_000;
/** No limit: a row group has so few rows that the size of each value need not be added up to divide them. */
const ONE_PAGE = 0;

const REQUIRED = { repetition_type: 'REQUIRED' } as const;
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...REQUIRED } as const;
const DATE = { type: 'INT32', converted_type: 'DATE', ...REQUIRED } as const;
const INT32 = { type: 'INT32', ...REQUIRED } as const;
const INT64 = { type: 'INT64', ...REQUIRED } as const;

/** The text of what a column stores. */
type TextOf = (stored: number) => string;
type StoredText = { element: object; write: (text: string) => number; read: TextOf };

/** How a column of texts is stored, unless as text: days and ages as the numbers that they are. */
const storedText: Readonly<Record<string, StoredText>> = {
  day: { element: DATE, write: dayNumber, read: dayFromNumber },
  acquired_day: { element: DATE, write: dayNumber, read: dayFromNumber },
  age: { element: INT32, write: Number, read: String },
};

/** All columns of sums of a rollup, for a file that other engines read: they know no missing ones. */
export const withAllSums = (table: RollupTable, types: SumTypes): SumTypes =>
  new Map(sumColumnsOf(table).map((name) => [name, types.get(name) ?? 'INT32']));

/** How a column of sums is stored. */
type SumType = 'INT32' | 'INT64';
/** The columns of sums that a file has. */
export type SumTypes = ReadonlyMap<string, SumType>;

const isSmall = (sum: number) => sum === (sum | 0);

/** A column of sums has larger ones than its file can store. */
export class WideSumError extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`The sums of ${column} need 64 bits`);
    this.column = column;
  }
}

function sumTypesOf(table: RollupTable, sums: PartColumns['sums']): SumTypes {
  const types = new Map<string, SumType>();
  for (const [at, name] of sumColumnsOf(table).entries()) {
    const own = sums[at] ?? [];
    if (own.some((sum) => sum !== 0)) types.set(name, own.every(isSmall) ? 'INT32' : 'INT64');
  }
  return types;
}

type FileOptions = {
  writer: Writer;
  sumTypes: SumTypes;
  /** Whether row groups record their first and last day, and which sums are all 0, so that readers can skip them. */
  hasRanges: boolean;
};

/**
 * Begins a file whose rows are written in row groups. Throws `WideSumError` for sums that `sumTypes` has no room for. Without a `flush` of the
 * writer, everything is synchronous.
 */
export function beginFile(table: RollupTable, grain: Grain, { writer, sumTypes, hasRanges }: FileOptions) {
  const { compressors, ParquetWriter } = loadedParquet();
  const texts = [...keyColumns(table, grain), ...segmentColumns(grain)];
  const elements = [
    ...texts.map((name) => ({ name, ...(storedText[name]?.element ?? TEXT) })),
    ...sumColumnsOf(table).flatMap((name) => {
      const type = sumTypes.get(name);
      return type ? [{ name, ...(type === 'INT32' ? INT32 : INT64) }] : [];
    }),
  ] as SchemaElement[];
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: elements.length }, ...elements],
    codec: 'GZIP',
    compressors,
    statistics: false,
    createdBy: 'attribution',
    kvMetadata: formatMetadata('cube_part'),
  });
  const sourceOfSums = (name: string, sums: readonly number[]): WrittenColumn[] => {
    const type = sumTypes.get(name);
    const statistics = hasRanges && sums.every((sum) => sum === 0);
    if (type === 'INT64') return [{ name, data: sums.map(BigInt), encoding: 'PLAIN', statistics }];
    if (!sums.every((sum) => isSmall(sum) && (type || sum === 0))) throw new WideSumError(name);
    return type ? [{ name, data: sums as number[], encoding: 'PLAIN', statistics }] : [];
  };
  const storedOf = (name: string, texts: readonly string[]) => {
    const stored = storedText[name];
    return stored ? texts.map(stored.write) : (texts as string[]);
  };
  return {
    write: (columns: PartColumns): void | Promise<void> =>
      file.write({
        columnData: [
          ...texts.map((name, at) => ({
            name,
            data: storedOf(name, columns.texts.get(name) ?? []),
            ...(hasRanges && at === 0 ? { statistics: true } : {}),
          })),
          ...sumColumnsOf(table).flatMap((name, at) => sourceOfSums(name, columns.sums[at] ?? [])),
        ],
        rowGroupSize: MAX_GROUP_ROWS,
        pageSize: ONE_PAGE,
      }),
    finish: (): void | Promise<void> => file.finish(),
  };
}

/** Writes a part, as Base64 text. */
export function writePart(table: RollupTable, grain: Grain, columns: PartColumns): string {
  const writer = new (loadedParquet().ByteWriter)();
  const file = beginFile(table, grain, {
    writer,
    sumTypes: sumTypesOf(table, columns.sums),
    hasRanges: false,
  });
  void file.write(columns);
  void file.finish();
  return Buffer.from(writer.getBytes()).toString('base64');
}

/** A file of the cube, or the bytes of it from `start` on. */
export type Bytes = { buffer: ArrayBuffer; start: number };

const bytesOfText = (text: string): Bytes => {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
  return { buffer: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, start: 0 };
};

/** The columns of sums that a part has. */
export async function sumTypesOfPart(text: string): Promise<SumTypes> {
  const { parquetMetadata } = await loadParquet();
  return sumTypesIn(parquetMetadata(bytesOfText(text).buffer));
}

export const sumTypesIn = ({ schema }: FileMetaData): SumTypes =>
  new Map(
    schema.flatMap(({ name, type }) => (type === 'INT32' || type === 'INT64' ? [[name, type] as const] : [])),
  );

/** The texts of a column, numbered in order of first use. `numbers` is null if all rows have the first one. */
export type TextColumn = { values: readonly string[]; numbers: Uint16Array | Uint32Array | null };
/** Null if a file has none of it: all of its texts are empty, or all of its sums 0. */
export type PartColumn = TextColumn | Int32Array | Float64Array | null;

export const isText = (column: PartColumn | undefined): column is TextColumn =>
  column != null && !ArrayBuffer.isView(column);

/** The columns of a part or of a row group, by name. */
export type ColumnSource = {
  readonly size: number;
  read(names: readonly string[]): ReadonlyMap<string, PartColumn>;
};

/** Columns of a part that were read. */
export type KeptPart = { readonly size: number; readonly columns: ReadonlyMap<string, PartColumn> };

/**
 * Reads the columns of a file whose row groups are among the bytes, each once, and only if it is asked for. They are as small as they can be,
 * because an isolate keeps them.
 */
export class PartFile implements ColumnSource, KeptPart {
  readonly size: number;
  readonly columns: Map<string, PartColumn>;
  private readonly metadata: FileMetaData;
  private readonly bytes: Bytes;

  /** Throws `NewerFormatError` if a newer release wrote the file. */
  constructor(metadata: FileMetaData, bytes: Bytes, known?: KeptPart) {
    requireKnownFormat('cube_part', formatOf(metadata));
    this.size = Number(metadata.num_rows);
    this.columns = new Map(known?.columns);
    this.metadata = metadata;
    this.bytes = bytes;
  }

  /** Opens the text of a part, of which some columns may be known. Throws if it is none. */
  static async open(text: string, known?: KeptPart): Promise<PartFile> {
    const { parquetMetadata } = await loadParquet();
    const bytes = bytesOfText(text);
    return new PartFile(parquetMetadata(bytes.buffer), bytes, known);
  }

  read(names: readonly string[]): ReadonlyMap<string, PartColumn> {
    for (const name of names) if (!this.columns.has(name)) this.columns.set(name, this.columnOf(name));
    return this.columns;
  }

  private columnOf(name: string): PartColumn {
    const { readColumnPages, textOfBytes } = loadedParquet();
    const { buffer, start } = this.bytes;
    const chunks = this.metadata.row_groups.flatMap(({ columns }) =>
      columns.flatMap(({ meta_data: own }) => (own?.path_in_schema[0] === name ? [own] : [])),
    );
    const [first] = chunks;
    if (!first || chunks.every(isZero)) return null;
    const read = chunks.map((chunk) => readColumnPages(buffer, start, chunk));
    const textOf = storedText[name]?.read;
    if (textOf) return numbered(this.size, read, textOf);
    return first.type === 'BYTE_ARRAY'
      ? numbered(this.size, read, textOfBytes)
      : toSums(
          this.size,
          read.flatMap(({ pages }) => pages.flatMap(({ values }) => values ?? [])),
        );
  }
}

function numbered<Stored>(
  size: number,
  chunks: readonly ColumnPages[],
  textOf: (stored: Stored) => string,
): TextColumn {
  const values: string[] = [];
  const known = new Map<string, number>();
  const numberOf = (stored: unknown): number => {
    const text = textOf(stored as Stored);
    const number = known.get(text) ?? values.push(text) - 1;
    known.set(text, number);
    return number;
  };
  const numbers = size > 2 ** 16 ? new Uint32Array(size) : new Uint16Array(size);
  let at = 0;
  for (const { size: own, dictionary, pages } of chunks) {
    const ofDictionary = Uint32Array.from(dictionary ?? [], numberOf);
    if (pages.length === 0) {
      numbers.fill(ofDictionary[0] ?? 0, at, at + own);
      at += own;
    }
    for (const page of pages) {
      if (page.values) for (const stored of page.values) numbers[at++] = numberOf(stored);
      else for (const number of page.numbers) numbers[at++] = ofDictionary[number] ?? 0;
    }
  }
  return { values, numbers: values.length > 1 ? numbers : null };
}

/** Whether a row group records that a column has nothing but zeros. */
const isZero = ({ statistics }: ColumnMetaData): boolean => {
  const { min_value: least, max_value: greatest } = statistics ?? {};
  return least !== undefined && Number(least) === 0 && Number(greatest) === 0;
};

const LOW_HALF = 2 ** 32;

function toSums(size: number, chunks: readonly DecodedArray[]): Int32Array | Float64Array {
  const [only] = chunks;
  // A copy, because a page may be part of a larger buffer.
  if (chunks.length === 1 && only instanceof Int32Array) return only.slice();
  const sums = new Float64Array(size);
  let at = 0;
  for (const chunk of chunks) {
    if (chunk instanceof BigInt64Array) {
      // A sum is exact as a number, and its halves are read without making a BigInt.
      const halves = new Int32Array(chunk.buffer, chunk.byteOffset, 2 * chunk.length);
      for (let row = 0; row < chunk.length; row++) {
        sums[at++] = (halves[2 * row + 1] ?? 0) * LOW_HALF + ((halves[2 * row] ?? 0) >>> 0);
      }
    } else {
      sums.set(chunk as Int32Array, at);
      at += chunk.length;
    }
  }
  return sums;
}
