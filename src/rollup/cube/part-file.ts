import { Buffer } from 'node:buffer';
import type { DecodedArray, FileMetaData, SchemaElement } from 'hyparquet';
import type { ColumnSource, Writer } from 'hyparquet-writer';
import { type RollupTable, SEGMENT_DIMENSIONS } from '#catalogue';
import { loadedParquet, loadParquet } from '#lib/encoding/parquet';
import { dayFromNumber, dayNumber } from '#lib/time';
import { sumColumnsOf } from '../tables.ts';
import type { Grain } from './grains.ts';
import { keyColumns, segmentColumns } from './grains.ts';

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

/** What a part has: texts are numbered, in order of first use. */
export type OpenPart = {
  size: number;
  /** By column of `keyColumns`. */
  keys: readonly NumberedColumn[];
  /** By dimension of `SEGMENT_DIMENSIONS`; without values in the grain without segments. */
  segments: readonly NumberedColumn[];
  /** In the order of `sumColumnsOf`; null if all are 0. */
  sums: readonly (Float64Array | null)[];
};
export type NumberedColumn = { values: string[]; numbers: Int32Array };

/** All rows of a part are one row group. */
const MAX_GROUP_ROWS = 1_000_000;

const REQUIRED = { repetition_type: 'REQUIRED' } as const;
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...REQUIRED } as const;
const DATE = { type: 'INT32', converted_type: 'DATE', ...REQUIRED } as const;
const INT32 = { type: 'INT32', ...REQUIRED } as const;
const INT64 = { type: 'INT64', ...REQUIRED } as const;

/** The text of what a column stores. */
type TextOf = (stored: number) => string;
type StoredText = { element: object; write: (text: string) => string | number; read: TextOf };

/** How a column of texts is stored, unless as text: days and ages as the numbers that they are. */
const storedText: Readonly<Record<string, StoredText>> = {
  day: { element: DATE, write: dayNumber, read: dayFromNumber },
  acquired_day: { element: DATE, write: dayNumber, read: dayFromNumber },
  age: { element: INT32, write: Number, read: String },
};
const PLAIN_TEXT = { element: TEXT, write: String };

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
    ...texts.map((name) => ({ name, ...(storedText[name] ?? PLAIN_TEXT).element })),
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
  });
  const sourceOfSums = (name: string, sums: readonly number[]): ColumnSource[] => {
    const type = sumTypes.get(name);
    const statistics = hasRanges && sums.every((sum) => sum === 0);
    if (type === 'INT64') return [{ name, data: sums.map(BigInt), encoding: 'PLAIN', statistics }];
    if (!sums.every((sum) => isSmall(sum) && (type || sum === 0))) throw new WideSumError(name);
    return type ? [{ name, data: [...sums], encoding: 'PLAIN', statistics }] : [];
  };
  return {
    write: (columns: PartColumns): void | Promise<void> =>
      file.write({
        columnData: [
          ...texts.map((name, at) => ({
            name,
            data: (columns.texts.get(name) ?? []).map((storedText[name] ?? PLAIN_TEXT).write),
            ...(hasRanges && at === 0 ? { statistics: true } : {}),
          })),
          ...sumColumnsOf(table).flatMap((name, at) => sourceOfSums(name, columns.sums[at] ?? [])),
        ],
        rowGroupSize: MAX_GROUP_ROWS,
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

/** Reads a part. Throws if the text is none. */
export async function openPart(table: RollupTable, grain: Grain, text: string): Promise<OpenPart> {
  const { parquetMetadata } = await loadParquet();
  const bytes = bytesOfText(text);
  return openRows(table, grain, parquetMetadata(bytes.buffer), bytes);
}

/** The columns of sums that a part has. */
export async function sumTypesOfPart(text: string): Promise<SumTypes> {
  const { parquetMetadata } = await loadParquet();
  return sumTypesIn(parquetMetadata(bytesOfText(text).buffer));
}

export const sumTypesIn = ({ schema }: FileMetaData): SumTypes =>
  new Map(
    schema.flatMap(({ name, type }) => (type === 'INT32' || type === 'INT64' ? [[name, type] as const] : [])),
  );

/** Reads the rows of a file whose row groups are among the bytes. */
export async function openRows(
  table: RollupTable,
  grain: Grain,
  metadata: FileMetaData,
  { buffer, start }: Bytes,
): Promise<OpenPart> {
  const { decompressors, parquetRead, numberingParsers } = loadedParquet();
  const texts: string[] = [];
  const size = Number(metadata.num_rows);
  const found = new Map<string, DecodedArray[]>();
  const sums = new Set(sumColumnsOf(table));
  const [, ...columns] = metadata.schema.map(({ name }) => name);
  await parquetRead({
    columns: columns.filter((name) => !sums.has(name) || !isZero(metadata, name)),
    file: {
      byteLength: start + buffer.byteLength,
      slice: (from, to) => buffer.slice(from - start, to && to - start),
    },
    metadata,
    compressors: decompressors,
    parsers: numberingParsers(texts),
    onChunk: ({ columnName, columnData }) => {
      found.set(columnName, [...(found.get(columnName) ?? []), columnData]);
    },
  });
  const missing: NumberedColumn = { values: size > 0 ? [''] : [], numbers: new Int32Array(size) };
  const textsOf = (name: string) => {
    const chunks = found.get(name);
    const textOf = storedText[name]?.read ?? ((index: number) => texts[index] ?? '');
    return chunks ? numbered(size, chunks, textOf) : missing;
  };
  return {
    size,
    keys: keyColumns(table, grain).map(textsOf),
    segments: SEGMENT_DIMENSIONS.map(textsOf),
    sums: sumColumnsOf(table).map((name) => toSums(size, found.get(name))),
  };
}

/** Numbers the values of a column in the order of first use. Rows with the same value usually follow one another. */
function numbered(size: number, chunks: readonly DecodedArray[], textOf: TextOf): NumberedColumn {
  const ofStored = new Map<number, number>();
  const ofText = new Map<string, number>();
  const values: string[] = [];
  const numberOf = (stored: number): number => {
    const text = textOf(stored);
    const number = ofText.get(text) ?? values.push(text) - 1;
    ofStored.set(stored, number);
    ofText.set(text, number);
    return number;
  };
  const numbers = new Int32Array(size);
  let [at, last, lastNumber] = [0, Number.NaN, 0];
  for (const chunk of chunks as readonly ArrayLike<number>[]) {
    for (let row = 0; row < chunk.length; row++) {
      const stored = chunk[row] ?? 0;
      if (stored !== last) {
        last = stored;
        lastNumber = ofStored.get(stored) ?? numberOf(stored);
      }
      numbers[at++] = lastNumber;
    }
  }
  return { values, numbers };
}

/** Whether the row groups record that a column has nothing but zeros. */
const isZero = ({ row_groups: groups }: FileMetaData, name: string): boolean =>
  groups.every(({ columns }) => {
    const column = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name);
    const { min_value: least, max_value: greatest } = column?.meta_data?.statistics ?? {};
    return least !== undefined && Number(least) === 0 && Number(greatest) === 0;
  });

const LOW_HALF = 2 ** 32;

function toSums(size: number, chunks: readonly DecodedArray[] | undefined): Float64Array | null {
  if (!chunks) return null;
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
