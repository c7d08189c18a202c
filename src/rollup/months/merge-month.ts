import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { cubeMonths, cubeParts, database, insertWhere, runBatch } from '#db';
import { loadParquet } from '#lib/encoding/parquet';
import { CubeColumns } from '../cube/cube.ts';
import type { CubePlace } from '../cube/grains.ts';
import { type Listed, type ListedPart, pagesOf } from '../cube/list-parts.ts';
import { type MonthFile, monthKey, PUBLISHED, readFooter } from '../cube/month-file.ts';
import {
  beginFile,
  type SumTypes,
  sumTypesIn,
  sumTypesOfPart,
  WideSumError,
  withAllSums,
} from '../cube/part-file.ts';
import { PartSegments } from '../cube/part-segments.ts';
import { type CubeStores, readTexts } from '../cube/read-parts.ts';
import { mergeDays } from './merge-days.ts';
import { ObjectWriter, type WritableBucket } from './object-writer.ts';

// A merge writes an object under a name that no other has, and then says in one transaction that it replaces what it was made from. It can end
// at any point: an object that is not listed is never read.

type MergeLimits = {
  /** What is read. The rest is left to the next merge, which begins a further object if this one has more than half of it. */
  maxRows: number;
  /** With its columns decoded, a row group takes a few megabytes. */
  rowsPerGroup: number;
  /** The sums in memory, in bytes. Rows in other forms take about as much again. */
  maxSumBytes: number;
};
const LIMITS: MergeLimits = { maxRows: 3_000_000, rowsPerGroup: 20_000, maxSumBytes: 16_000_000 };

export type MonthPlace = CubePlace & { month: string };
export type MergingStores = CubeStores & { RAW_EVENTS: WritableBucket };

type PartToMerge = ListedPart & { rows: number };
type MonthInput = { parts: PartToMerge[]; file: (MonthFile & { rows: number }) | null; number: number };
/** What a merge wrote. */
type MergedMonth = Omit<typeof cubeMonths.$inferInsert, keyof MonthPlace>;

/**
 * Merges the parts of a month into an object in the bucket, with the object that the month has. Changes nothing if some of them were replaced
 * meanwhile. Returns whether it merged them. Work and memory are bounded: see `MergeLimits`.
 */
export async function mergeMonth(
  stores: MergingStores,
  place: MonthPlace,
  now: number,
  limits: Partial<MergeLimits> = {},
): Promise<boolean> {
  await loadParquet();
  const { maxRows, ...others } = { ...LIMITS, ...limits };
  const found = await findParts(stores.DB, place, maxRows);
  if (found.parts.length === 0) return false;
  const written = await writeMonth(stores, place, found, { now, ...others });
  await replaceParts(stores.DB, place, found, written);
  const [listed] = await database(stores.DB)
    .select({ version: cubeMonths.version })
    .from(cubeMonths)
    .where(and(...inMonth(cubeMonths, place), eq(cubeMonths.version, written.version)));
  return listed !== undefined;
}

const inMonth = (table: typeof cubeParts | typeof cubeMonths, place: MonthPlace): SQL[] => [
  eq(table.applicationId, place.applicationId),
  eq(table.rollup, place.rollup),
  eq(table.grain, place.grain),
  eq(table.month, place.month),
];

async function findParts(d1: D1Database, place: MonthPlace, maxRows: number): Promise<MonthInput> {
  const db = database(d1);
  const [last] = await db
    .select()
    .from(cubeMonths)
    .where(and(...inMonth(cubeMonths, place), isNull(cubeMonths.replacedAt)))
    .orderBy(desc(cubeMonths.number))
    .limit(1);
  const file = last && last.rows <= maxRows / 2 ? last : null;
  const all = await db
    .select({
      kind: sql<'part'>`'part'`,
      fromDay: cubeParts.fromDay,
      toDay: cubeParts.toDay,
      shard: cubeParts.shard,
      sequence: cubeParts.sequence,
      number: cubeParts.number,
      bytes: cubeParts.bytes,
      rows: cubeParts.rows,
    })
    .from(cubeParts)
    .where(and(...inMonth(cubeParts, place), isNull(cubeParts.replacedAt)))
    .orderBy(desc(cubeParts.toDay), cubeParts.shard, cubeParts.sequence, cubeParts.number);
  const parts: PartToMerge[] = [];
  let rows = file?.rows ?? 0;
  for (const part of all) {
    if (parts.length > 0 && rows + part.rows > maxRows) break;
    parts.push(part);
    rows += part.rows;
  }
  return { parts, file, number: file?.number ?? (last ? last.number + 1 : 1) };
}

type Making = Omit<MergeLimits, 'maxRows'> & { now: number };

