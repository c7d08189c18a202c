import { sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { cubeMonths, cubeParts, database } from '#db';
import { chunksBySize } from '#lib/collections/chunks';
import { type MonthFile, type ReadableBucket, readMonth } from '../months/month-file.ts';
import type { Grain } from './grains.ts';
import { type OpenPart, type PartSelection, RowSelector, selectAll } from './open-part.ts';
import { PartCache } from './part-cache.ts';
import { type ColumnSource, PartFile } from './part-file.ts';

/** The text of the parts that are read at once. Two such pages are in memory. */
const MAX_PAGE_CHARACTERS = 1_000_000;

const KEPT = new PartCache();

/** Where the cube is: recent months in the database, the others in the bucket. */
export type CubeStores = { DB: D1Database; RAW_EVENTS: ReadableBucket };

export type CubePlace = { applicationId: string; rollup: RollupTable; grain: Grain };
export type PartQuery = CubePlace & {
  /** The requested days. Parts may also have other days. */
  from: string;
  to: string;
  /** Everything if absent. */
  selection?: PartSelection;
};

/** Reads the parts that have rows of these days, those with the latest first. A row group of a month is a part, too. */
export async function* readParts(
  stores: CubeStores,
  query: PartQuery,
  maxCharacters = MAX_PAGE_CHARACTERS,
  cache = KEPT,
): AsyncGenerator<OpenPart> {
  const { from, to } = query;
  yield* openListed(stores, query, await listParts(stores.DB, query), {
    isWanted: (days) => days.toDay >= from && days.fromDay <= to,
    maxCharacters,
    cache,
    selection: query.selection,
  });
}

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
async function listParts(
  d1: D1Database,
  { applicationId, rollup, grain, from, to }: PartQuery,
): Promise<Listed[]> {
  const isWanted = (table: typeof cubeParts | typeof cubeMonths) =>
    sql`${table.applicationId} = ${applicationId} AND ${table.rollup} = ${rollup} AND ${table.grain} = ${grain}
      AND ${table.toDay} >= ${from} AND ${table.fromDay} <= ${to} AND ${table.replacedAt} IS NULL`;
  const found = await database(d1).all<Listed>(
    sql`SELECT 'part' AS kind, ${cubeParts.fromDay} AS fromDay, ${cubeParts.toDay} AS toDay, ${cubeParts.shard} AS shard,
        ${cubeParts.sequence} AS sequence, ${cubeParts.number} AS number, ${cubeParts.bytes} AS bytes,
        NULL AS month, NULL AS version, NULL AS footerBytes
      FROM ${cubeParts} WHERE ${isWanted(cubeParts)}
      UNION ALL SELECT 'month', ${cubeMonths.fromDay}, ${cubeMonths.toDay}, NULL, NULL, ${cubeMonths.number},
        ${cubeMonths.bytes}, ${cubeMonths.month}, ${cubeMonths.version}, ${cubeMonths.footerBytes}
      FROM ${cubeMonths} WHERE ${isWanted(cubeMonths)}
      ORDER BY toDay DESC, month DESC, shard, sequence DESC, number`,
  );
  return found;
}

type DayRange = { fromDay: string; toDay: string };
type Reading = {
  /** Asked right before something is read, and once more for each row group of a month. */
  isWanted: (days: DayRange) => boolean;
  maxCharacters?: number;
  /** Keeps columns of parts of the database. */
  cache?: PartCache;
  /** Everything if absent. */
  selection?: PartSelection | undefined;
};

/** Opens parts and months in their order. The next ones load while the caller adds up these. */
export async function* openListed(
  stores: CubeStores,
  place: CubePlace,
  listed: readonly Listed[],
  reading: Reading,
): AsyncGenerator<OpenPart> {
  for await (const open of ahead(load(stores, place, listed, reading))) {
    for (const part of open) yield await part();
  }
}

type OpenLater = () => Promise<OpenPart>;

async function* load(
  { DB, RAW_EVENTS }: CubeStores,
  place: CubePlace,
  listed: readonly Listed[],
  { isWanted, maxCharacters = MAX_PAGE_CHARACTERS, cache = new PartCache(0), selection }: Reading,
): AsyncGenerator<OpenLater[]> {
  const { rollup, grain } = place;
  const selector = new RowSelector(rollup, grain, selection ?? selectAll(rollup, grain));
  const select = (source: ColumnSource) => selector.open(source);
  const keep = cache.keeper();
  for (const page of pagesOf(listed, maxCharacters)) {
    const parts = page.flatMap((one) => (one.kind === 'part' && isWanted(one) ? [one] : []));
    const kept = new Map(parts.map((part) => [part, cache.get(nameOf(place, part))]));
    const lacks = (part: ListedPart) => !selector.columns.every((name) => kept.get(part)?.columns.has(name));
    const texts = await readTexts(DB, place, parts.filter(lacks));
    yield parts.flatMap((part): OpenLater[] => {
      const [known, data] = [kept.get(part), texts.get(part)];
      if (data !== undefined) {
        return [
          async () => {
            const source = await PartFile.open(data, known);
            const open = select(source);
            keep(nameOf(place, part), source);
            return open;
          },
        ];
      }
      if (!known || lacks(part)) return [];
      return [async () => select({ size: known.size, read: () => known.columns })];
    });
    for (const one of page) {
      if (one.kind === 'month' && isWanted(one)) {
        yield* readMonth(RAW_EVENTS, place, one, { isWanted, open: select });
      }
    }
  }
}

const nameOf = (
  { applicationId, rollup, grain }: CubePlace,
  { toDay, shard, sequence, number, bytes }: ListedPart,
) => [applicationId, rollup, grain, toDay, shard, sequence, number, bytes].join('/');

/** Reads parts by their keys, also those that were replaced meanwhile. Those that are there no more are missing. */
export async function readTexts(
  d1: D1Database,
  { applicationId, rollup, grain }: CubePlace,
  parts: readonly ListedPart[],
): Promise<Map<ListedPart, string>> {
  if (parts.length === 0) return new Map();
  const { toDay, shard, sequence, number } = cubeParts;
  const rows = await database(d1).all<{ at: number; data: string }>(
    sql`SELECT listed.key AS at, ${cubeParts.data} AS data FROM json_each(${JSON.stringify(parts)}) AS listed CROSS JOIN ${cubeParts}
      WHERE ${cubeParts.applicationId} = ${applicationId} AND ${cubeParts.rollup} = ${rollup} AND ${cubeParts.grain} = ${grain}
        AND ${toDay} = listed.value ->> 'toDay' AND ${shard} = listed.value ->> 'shard'
        AND ${sequence} = listed.value ->> 'sequence' AND ${number} = listed.value ->> 'number'`,
  );
  return new Map(
    rows.flatMap(({ at, data }): [ListedPart, string][] => {
      const part = parts[at];
      return part ? [[part, data]] : [];
    }),
  );
}

/** Pages of parts in the order of the list. A month is a page of its own. */
export const pagesOf = (listed: readonly Listed[], maxCharacters = MAX_PAGE_CHARACTERS): Listed[][] =>
  chunksBySize(listed, maxCharacters, (one) => (one.kind === 'month' ? Number.POSITIVE_INFINITY : one.bytes));

/** Takes each value one step early. A caller that stops early never awaits the last one. */
async function* ahead<Value>(values: AsyncGenerator<Value>): AsyncGenerator<Value> {
  let next = values.next();
  for (;;) {
    const taken = await next;
    if (taken.done) return;
    next = values.next();
    next.catch(() => undefined);
    yield taken.value;
  }
}
