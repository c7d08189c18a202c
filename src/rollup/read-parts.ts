import { and, desc, eq, gte, isNull, lte, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { cubeParts, database } from '#db';
import type { Grain } from './grains.ts';
import { type OpenPart, openPart } from './part-file.ts';

/** The text of the parts that are read at once. Two such pages are in memory. */
const MAX_PAGE_CHARACTERS = 1_000_000;

export type PartQuery = {
  applicationId: string;
  rollup: RollupTable;
  grain: Grain;
  /** The requested days. Parts may also have other days. */
  from: string;
  to: string;
};

/** Reads the parts that have rows of these days, those with the latest first. */
export async function* readParts(
  d1: D1Database,
  { applicationId, rollup, grain, from, to }: PartQuery,
  maxCharacters = MAX_PAGE_CHARACTERS,
): AsyncGenerator<OpenPart> {
  const db = database(d1);
  const { toDay, shard, sequence, number, bytes } = cubeParts;
  const isInPlace = and(
    eq(cubeParts.applicationId, applicationId),
    eq(cubeParts.rollup, rollup),
    eq(cubeParts.grain, grain),
  );
  const listed = await db
    .select({ toDay, shard, sequence, number, bytes })
    .from(cubeParts)
    .where(and(isInPlace, gte(toDay, from), lte(cubeParts.fromDay, to), isNull(cubeParts.replacedAt)))
    .orderBy(desc(toDay), shard, desc(sequence), number);
  const pages = pagesOf(listed, maxCharacters);
  // Parts are read by their keys, also those that were compacted meanwhile.
  const take = (page: readonly ListedPart[]) =>
    db.all<{ data: string }>(
      sql`SELECT ${cubeParts.data} AS data FROM json_each(${JSON.stringify(page)}) AS listed CROSS JOIN ${cubeParts}
        WHERE ${isInPlace} AND ${toDay} = listed.value ->> 'toDay' AND ${shard} = listed.value ->> 'shard'
          AND ${sequence} = listed.value ->> 'sequence' AND ${number} = listed.value ->> 'number'
        ORDER BY listed.key`,
    );
  let next = pages[0] && take(pages[0]);
  for (let index = 1; next; index++) {
    const rows = await next;
    const following = pages[index];
    // The next page loads while the caller adds up this one. A caller that stops early never awaits it.
    next = following && take(following);
    next?.catch(() => undefined);
    for (const { data } of rows) yield await openPart(rollup, data);
  }
}

type ListedPart = { toDay: string; shard: number; sequence: number; number: number; bytes: number };

function pagesOf(parts: readonly ListedPart[], maxCharacters: number): ListedPart[][] {
  const pages: ListedPart[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (size + part.bytes > maxCharacters) {
      pages.push([]);
      size = 0;
    }
    pages.at(-1)?.push(part);
    size += part.bytes;
  }
  return pages;
}
