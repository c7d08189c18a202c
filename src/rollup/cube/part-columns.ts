import type { ColumnMetaData, DecodedArray, FileMetaData } from 'hyparquet';
import { type ColumnPages, loadedParquet, loadParquet } from '#lib/encoding/parquet';
import { type Bytes, bytesOfText, storedText } from './part-file.ts';

// Columns of parts, each read only if it is asked for. They are as small as they can be, because an isolate keeps them.

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

/** Reads the columns of a file whose row groups are among the bytes. */
export class PartFile implements ColumnSource {
  readonly size: number;
  private readonly metadata: FileMetaData;
  private readonly bytes: Bytes;

  constructor(metadata: FileMetaData, bytes: Bytes) {
    this.size = Number(metadata.num_rows);
    this.metadata = metadata;
    this.bytes = bytes;
  }

  /** Opens the text of a part. Throws if it is none. */
  static async open(text: string): Promise<PartFile> {
    const { parquetMetadata } = await loadParquet();
    const bytes = bytesOfText(text);
    return new PartFile(parquetMetadata(bytes.buffer), bytes);
  }

  read(names: readonly string[]): Map<string, PartColumn> {
    return new Map(names.map((name) => [name, this.columnOf(name)]));
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
