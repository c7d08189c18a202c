import { eq } from 'drizzle-orm';
import { OTHER_SEGMENT, type RollupTable, SEGMENT_DIMENSIONS, SEGMENT_PARTS, type Segment } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database, segments } from '#db';
import { givingWay } from '#http';
import {
  ALL_CREATIVES,
  type BlockBounds,
  blockKeys,
  bucketOf,
  CREATIVE_BUCKETS,
  type OpenBlock,
  readBlockPages,
  readBucketBytes,
  UNSEGMENTED,
} from '#rollup';
import type { Chunk, ScannedSegment } from './chunk.ts';
import { isBySegment } from './dimensions.ts';
import { isByCreative, storedValue } from './filters.ts';
import type { ReportFilters } from './query.ts';

export type BlockScan = {
  applicationId: string;
  rollup: RollupTable;
  /** The days; for a rollup of cohorts, the acquisition days. */
  from: string;
  to: string;
  filters: ReportFilters;
  /** Whether rows are needed by creative. Otherwise all creatives are one, `PAID`, and far fewer rows are read. */
  byCreative: boolean;
  /** Whether rows are needed by segment. */
  bySegment: boolean;
};

/**
 * Reads the rows of a rollup that match the filters from its blocks, latest days first. The same key and segment may come several times.
 * Blocks are unpacked here because SQL takes about twenty times as long.
 */
export async function* scanBlocks(
  db: D1Database,
  scan: BlockScan,
  bounds?: BlockBounds,
): AsyncGenerator<Chunk> {
  const { applicationId, rollup, from, to, filters } = scan;
  const bySegment = scan.bySegment || isBySegment(filters);
  const [known, creativeIds] = await Promise.all([
    bySegment ? readSegments(db, applicationId) : new Map<number, ScannedSegment>(),
    isByCreative(filters) ? findCreativeIds(database(db), applicationId, filters) : null,
  ]);
  const wantedCreatives = creativeIds && new Set(creativeIds);
  const isCreativeWanted =
    wantedCreatives || filters.attribution
      ? (id: string) =>
          (!wantedCreatives || wantedCreatives.has(id)) &&
          (!filters.attribution || (id !== '') === (filters.attribution === 'paid'))
      : null;
  const isSegmentWanted = segmentFilter(filters);
  const columns = blockKeys(rollup);
  const [dayAt, creativeAt] = [0, columns.indexOf('creative_id')];

  let sinceTurn = 0;
  const toChunk = (block: OpenBlock): Chunk => {
    const own = block.segments.map((id) => known.get(id) ?? OTHER);
    const wanted = columns.map((_, at) => {
      const values = block.keys[at] ?? [];
      if (at === dayAt) return flagsOf(values, (day) => day >= from && day <= to);
      return at === creativeAt && isCreativeWanted ? flagsOf(values, isCreativeWanted) : null;
    });
    const filter = { keys: wanted, segments: isSegmentWanted && flagsOf(own, isSegmentWanted) };
    return {
      isOfCosts: false,
      day: block.keys[dayAt]?.[0] ?? from,
      columns,
      values: block.keys,
      segments: own,
      read: (take) =>
        block.read((entries) => {
          sinceTurn += entries.size;
          take(entries);
        }, filter),
    };
  };
  const buckets = await bucketsOf(db, { ...scan, bySegment }, creativeIds);
  const needed = isSegmentWanted && segmentsNeeded(known, isSegmentWanted);
  const giveWay = givingWay();
  for await (const page of readBlockPages(db, { ...scan, buckets, segments: needed }, bounds)) {
    for (const block of page) {
      yield toChunk(block);
      if (sinceTurn < ENTRIES_PER_TURN) continue;
      sinceTurn = 0;
      await giveWay();
    }
  }
}

/** After adding up so many entries, which takes some milliseconds, a report lets other requests have their turn. */
const ENTRIES_PER_TURN = 25_000;

/**
 * Everything that `UNSEGMENTED` has is also in the buckets by segment. For a few creatives their own buckets may have fewer bytes: they
 * have a sixteenth of all creatives each, but every row once per segment.
 */
async function bucketsOf(
  db: D1Database,
  { byCreative, bySegment, filters, ...scan }: BlockScan,
  creativeIds: readonly string[] | null,
): Promise<readonly number[]> {
  if (!byCreative && !isByCreative(filters)) return [ALL_CREATIVES];
  const own = creativeIds && [...new Set(creativeIds.map(bucketOf))];
  if (bySegment) return own ?? Array.from({ length: CREATIVE_BUCKETS }, (_, index) => index + 1);
  if (!own || own.length > MAX_OWN_BUCKETS) return [UNSEGMENTED];
  const bytes = await readBucketBytes(db, { ...scan, buckets: [...own, UNSEGMENTED] });
  const ofOwn = own.reduce((all, bucket) => all + (bytes.get(bucket) ?? 0), 0);
  return ofOwn < (bytes.get(UNSEGMENTED) ?? 0) ? own : [UNSEGMENTED];
}

/** More buckets than this hardly ever have fewer bytes than `UNSEGMENTED`. */
const MAX_OWN_BUCKETS = 4;

/** The segment of ids that no counter has named yet, and of sums that are not broken down. */
export const OTHER: ScannedSegment = { ...OTHER_SEGMENT, index: 0 };

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

/** Marks the wanted ones among values with 1; null if all are wanted. */
function flagsOf<Value>(values: readonly Value[], isWanted: (value: Value) => boolean): Uint8Array | null {
  const flags = new Uint8Array(values.length);
  let count = 0;
  for (const [at, value] of values.entries()) {
    if (!isWanted(value)) continue;
    flags[at] = 1;
    count++;
  }
  return count === values.length ? null : flags;
}

/** The ids of the wanted segments; null if segments without a name are wanted, whose ids are not known. */
function segmentsNeeded(
  known: ReadonlyMap<number, ScannedSegment>,
  isWanted: (segment: ScannedSegment) => boolean,
): { ids: number[]; known: number } | null {
  if (isWanted(OTHER)) return null;
  return { ids: [...known].flatMap(([id, segment]) => (isWanted(segment) ? [id] : [])), known: known.size };
}

/** Returns whether a segment matches the filters; null if there are none. */
function segmentFilter(filters: ReportFilters): ((segment: Segment) => boolean) | null {
  if (!isBySegment(filters)) return null;
  const wanted = SEGMENT_DIMENSIONS.flatMap((name) => {
    const values = filters[name];
    return values ? [{ part: SEGMENT_PARTS[name], values: new Set(values.map(storedValue)) }] : [];
  });
  return (segment) => wanted.every(({ part, values }) => values.has(segment[part]));
}
