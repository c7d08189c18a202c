import { and, eq, lt, type SQL, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { columnList, database, segmentBlocks, toStatement } from '#db';
import type { BlockSource } from './breakdown.ts';
import { openBlock } from './open-block.ts';
import { packBlocks } from './segment-blocks.ts';
import { Additions } from './tables.ts';

// Every run of a counter adds a block to each span and bucket that it counted something for. Once a counter has many blocks in one place,
// they are merged. Names, segments and sums of the same key are then stored once, and reports read fewer rows.

/** The number of blocks that are not full from which they are merged. */
export const MIN_MERGED_BLOCKS = 16;
/**
 * The size from which a merged block is full, which means that it is never merged again. The larger it is, the more sums of the same key
 * and segment are added up.
 */
const MAX_MERGED_CHARACTERS = 500_000;
/** The limit per merge, because the result is one value in the outbox and in D1, which accept 2 MB. */
const MAX_MERGE_CHARACTERS = 1_000_000;

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

/** Returns the places where a counter has enough blocks to merge. */
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
        AND ${segmentBlocks.shard} = ${shard} AND ${segmentBlocks.bytes} < ${MAX_MERGED_CHARACTERS}
      GROUP BY 1, 2, 3 HAVING count(*) >= ${MIN_MERGED_BLOCKS}`,
  );
}

/** Reads blocks of a place, the smallest first, and merges them. Writes nothing. */
export async function mergeBlocks(d1: D1Database, owner: Owner, place: BlockPlace): Promise<MergedBlocks> {
  const { sequence, number, bytes, data } = segmentBlocks;
  const smallest = sql`sum(${bytes}) OVER (ORDER BY ${bytes}, ${sequence}, ${number})`;
  const chosen = database(d1)
    .select({ sequence, number, size: smallest.as('size') })
    .from(segmentBlocks)
    .where(and(atPlace(owner, place), lt(bytes, MAX_MERGED_CHARACTERS)))
    .as('chosen');
  const isChosen = sql`(${sequence}, ${number}) IN (SELECT ${chosen.sequence}, ${chosen.number} FROM ${chosen}
    WHERE ${chosen.size} <= ${MAX_MERGE_CHARACTERS})`;
  const rows = await database(d1)
    .select({ sequence, number, data })
    .from(segmentBlocks)
    .where(and(atPlace(owner, place), isChosen));
  const together = new Additions(place.rollup);
  for (const { data } of rows) {
    const block = openBlock(place.rollup, data);
    block.read(({ size, keys, segments, sums }) => {
      for (let entry = 0; entry < size; entry++) {
        const values = block.keys.map((all, at) => all[keys[at]?.[entry] ?? 0] ?? '');
        const own = sums.map((column) => column?.[entry] ?? 0);
        const segment = block.segments[segments[entry] ?? 0] ?? 0;
        together.addSegments([owner.applicationId, ...values], [segment, ...own]);
      }
    });
  }
  const merged = [...together.spans(() => place.fromDay).values()].flatMap((own) => [...own]);
  return {
    ...place,
    replaced: rows.map(({ sequence, number }) => [sequence, number]),
    data: [...packBlocks(place.rollup, merged, MAX_MERGED_CHARACTERS)],
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
