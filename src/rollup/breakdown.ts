import { sql } from 'drizzle-orm';
import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { columnList, segmentBlocks, toStatement } from '#db';
import { mondayOf } from '#lib/calendar';
import { packBlocks } from './segment-blocks.ts';
import type { Additions, SegmentedRow } from './tables.ts';

// The rollups by creative and by segment. A run only adds blocks and changes none: one row of `segment_blocks` for each rollup, span of
// days and bucket that it counted something for.

/** The bucket of all creatives together. */
export const ALL_CREATIVES = 0;
/** The creative of sums of all creatives together, in that bucket and in the tables. Those of organic devices have none, as elsewhere. */
export const PAID = 'paid';
/** The number of buckets that creatives are spread over, so that a report on one creative reads a sixteenth. Numbered from 1. */
export const CREATIVE_BUCKETS = 16;
/**
 * The bucket of every creative, not broken down by segment: each row has the one entry `WHOLE_SEGMENT`. Reports by creative that name no
 * segment read it, which takes a fraction of what the buckets by segment take.
 */
export const UNSEGMENTED = CREATIVE_BUCKETS + 1;
/** The id in place of a segment's for the sums of all segments. Only blocks of `UNSEGMENTED` have it. */
export const WHOLE_SEGMENT = 0;

/** FNV-1a. */
export function bucketOf(creativeId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < creativeId.length; index++) {
    hash = Math.imul(hash ^ creativeId.charCodeAt(index), 0x01000193);
  }
  return ((hash >>> 0) % CREATIVE_BUCKETS) + 1;
}

/** A cohort's table has a block per week of acquisition, because a run adds to most of its days; the others one per day. */
export const spanOf = (table: RollupTable): ((day: string) => string) =>
  table === 'cohort_activity' || table === 'cohort_revenue' ? mondayOf : String;

/** A row that a run adds to `segment_blocks`. `number` distinguishes the blocks of a run. */
export type BlockRow = [rollup: RollupTable, bucket: number, fromDay: string, number: number, data: string];

const BLOCK_COLUMNS = [
  segmentBlocks.applicationId,
  segmentBlocks.shard,
  segmentBlocks.sequence,
  segmentBlocks.rollup,
  segmentBlocks.bucket,
  segmentBlocks.fromDay,
  segmentBlocks.number,
  segmentBlocks.data,
  segmentBlocks.bytes,
];

/**
 * What a run adds to D1 for a rollup: the rows of its table, which has all creatives together, and blocks numbered from `first`. Packs one
 * span at a time to bound the memory.
 */
export function* sumRowsOf(
  additions: Additions<RollupTable>,
  first: number,
): Generator<[kind: RollupTable, row: (string | number)[]] | [kind: 'blocks', row: BlockRow]> {
  const { table } = additions;
  const creativeAt = (ROLLUP_KEYS[table] as readonly string[]).indexOf('creative_id');
  // Figures by hour have no segments, and their rows are by creative.
  if (table === 'rollup_hours') {
    for (const row of additions.rows()) yield [table, row];
    return;
  }
  let number = first;
  for (const [fromDay, rows] of additions.spans(spanOf(table))) {
    const together = additions.emptied();
    const whole: SegmentedRow[] = [];
    const buckets = new Map<number, SegmentedRow[]>();
    for (const row of rows) {
      whole.push({ key: row.key, segments: [WHOLE_SEGMENT, ...additions.sumUp(row.segments)] });
      const creativeId = String(row.key[creativeAt]);
      const key = row.key.with(creativeAt, creativeId === '' ? '' : PAID);
      together.addSegments(key, row.segments);
      const bucket = bucketOf(creativeId);
      const own = buckets.get(bucket);
      if (own) own.push(row);
      else buckets.set(bucket, [row]);
    }
    for (const row of together.rows()) yield [table, row];
    const all = [...together.spans(() => fromDay).values()].flatMap((own) => [...own]);
    for (const [bucket, own] of [[ALL_CREATIVES, all] as const, ...buckets, [UNSEGMENTED, whole] as const]) {
      for (const data of packBlocks(table, own)) {
        yield ['blocks', [table, bucket, fromDay, number++, data]];
      }
    }
  }
}

/** The origin of a run's blocks: its counter, and the part of the outbox that contains them. */
export type BlockSource = { applicationId: string; shard: number; sequence: number };

/** The statement that adds blocks. `rows` are `BlockRow`s. */
export const addBlocks = (
  db: D1Database,
  { applicationId, shard, sequence }: BlockSource,
  rows: readonly unknown[],
): D1PreparedStatement =>
  toStatement(
    db,
    sql`INSERT INTO ${segmentBlocks} (${columnList(BLOCK_COLUMNS)})
      SELECT ${applicationId}, ${shard}, ${sequence}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
        length(value ->> 4)
      FROM json_each(${JSON.stringify(rows)})`,
  );
