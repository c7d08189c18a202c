import { and, eq, lt, type SQL, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { columnList, database, segmentBlocks, toStatement } from '#db';
import type { BlockSource } from './breakdown.ts';
import { MAX_BLOCK_CHARACTERS, openBlock, packBlocks } from './segment-blocks.ts';
import { Additions } from './tables.ts';

// Every run of a counter adds a block to each span and bucket that it counted something for. Once a counter has many small blocks in one
// place, they are merged. Names and segments are then stored once, and reports read fewer rows.

/** The number of small blocks from which they are merged. */
export const MIN_MERGED_BLOCKS = 16;
const MAX_SMALL_BYTES = MAX_BLOCK_CHARACTERS / 2;
/** The limit per query, so that its result takes only a few megabytes. */
const MAX_MERGED_BLOCKS = 64;

export type BlockPlace = { rollup: RollupTable; bucket: number; fromDay: string };
type Owner = Omit<BlockSource, 'sequence'>;

/** The blocks to replace, by sequence and number, and the data of the new blocks. */
export type MergedBlocks = BlockPlace & { replaced: [sequence: number, number: number][]; data: string[] };

const atPlace = ({ applicationId, shard }: Owner, { rollup, bucket, fromDay }: BlockPlace) =>
  and(
    eq(segmentBlocks.applicationId, applicationId),
    eq(segmentBlocks.rollup, rollup),
    eq(segmentBlocks.bucket, bucket),
    eq(segmentBlocks.fromDay, fromDay),
    eq(segmentBlocks.shard, shard),
  );

/** Returns the places where a counter has enough small blocks to merge. */
export async function placesToMerge(
  d1: D1Database,
  { applicationId, shard }: Owner,
  places: readonly BlockPlace[],
): Promise<BlockPlace[]> {
  const { rollup, bucket, fromDay } = segmentBlocks;
  return database(d1).all<BlockPlace>(
    sql`SELECT ${rollup} AS rollup, ${bucket} AS bucket, ${fromDay} AS fromDay
      FROM json_each(${JSON.stringify(places)}) AS place CROSS JOIN ${segmentBlocks}
      WHERE ${segmentBlocks.applicationId} = ${applicationId} AND ${rollup} = place.value ->> 'rollup'
        AND ${bucket} = place.value ->> 'bucket' AND ${fromDay} = place.value ->> 'fromDay'
        AND ${segmentBlocks.shard} = ${shard} AND ${segmentBlocks.bytes} < ${MAX_SMALL_BYTES}
      GROUP BY 1, 2, 3 HAVING count(*) >= ${MIN_MERGED_BLOCKS}`,
  );
}

/** Reads the small blocks of a place and merges them. Writes nothing. */
export async function mergeBlocks(d1: D1Database, owner: Owner, place: BlockPlace): Promise<MergedBlocks> {
  const rows = await database(d1)
    .select({ sequence: segmentBlocks.sequence, number: segmentBlocks.number, data: segmentBlocks.data })
    .from(segmentBlocks)
    .where(and(atPlace(owner, place), lt(segmentBlocks.bytes, MAX_SMALL_BYTES)))
    .orderBy(segmentBlocks.sequence, segmentBlocks.number)
    .limit(MAX_MERGED_BLOCKS);
  const together = new Additions(place.rollup);
  for (const { data } of rows) {
    const block = openBlock(place.rollup, data);
    let key: string[] = [];
    block.read({
      row: (indexes) => {
        key = [owner.applicationId, ...block.keys.map((values, at) => values[indexes[at] ?? 0] ?? '')];
        return true;
      },
      segment: (index, sums) => together.addSegments(key, [block.segments[index] ?? 0, ...sums]),
    });
  }
  const merged = [...together.spans(() => place.fromDay).values()].flatMap((own) => [...own]);
  return {
    ...place,
    replaced: rows.map(({ sequence, number }) => [sequence, number]),
    data: [...packBlocks(place.rollup, merged)],
  };
}

const NEW_COLUMNS = [
  segmentBlocks.applicationId,
  segmentBlocks.rollup,
  segmentBlocks.bucket,
  segmentBlocks.fromDay,
  segmentBlocks.shard,
  segmentBlocks.sequence,
  segmentBlocks.number,
  segmentBlocks.bytes,
  segmentBlocks.data,
];

/**
 * The statements that replace blocks by the merged ones. They change nothing if any of the old blocks is missing, which happens after the
 * database was restored.
 */
export function replaceBlocks(
  db: D1Database,
  source: BlockSource,
  merged: MergedBlocks,
): D1PreparedStatement[] {
  const { applicationId, shard, sequence } = source;
  const { rollup, bucket, fromDay, replaced, data } = merged;
  const place = atPlace(source, merged);
  const isReplaced = sql`(${segmentBlocks.sequence}, ${segmentBlocks.number}) IN
    (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(replaced)}))`;
  const found = (condition: SQL) =>
    sql`(SELECT count(*) FROM ${segmentBlocks} WHERE ${place} AND ${condition})`;
  const own = found(sql`${segmentBlocks.sequence} = ${sequence}`);
  return [
    toStatement(
      db,
      sql`INSERT INTO ${segmentBlocks} (${columnList(NEW_COLUMNS)})
        SELECT ${applicationId}, ${rollup}, ${bucket}, ${fromDay}, ${shard}, ${sequence}, key, length(value), value
        FROM json_each(${JSON.stringify(data)}) WHERE ${found(isReplaced)} = ${replaced.length}`,
    ),
    toStatement(
      db,
      sql`DELETE FROM ${segmentBlocks} WHERE ${place} AND ${isReplaced} AND ${own} = ${data.length}`,
    ),
  ];
}
