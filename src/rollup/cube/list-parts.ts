import { sql } from 'drizzle-orm';
import { cubeMonths, cubeParts, database } from '#db';
import { chunksBySize } from '#lib/collections/chunks';
import type { DayRange } from '#lib/time';
import type { CubePlace } from './grains.ts';
import type { MonthFile } from './month-file.ts';

/** The text of the parts that are read at once. Two such pages are in memory. */
export const MAX_PAGE_CHARACTERS = 1_000_000;

/** A part in the database, by its key. */
export type ListedPart = {
  kind: 'part';
  fromDay: string;
  toDay: string;
  shard: number;
  sequence: number;
  number: number;
  bytes: number;
};
/** A month in the bucket. */
type ListedMonth = MonthFile & { kind: 'month' };
export type Listed = ListedPart | ListedMonth;

/** One statement, so that a month that is merged meanwhile is read either as its parts or from the bucket. */
export async function listParts(
  d1: D1Database,
  { applicationId, rollup, grain }: CubePlace,
  { from, to }: DayRange,
): Promise<Listed[]> {
  const isWanted = (table: typeof cubeParts | typeof cubeMonths) =>
    sql`${table.applicationId} = ${applicationId} AND ${table.rollup} = ${rollup} AND ${table.grain} = ${grain}
      AND ${table.toDay} >= ${from} AND ${table.fromDay} <= ${to} AND ${table.replacedAt} IS NULL`;
  return database(d1).all<Listed>(
    sql`SELECT 'part' AS kind, ${cubeParts.fromDay} AS fromDay, ${cubeParts.toDay} AS toDay, ${cubeParts.shard} AS shard,
        ${cubeParts.sequence} AS sequence, ${cubeParts.number} AS number, ${cubeParts.bytes} AS bytes,
        NULL AS month, NULL AS version, NULL AS footerBytes
      FROM ${cubeParts} WHERE ${isWanted(cubeParts)}
      UNION ALL SELECT 'month', ${cubeMonths.fromDay}, ${cubeMonths.toDay}, NULL, NULL, ${cubeMonths.number},
        ${cubeMonths.bytes}, ${cubeMonths.month}, ${cubeMonths.version}, ${cubeMonths.footerBytes}
      FROM ${cubeMonths} WHERE ${isWanted(cubeMonths)}
      ORDER BY toDay DESC, month DESC, shard, sequence DESC, number`,
  );
}

/** Pages of parts in the order of the list. A month is a page of its own. */
export const pagesOf = (listed: readonly Listed[], maxCharacters = MAX_PAGE_CHARACTERS): Listed[][] =>
  chunksBySize(listed, maxCharacters, (one) => (one.kind === 'month' ? Number.POSITIVE_INFINITY : one.bytes));
