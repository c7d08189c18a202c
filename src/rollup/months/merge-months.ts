import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { cubeMonths, cubeParts, database, HOT_DAYS, MAX_HOT_BYTES, retryTransient } from '#db';
import { DAY_MS, dayIn } from '#lib/time';
import { REPLACED_FOR_MS } from '../cube/compact.ts';
import { isKnownPlace } from '../cube/grains.ts';
import { type MonthPlace, mergeMonth } from './merge-month.ts';
import { publishMonths } from './publish-months.ts';
import { sweepVersions } from './sweep-versions.ts';

/** Late events of a month that was merged wait this long for the next merge, unless they are as large as the month. */
const MERGED_EVERY_MS = 30 * DAY_MS;
/** No merge is begun after this time, nor after so many: an invocation has 1,000 statements. */
const MAX_BEGIN_MS = 60_000;
const MAX_MERGES = 60;
/** Each may have 80 KB. */
const DELETED_AT_ONCE = 500;

type Due = MonthPlace & { bytes: number };

/**
 * Merges what the database has of the cube: of months that ended more than 27 days ago everything, of recent ones what is large, however much
 * the month has in R2: a merge reads no more than its last object. Does as much as one run can; the next one continues. A month that cannot be merged holds up no other. Throws the first error at the end.
 */
export async function mergeMonths(
  stores: Pick<Env, 'DB' | 'RAW_EVENTS'>,
  now: number,
  { maxMerges = MAX_MERGES, mergedAtOnceBytes = MAX_HOT_BYTES } = {},
): Promise<void> {
  const startedAt = Date.now();
  const isTimeLeft = () => Date.now() - startedAt < MAX_BEGIN_MS;
  const errors: unknown[] = [];
  const run = async (work: () => Promise<unknown>) => {
    await work().catch((error) => errors.push(error));
  };
  await run(() => deleteReplacedParts(stores.DB, now));
  const touched = new Set<string>();
  const due = await placesToMerge(stores.DB, now, mergedAtOnceBytes);
  for (const place of due.slice(0, maxMerges)) {
    if (!isTimeLeft()) break;
    await run(async () => {
      if (await mergeMonth(stores, place, now)) touched.add(place.applicationId);
    });
  }
  await run(() => publishMonths(stores, now, firstHotMonth(now)));
  for (const applicationId of touched) await run(() => sweepVersions(stores, applicationId, now));
  if (errors.length > 0) throw errors[0];
}

/** The first month that is not over for long enough. A month is over everywhere one day after it is over in UTC. */
const firstHotMonth = (now: number): string =>
  dayIn('UTC', now - (HOT_DAYS + 1) * DAY_MS).slice(0, 'YYYY-MM'.length);

/** The months that have enough parts in the database, those with the most text first. */
async function placesToMerge(d1: D1Database, now: number, mergedAtOnceBytes: number): Promise<Due[]> {
  const firstHot = firstHotMonth(now);
  const { applicationId, rollup, grain, month, bytes } = cubeParts;
  const places = await database(d1).all<Due>(
    sql`SELECT due.* FROM (
        SELECT ${applicationId} AS applicationId, ${rollup} AS rollup, ${grain} AS grain, ${month} AS month, sum(${bytes}) AS bytes
          FROM ${cubeParts} WHERE ${cubeParts.replacedAt} IS NULL AND ${rollup} <> 'rollup_hours' GROUP BY 1, 2, 3, 4
      ) AS due LEFT JOIN (
        SELECT ${cubeMonths.applicationId} AS applicationId, ${cubeMonths.rollup} AS rollup, ${cubeMonths.grain} AS grain,
            ${cubeMonths.month} AS month, sum(${cubeMonths.bytes}) AS bytes, max(${cubeMonths.mergedAt}) AS mergedAt
          FROM ${cubeMonths} WHERE ${cubeMonths.replacedAt} IS NULL GROUP BY 1, 2, 3, 4
      ) AS merged USING (applicationId, rollup, grain, month)
      WHERE (due.month < ${firstHot} OR due.bytes >= ${MAX_HOT_BYTES})
        AND (merged.bytes IS NULL OR due.bytes >= min(merged.bytes, ${mergedAtOnceBytes})
          OR (due.month < ${firstHot} AND merged.mergedAt < ${now - MERGED_EVERY_MS}))
      ORDER BY due.bytes DESC`,
  );
  return places.filter(isKnownPlace);
}

/** Counters delete what they replaced when they compact again, which may be never. */
async function deleteReplacedParts(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const old = db
    .select({ id: sql`rowid` })
    .from(cubeParts)
    .where(and(isNotNull(cubeParts.replacedAt), lt(cubeParts.replacedAt, now - REPLACED_FOR_MS)))
    .limit(DELETED_AT_ONCE);
  for (;;) {
    const { meta } = await retryTransient(() => db.delete(cubeParts).where(sql`rowid IN ${old}`).run());
    if (meta.changes < DELETED_AT_ONCE) return;
  }
}

/** Identifies the months of an application that are in use. It changes with every merge. */
export async function monthVersions(d1: D1Database, applicationId: string): Promise<string> {
  const rows = await database(d1)
    .select({ version: cubeMonths.version })
    .from(cubeMonths)
    .where(and(eq(cubeMonths.applicationId, applicationId), isNull(cubeMonths.replacedAt)));
  return rows
    .map(({ version }) => version)
    .sort()
    .join();
}
