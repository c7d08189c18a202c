import type { FileMetaData, RowGroup } from 'hyparquet';
import { loadParquet } from '#lib/encoding/parquet';
import { dayFromNumber } from '#lib/time';
import type { CubePlace } from './grains.ts';
import { type Bytes, type ColumnSource, PartFile } from './part-file.ts';

// Months of the cube are Parquet objects in the bucket. Each has row groups of bounded size, those with the latest days first, and is never
// changed: a report reads what it has listed, and a restored database finds the objects that it knew.

/** Where the objects are that reports read, and where other engines find a copy: see `publish.ts`. */
const MONTHS = 'months/';
const CUBES = 'cubes/';
/** The grain that has everything. Sums of the others can be had from it. */
export const PUBLISHED = 'both';

/** Everything in the bucket that the cube has of an application. */
export const monthPrefixes = (applicationId: string): string[] =>
  [MONTHS, CUBES].map((prefix) => `${prefix}${applicationId}/`);
export const versionsPrefix = (applicationId: string): string => `${MONTHS}${applicationId}/`;

type Numbered = { month: string; number: number };

/** An object, as `cube_months` lists it. */
export type MonthFile = Numbered & {
  version: string;
  fromDay: string;
  toDay: string;
  bytes: number;
  footerBytes: number;
};

export const monthKey = (
  { applicationId, rollup, grain }: CubePlace,
  { month, number, version }: Numbered & { version: string },
): string => `${versionsPrefix(applicationId)}${rollup}/${grain}/${month}-${number}-${version}.parquet`;

/** The key of the copy. A large month has several objects; each sum is in one of them. */
export const publicKey = ({ applicationId, rollup }: CubePlace, { month, number }: Numbered): string =>
  `${CUBES}${applicationId}/${rollup}/${month}${number === 1 ? '' : `-${number}`}.parquet`;

/** The key of the file without rows that a rollup always has. */
export const emptyKeyOf = ({ applicationId, rollup }: Omit<CubePlace, 'grain'>): string =>
  `${CUBES}${applicationId}/${rollup}/empty.parquet`;

export type ReadableBucket = {
  get(
    key: string,
    options: { range: { offset: number; length: number } },
  ): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
};

/** How much is read at once. Two such ranges are in memory. */
const MAX_RANGE_BYTES = 1_000_000;

type Located = { key: string; bytes: number; footerBytes: number };

async function readRange(bucket: ReadableBucket, key: string, start: number, end: number): Promise<Bytes> {
  const object = await bucket.get(key, { range: { offset: start, length: end - start } });
  if (!object) throw new Error(`The bucket lacks ${key}`);
  return { buffer: await object.arrayBuffer(), start };
}

/** Reads what a file says about itself; of a small file, also everything else. Throws if the object is missing. */
export async function readFooter(
  bucket: ReadableBucket,
  { key, bytes, footerBytes }: Located,
): Promise<{ metadata: FileMetaData; bytes: Bytes }> {
  const { parquetMetadata, plainParsers } = await loadParquet();
  const tail = await readRange(bucket, key, bytes <= MAX_RANGE_BYTES ? 0 : bytes - footerBytes, bytes);
  return { metadata: parquetMetadata(tail.buffer, { parsers: plainParsers }), bytes: tail };
}

type MonthRowGroup = { rowGroup: RowGroup; start: number; end: number; fromDay: string; toDay: string };

type MonthReading<Open> = {
  isWanted: (days: { fromDay: string; toDay: string }) => boolean;
  open: (rows: ColumnSource) => Open;
};

/** Reads the row groups that are wanted, several at a time. The opened part of each has nothing of the others. */
export async function* readMonth<Open>(
  bucket: ReadableBucket,
  place: CubePlace,
  file: MonthFile,
  { isWanted, open: openRows }: MonthReading<Open>,
): AsyncGenerator<(() => Promise<Open>)[]> {
  const key = monthKey(place, file);
  const { metadata, bytes: tail } = await readFooter(bucket, { key, ...file });
  const groups = metadata.row_groups.map(toGroup).filter(isWanted);
  const open = (group: MonthRowGroup, bytes: Bytes) => async () => {
    const own = { ...metadata, row_groups: [group.rowGroup], num_rows: group.rowGroup.num_rows };
    return openRows(new PartFile(own, bytes));
  };
  while (groups.length > 0) {
    const [first] = groups;
    if (!first) return;
    let count = 1;
    for (; count < groups.length; count++) {
      const [before, next] = [groups[count - 1], groups[count]];
      if (!next || next.start !== before?.end || next.end - first.start > MAX_RANGE_BYTES) break;
    }
    const own = groups.splice(0, count);
    const end = own.at(-1)?.end ?? first.end;
    const bytes = tail.start <= first.start ? tail : await readRange(bucket, key, first.start, end);
    yield own.filter(isWanted).map((group) => open(group, bytes));
  }
}

function toGroup(rowGroup: RowGroup): MonthRowGroup {
  const columns = rowGroup.columns.flatMap(({ meta_data }) => meta_data ?? []);
  const starts = columns.map(({ data_page_offset, dictionary_page_offset }) =>
    Number(dictionary_page_offset ?? data_page_offset),
  );
  const start = Math.min(...starts);
  const size = columns.reduce((sum, { total_compressed_size }) => sum + Number(total_compressed_size), 0);
  const { min_value: from, max_value: to } = columns[0]?.statistics ?? {};
  return {
    rowGroup,
    start,
    end: start + size,
    fromDay: typeof from === 'number' ? dayFromNumber(from) : '',
    toDay: typeof to === 'number' ? dayFromNumber(to) : '9999-12-31',
  };
}
