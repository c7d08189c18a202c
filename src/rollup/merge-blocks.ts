import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { columnList, database, segmentBlocks, toStatement } from '#db';
import type { BlockSource } from './breakdown.ts';
import { openBlock } from './open-block.ts';
import { packBlocks } from './segment-blocks.ts';
import { Additions } from './tables.ts';

// Every part of a counter's outbox adds blocks to some spans and buckets. Once a counter has many parts in one place, their blocks are merged.
// Names, segments and sums of the same key are then stored once, and reports read fewer rows. A merge is a part, too, and may have several
// blocks, because a row is limited.

/** The number of parts that are not full from which they are merged. */
export const MIN_MERGED_PARTS = 16;
/**
 * The bytes of a part's blocks in a place from which it is full, which means that it is never merged again. The larger it is, the more sums of the
 * same key and segment are added up.
 */
const FULL_PART_BYTES = 500_000;
/** The limit per merge, because its result is one value in the outbox and one parameter in D1, which accept 2 MB. */
const MAX_MERGE_BYTES = 1_000_000;

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

/** Of blocks that are grouped by their part: whether it is not full. */
const isOpen = sql`sum(${segmentBlocks.bytes}) < ${FULL_PART_BYTES}`;

/** Returns the places where a counter has enough parts to merge. */
export async function placesToMerge(
  d1: D1Database,
  { applicationId, shard }: Owner,
  places: readonly BlockPlace[],
): Promise<BlockPlace[]> {
  const { rollup, bucket, fromDay, sequence } = segmentBlocks;
  return database(d1).all<BlockPlace>(
    sql`SELECT rollup, bucket, fromDay FROM (
        SELECT ${rollup} AS rollup, ${bucket} AS bucket, ${fromDay} AS fromDay
        FROM json_each(${JSON.stringify(places)}) AS place CROSS JOIN ${segmentBlocks}
        WHERE ${segmentBlocks.applicationId} = ${applicationId} AND ${rollup} = place.value ->> 'rollup'
          AND ${bucket} = place.value ->> 'bucket' AND ${fromDay} = place.value ->> 'fromDay' AND ${segmentBlocks.shard} = ${shard}
        GROUP BY 1, 2, 3, ${sequence} HAVING ${isOpen})
      GROUP BY 1, 2, 3 HAVING count(*) >= ${MIN_MERGED_PARTS}`,
  );
}

/** Reads the blocks of parts in a place, the smallest first, and merges them. Writes nothing. */
export async function mergeBlocks(d1: D1Database, owner: Owner, place: BlockPlace): Promise<MergedBlocks> {
  const { sequence, number, bytes, data } = segmentBlocks;
  const smallest = sql`sum(sum(${bytes})) OVER (ORDER BY sum(${bytes}), ${sequence})`;
  const chosen = database(d1)
    .select({ sequence, size: smallest.as('size') })
    .from(segmentBlocks)
    .where(atPlace(owner, place))
    .groupBy(sequence)
    .having(isOpen)
    .as('chosen');
  const isChosen = sql`${sequence} IN (SELECT ${chosen.sequence} FROM ${chosen} WHERE ${chosen.size} <= ${MAX_MERGE_BYTES})`;
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
