import { eq } from 'drizzle-orm';
import { OTHER_SEGMENT, type RollupTable, type Segment } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database, segments } from '#db';
import { ALL_CREATIVES, blockKeys, bucketOf, CREATIVE_BUCKETS, openBlock, readBlockPages } from '#rollup';
import { isByCreative, UNKNOWN } from './filters.ts';
import type { ReportFilters } from './query.ts';

type SegmentScan = {
  applicationId: string;
  rollup: RollupTable;
  /** The days; for a rollup of cohorts, the acquisition days. */
  from: string;
  to: string;
  filters: ReportFilters;
  /** Whether rows are needed by creative. Otherwise all creatives are one, and far fewer rows are read. */
  byCreative: boolean;
};

/** A segment. The same three values are always the same object. */
export type ScannedSegment = Segment & { index: number };

/** Reads a column of a row's key. The creative is `PAID` if all creatives are read as one. */
export type RowKey = (column: string) => string;

export type SegmentReader<Row> = {
  /** Called before any row that has one of these currencies. */
  useCurrencies?(currencies: readonly string[]): Promise<void>;
  /** Returns what `add` needs to know about a row; null if the row is not wanted. */
  row(key: RowKey): Row | null;
  /**
   * Receives a segment of that row that matches the filters. `sums` are in the order of `sumColumnsOf`; the array is reused after the
   * call. The bits of `mask` say which of them are not 0.
   */
  add(row: Row, segment: ScannedSegment, sums: Float64Array, mask: number): void;
  /** Whether reading can stop. */
  isFull?(): boolean;
};

/**
 * Reads a rollup broken down by segment, latest days first. The same key and segment may come several times; the reader adds up their
 * sums. Blocks are unpacked here because SQL takes about twenty times as long.
 */
export async function scanSegments<Row>(
  db: D1Database,
  scan: SegmentScan,
  reader: SegmentReader<Row>,
): Promise<void> {
  const { rollup, from, to, filters } = scan;
  const [known, creativeIds] = await Promise.all([
    readSegments(db, scan.applicationId),
    isByCreative(filters) ? findCreativeIds(database(db), scan.applicationId, filters) : null,
  ]);
  const wantedCreatives = creativeIds && new Set(creativeIds);
  const isWanted = segmentFilter(filters);
  const columns = blockKeys(rollup);
  const [dayAt, creativeAt] = [0, columns.indexOf('creative_id')];
  const currencyAt = columns.indexOf('currency');
  const isCreativeWanted = (id: string) =>
    (!wantedCreatives || wantedCreatives.has(id)) &&
    (!filters.attribution || (id !== '') === (filters.attribution === 'paid'));

  const read = async (data: string) => {
    const block = openBlock(rollup, data);
    if (currencyAt >= 0) await reader.useCurrencies?.(block.keys[currencyAt] ?? []);
    const days = (block.keys[dayAt] ?? []).map((day) => day >= from && day <= to);
    const creatives = (block.keys[creativeAt] ?? []).map(isCreativeWanted);
    const own = block.segments.map((id) => {
      const segment = known.get(id) ?? OTHER;
      return isWanted(segment) ? segment : null;
    });
    let [row, key]: [Row | null, Int32Array] = [null, new Int32Array()];
    const readKey: RowKey = (column) => {
      const at = columns.indexOf(column);
      return block.keys[at]?.[key[at] ?? 0] ?? '';
    };
    block.read({
      row: (next) => {
        key = next;
        const isLeft = days[key[dayAt] ?? 0] && creatives[key[creativeAt] ?? 0];
        row = isLeft ? reader.row(readKey) : null;
        return row !== null;
      },
      segment: (index, sums, mask) => {
        const segment = own[index];
        if (row !== null && segment) reader.add(row, segment, sums, mask);
      },
    });
  };
  const buckets = bucketsOf(scan, creativeIds);
  for await (const page of readBlockPages(db, { ...scan, buckets })) {
    for (const data of page) await read(data);
    if (reader.isFull?.()) return;
  }
}

function bucketsOf({ byCreative, filters }: SegmentScan, creativeIds: readonly string[] | null): number[] {
  if (creativeIds) return [...new Set(creativeIds.map(bucketOf))];
  if (!byCreative && !isByCreative(filters)) return [ALL_CREATIVES];
  return Array.from({ length: CREATIVE_BUCKETS }, (_, index) => index + 1);
}

/** The segment of ids that no counter has named yet. */
const OTHER: ScannedSegment = { ...OTHER_SEGMENT, index: 0 };

async function readSegments(db: D1Database, applicationId: string): Promise<Map<number, ScannedSegment>> {
  const rows = await database(db)
    .select({
      id: segments.segmentId,
      country: segments.country,
      os: segments.os,
      appVersion: segments.appVersion,
    })
    .from(segments)
    .where(eq(segments.applicationId, applicationId));
  return new Map(rows.map(({ id, ...segment }, index) => [id, { ...segment, index: index + 1 }]));
}

/** Returns whether a segment matches the filters. */
function segmentFilter({ country, os, app_version }: ReportFilters): (segment: Segment) => boolean {
  const known = (values: readonly string[] | undefined) =>
    values && new Set(values.map((value) => (value === UNKNOWN ? '' : value)));
  const [countries, oses, versions] = [known(country), known(os), known(app_version)];
  return (segment) =>
    (!countries || countries.has(segment.country)) &&
    (!oses || oses.has(segment.os)) &&
    (!versions || versions.has(segment.appVersion));
}