async function writeMonth(
  stores: MergingStores,
  place: MonthPlace,
  found: MonthInput,
  making: Making,
): Promise<MergedMonth> {
  const wide = new Set<string>();
  const known = await findSumTypes(stores, place, found);
  const sumTypes = place.grain === PUBLISHED ? withAllSums(place.rollup, known) : known;
  for (;;) {
    const types = new Map(
      [...sumTypes].map(([name, type]) => [name, wide.has(name) ? 'INT64' : type] as const),
    );
    try {
      return await writeVersion(stores, place, found, types, making);
    } catch (error) {
      // Only now is it known that a sum of small ones is not small.
      if (!(error instanceof WideSumError) || wide.has(error.column)) throw error;
      wide.add(error.column);
    }
  }
}

const listedOf = ({ parts, file }: MonthInput): Listed[] => [
  ...parts,
  ...(file ? [{ kind: 'month' as const, ...file }] : []),
];

/** The columns that any of the files has. */
async function findSumTypes(
  { DB, RAW_EVENTS }: CubeStores,
  place: MonthPlace,
  { parts, file }: MonthInput,
): Promise<SumTypes> {
  const found = new Map<string, 'INT32' | 'INT64'>();
  const note = (types: SumTypes) => {
    for (const [name, type] of types) if (found.get(name) !== 'INT64') found.set(name, type);
  };
  if (file)
    note(sumTypesIn((await readFooter(RAW_EVENTS, { key: monthKey(place, file), ...file })).metadata));
  for (const page of pagesOf(parts)) {
    for (const text of (await readTexts(DB, place, page as PartToMerge[])).values())
      note(await sumTypesOfPart(text));
  }
  return found;
}

async function writeVersion(
  stores: MergingStores,
  place: MonthPlace,
  found: MonthInput,
  sumTypes: SumTypes,
  { now, rowsPerGroup, maxSumBytes }: Making,
): Promise<MergedMonth> {
  const { rollup, grain, month } = place;
  const { number } = found;
  const version = crypto.randomUUID();
  const object = new ObjectWriter(
    await loadParquet(),
    stores.RAW_EVENTS,
    monthKey(place, { month, number, version }),
  );
  const days = { fromDay: '9999-99-99', toDay: '' };
  let rows = 0;
  try {
    const file = beginFile(rollup, grain, { writer: object.writer, sumTypes, hasRanges: true });
    let group = new CubeColumns(rollup, grain);
    const close = async () => {
      const { fromDay, toDay } = group;
      if (fromDay < days.fromDay) days.fromDay = fromDay;
      if (toDay > days.toDay) days.toDay = toDay;
      rows += group.size;
      await file.write(group);
      group = new CubeColumns(rollup, grain);
    };
    const segments = new PartSegments();
    for await (const sums of mergeDays(stores, place, listedOf(found), segments, maxSumBytes)) {
      for (const cells = Array.from(sums.latestFirst()); cells.length > 0; ) {
        group.add(sums, cells.splice(0, rowsPerGroup - group.size), segments.segmentOf);
        if (group.size === rowsPerGroup) await close();
      }
    }
    if (group.size > 0) await close();
    await file.finish();
    return { number, version, ...days, rows, ...(await object.finish()), mergedAt: now };
  } catch (error) {
    await object.abort().catch(() => undefined);
    throw error;
  }
}

/** Changes nothing the second time, or if a part or the object is not in use any more. */
async function replaceParts(
  d1: D1Database,
  place: MonthPlace,
  { parts, file }: MonthInput,
  written: MergedMonth,
): Promise<void> {
  const { applicationId, rollup, grain, month } = place;
  const { toDay, shard, sequence, number } = cubeParts;
  const keys = JSON.stringify(parts.map((part) => [part.toDay, part.shard, part.sequence, part.number]));
  const isMerged = and(
    ...inMonth(cubeParts, place),
    isNull(cubeParts.replacedAt),
    sql`(${toDay}, ${shard}, ${sequence}, ${number})
      IN (SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(${keys}))`,
  );
  const inUse = and(
    ...inMonth(cubeMonths, place),
    eq(cubeMonths.number, written.number),
    isNull(cubeMonths.replacedAt),
  );
  const isComplete = sql`(SELECT count(*) FROM ${cubeParts} WHERE ${isMerged}) = ${parts.length}
    AND (SELECT max(${cubeMonths.version}) FROM ${cubeMonths} WHERE ${inUse}) IS ${file?.version ?? null}`;
  const isListed = sql`EXISTS (SELECT 1 FROM ${cubeMonths}
    WHERE ${and(...inMonth(cubeMonths, place), eq(cubeMonths.version, written.version))})`;
  const replaced = { replacedAt: written.mergedAt };
  const db = database(d1);
  await runBatch(db, () => [
    insertWhere(db, cubeMonths, { applicationId, rollup, grain, month, ...written }, isComplete),
    db
      .update(cubeMonths)
      .set(replaced)
      .where(and(inUse, eq(cubeMonths.version, file?.version ?? ''), isListed)),
    db.update(cubeParts).set(replaced).where(and(isMerged, isListed)),
  ]);
}
