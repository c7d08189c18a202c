import { Buffer } from 'node:buffer';
import type { DecodedArray, SchemaElement } from 'hyparquet';
import type { ColumnSource } from 'hyparquet-writer';
import { type RollupTable, SEGMENT_DIMENSIONS } from '#catalogue';
import { dayFromNumber, dayNumber } from '#lib/time';
import type { Grain } from './grains.ts';
import { keyColumns, segmentColumns } from './grains.ts';
import { sumColumnsOf } from './tables.ts';

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

const REQUIRED = { repetition_type: 'REQUIRED' } as const;
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...REQUIRED } as const;
const DATE = { type: 'INT32', converted_type: 'DATE', ...REQUIRED } as const;
const INT32 = { type: 'INT32', ...REQUIRED } as const;
const INT64 = { type: 'INT64', ...REQUIRED } as const;

type Written = { element: SchemaElement; source: ColumnSource };
type Codec = typeof import('#lib/parquet');
let codec: Codec | null = null;

/** Loads what `writePart` and `openPart` need; null if it is loaded. Isolates that only receive events never do. */
export function loadPartCodec(): Promise<void> | null {
  if (codec) return null;
  return import('#lib/parquet').then((loaded) => {
    codec = loaded;
  });
}

function loaded(): Codec {
  if (!codec) throw new Error('loadPartCodec was not awaited');
  return codec;
}

/** How a column of texts is stored: days and ages as the numbers that they are. */
const storedText: Readonly<Record<string, { element: object; write: (text: string) => string | number }>> = {
  day: { element: DATE, write: dayNumber },
  acquired_day: { element: DATE, write: dayNumber },
  age: { element: INT32, write: Number },
};
const PLAIN_TEXT = { element: TEXT, write: String };

function writeTexts(name: string, texts: readonly string[]): Written {
  const { element, write } = storedText[name] ?? PLAIN_TEXT;
  return { element: { name, ...element } as SchemaElement, source: { name, data: texts.map(write) } };
}

function writeSums(name: string, sums: readonly number[]): Written[] {
  if (sums.every((sum) => sum === 0)) return [];
  const isSmall = sums.every((sum) => sum === (sum | 0));
  const data = isSmall ? [...sums] : sums.map(BigInt);
  return [{ element: { name, ...(isSmall ? INT32 : INT64) }, source: { name, data, encoding: 'PLAIN' } }];
}

/** Writes a part, as Base64 text. */
export function writePart(table: RollupTable, grain: Grain, { texts, sums }: PartColumns): string {
  const columns = [
    ...[...keyColumns(table), ...segmentColumns(grain)].map((name) =>
      writeTexts(name, texts.get(name) ?? []),
    ),
    ...sumColumnsOf(table).flatMap((name, at) => writeSums(name, sums[at] ?? [])),
  ];
  const { ByteWriter, compressors, ParquetWriter } = loaded();
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)],
    codec: 'GZIP',
    compressors,
    statistics: false,
    createdBy: 'attribution',
  });
  // With a writer that has no `flush`, these calls are synchronous.
  void file.write({ columnData: columns.map(({ source }) => source), rowGroupSize: 1_000_000 });
  void file.finish();
  return Buffer.from(writer.getBytes()).toString('base64');
}

/** Reads a part. Throws if the text is none. */
export async function openPart(table: RollupTable, text: string): Promise<OpenPart> {
  await loadPartCodec();
  const { decompressors, parquetMetadata, parquetRead, plainParsers } = loaded();
  const bytes = Buffer.from(text, 'base64');
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const metadata = parquetMetadata(buffer);
  const size = Number(metadata.num_rows);
  const found = new Map<string, DecodedArray[]>();
  await parquetRead({
    file: { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) },
    metadata,
    compressors: decompressors,
    parsers: plainParsers,
    onChunk: ({ columnName, columnData }) => {
      found.set(columnName, [...(found.get(columnName) ?? []), columnData]);
    },
  });
  return {
    size,
    keys: keyColumns(table).map((name) => numbered(name, size, found.get(name))),
    segments: SEGMENT_DIMENSIONS.map((name) => numbered(name, size, found.get(name))),
    sums: sumColumnsOf(table).map((name) => toSums(size, found.get(name))),
  };
}

/** Numbers the values of a column. Rows with the same value usually follow one another. */
function numbered(name: string, size: number, chunks: readonly DecodedArray[] = []): NumberedColumn {
  const known = new Map<unknown, number>();
  const values: string[] = [];
  const numbers = new Int32Array(size);
  const isDay = storedText[name]?.element === DATE;
  let [at, last, lastNumber]: [number, unknown, number] = [0, undefined, 0];
  for (const chunk of chunks) {
    for (const value of chunk) {
      if (value !== last) {
        last = value;
        const number = known.get(value);
        if (number === undefined) {
          lastNumber = values.push(isDay ? dayFromNumber(Number(value)) : String(value)) - 1;
          known.set(value, lastNumber);
        } else lastNumber = number;
      }
      numbers[at++] = lastNumber;
    }
  }
  if (at === 0 && size > 0) values.push('');
  return { values, numbers };
}

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
