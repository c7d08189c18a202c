import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { columnList, cubeParts, database, isAmong, toStatement } from '#db';
import { chunksBySize } from '#lib/collections/chunks';
import { Additions } from '../tables.ts';
import { PART_COLUMNS, type PackedPart, type PartSource, packParts } from './cube.ts';
import { type Grain, isKnownPlace } from './grains.ts';
import { addRows, PartSegments } from './part-segments.ts';
import { openPart } from './read-parts.ts';

// Compaction, as in a log-structured merge tree: every run adds parts of level 0. Once a counter has many of one level in one place, their rows
// are added up to parts of the next level. Sums of the same key are then stored once, and reports read fewer rows.
//
// The parts that were replaced stay for a while, marked, because a report may have listed them before and read them after.

/** The number of runs, or compactions, of one level from which their parts are compacted. */
export const MIN_COMPACTED = 16;
/** The limit per compaction, for the memory of a counter. What has more than half of it stays as it is, so that rows are not rewritten for ever. */
const MAX_COMPACTED_ROWS = 90_000;
const MAX_ROWS_TO_COMPACT = MAX_COMPACTED_ROWS / 2;
/** What is in memory as text at once. */
const MAX_PAGE_BYTES = 500_000;
/** Longer than a report takes. */
export const REPLACED_FOR_MS = 600_000;

type PartPlace = { rollup: RollupTable; grain: Grain; month: string };
type Owner = Omit<PartSource, 'sequence'>;

/** The sequences whose parts of a level are replaced, and the new parts. */
export type Compacted = PartPlace & {
  level: number;
  replaced: readonly number[];
  /** How many parts these sequences have in the place. */
  count: number;
  parts: readonly PackedPart[];
};

const atPlace = ({ applicationId, shard }: Owner, { rollup, grain, month }: PartPlace) =>
  and(
    eq(cubeParts.applicationId, applicationId),
    eq(cubeParts.rollup, rollup),
    eq(cubeParts.grain, grain),
    eq(cubeParts.month, month),
    eq(cubeParts.shard, shard),
    isNull(cubeParts.replacedAt),
  );

export type DuePlace = PartPlace & { level: number };

/** Returns the places and levels where a counter has enough parts to compact. */
export async function placesToCompact(d1: D1Database, { applicationId, shard }: Owner): Promise<DuePlace[]> {
  const { rollup, grain, month, level, sequence } = cubeParts;
  const places = await database(d1).all<DuePlace>(
    sql`SELECT rollup, grain, month, level FROM (
        SELECT ${rollup} AS rollup, ${grain} AS grain, ${month} AS month, ${level} AS level FROM ${cubeParts}
          WHERE ${cubeParts.applicationId} = ${applicationId} AND ${cubeParts.shard} = ${shard}
            AND ${cubeParts.replacedAt} IS NULL
          GROUP BY 1, 2, 3, 4, ${sequence} HAVING sum(${cubeParts.rows}) <= ${MAX_ROWS_TO_COMPACT}
      ) GROUP BY 1, 2, 3, 4 HAVING count(*) >= ${MIN_COMPACTED}`,
  );
  return places.filter(isKnownPlace);
}

/** Reads the oldest parts of a place and level, as many as a compaction may have, and adds up their rows. Writes nothing. */
export async function compactParts(d1: D1Database, owner: Owner, place: DuePlace): Promise<Compacted> {
  const { rollup, grain, month, level } = place;
  const own = and(atPlace(owner, place), eq(cubeParts.level, level));
  const sizes = await database(d1)
    .select({
      sequence: cubeParts.sequence,
      rows: sql<number>`sum(${cubeParts.rows})`,
      count: sql<number>`count(*)`,
      bytes: sql<number>`sum(${cubeParts.bytes})`,
    })
    .from(cubeParts)
    .where(own)
    .groupBy(cubeParts.sequence)
    .having(sql`sum(${cubeParts.rows}) <= ${MAX_ROWS_TO_COMPACT}`)
    .orderBy(cubeParts.sequence);
  const chosen: typeof sizes = [];
  let rows = 0;
  for (const size of sizes) {
    if (rows + size.rows > MAX_COMPACTED_ROWS) break;
    chosen.push(size);
    rows += size.rows;
  }
  const replaced = chosen.map(({ sequence }) => sequence);
  const segments = new PartSegments();
  const together = new Additions(rollup);
  for (const page of chunksBySize(chosen, MAX_PAGE_BYTES, ({ bytes }) => bytes)) {
    const sequences = page.map(({ sequence }) => sequence);
    const found = await database(d1)
      .select({ data: cubeParts.data })
      .from(cubeParts)
      .where(and(own, isAmong(cubeParts.sequence, sequences)))
      .orderBy(cubeParts.sequence);
    for (const { data } of found) {
      const part = await openPart(rollup, grain, data, segments);
      addRows(part, owner.applicationId, () => together);
    }
  }
  const parts = packParts(together, grain, segments.segmentOf);
  const count = chosen.reduce((sum, own) => sum + own.count, 0);
  return { rollup, grain, month, level, replaced, count, parts: [...parts] };
}

/**
 * The statements that replace parts by the compacted ones. They change nothing if any of the old parts is missing, which happens after the
 * database was restored. Parts that were replaced long ago are deleted.
 */
export function replaceParts(
  db: D1Database,
  source: PartSource,
  compacted: Compacted,
  now: number,
): D1PreparedStatement[] {
  const { applicationId, shard, sequence } = source;
  const { rollup, grain, month, level, replaced, count, parts } = compacted;
  const place = atPlace(source, compacted);
  const isReplaced = sql`${place} AND ${cubeParts.level} = ${level}
    AND ${cubeParts.sequence} IN (SELECT value FROM json_each(${JSON.stringify(replaced)}))`;
  const isComplete = sql`(SELECT count(*) FROM ${cubeParts} WHERE ${isReplaced}) = ${count}`;
  const own = sql`(SELECT count(*) FROM ${cubeParts} WHERE ${place} AND ${cubeParts.sequence} = ${sequence})`;
  return [
    toStatement(
      db,
      sql`INSERT INTO ${cubeParts} (${columnList(PART_COLUMNS)})
        SELECT ${applicationId}, ${shard}, ${sequence}, ${level + 1}, ${rollup}, ${grain}, key, ${month}, value ->> 'fromDay',
          value ->> 'toDay', value ->> 'rows', value ->> 'data', length(value ->> 'data')
        FROM json_each(${JSON.stringify(parts)}) WHERE ${isComplete}`,
    ),
    toStatement(
      db,
      sql`UPDATE ${cubeParts} SET replaced_at = ${now} WHERE ${isReplaced} AND ${own} = ${parts.length}`,
    ),
    deleteReplaced(db, source, now),
  ];
}

const deleteReplaced = (db: D1Database, { applicationId, shard }: Owner, now: number) =>
  toStatement(
    db,
    sql`DELETE FROM ${cubeParts} WHERE ${and(
      eq(cubeParts.applicationId, applicationId),
      eq(cubeParts.shard, shard),
      isNotNull(cubeParts.replacedAt),
      lt(cubeParts.replacedAt, now - REPLACED_FOR_MS),
    )}`,
  );
