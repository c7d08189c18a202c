import { Buffer } from 'node:buffer';
import type { FileMetaData, SchemaElement } from 'hyparquet';
import type { ColumnSource, Writer } from 'hyparquet-writer';
import type { RollupTable } from '#catalogue';
import { loadedParquet, loadParquet } from '#lib/encoding/parquet';
import { dayFromNumber, dayNumber } from '#lib/time';
import { sumColumnsOf } from '../tables.ts';
import type { Grain } from './grains.ts';
import { keyColumns, segmentColumns } from './grains.ts';

// A part of the cube is a Parquet file, so that any engine reads it, and its columns are named: a column that this release does not know is
// ignored, one that the file lacks is 0 or empty. Columns of sums that are all 0 are left out.
//
// Every column is required (no nulls), and sums are stored plainly and compressed: they are read back as typed arrays without a loop over
// their values. Optional columns took ten times as long. `part-columns.ts` reads them.

/** Rows of a part, column by column. */
export type PartColumns = {
  /** By name: those of `keyColumns` and `segmentColumns`. */
  texts: ReadonlyMap<string, readonly string[]>;
  /** In the order of `sumColumnsOf`. */
  sums: readonly (readonly number[])[];
};

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
export const storedText: Readonly<Record<string, StoredText>> = {
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

export const bytesOfText = (text: string): Bytes => {
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
