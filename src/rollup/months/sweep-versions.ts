import { and, eq, lt } from 'drizzle-orm';
import { cubeMonths, database } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { listObjects } from '#lib/input/list-objects';
import { DAY_MS } from '#lib/time';
import { versionsPrefix } from '../cube/month-file.ts';

/** D1 can be restored to any time of the last 30 days, and no snapshot is kept for longer unless newer ones fail. */
const KEPT_MS = 35 * DAY_MS;
/** R2 deletes at most as many. */
const DELETED_AT_ONCE = 1_000;

/**
 * Deletes the versions of an application's months that were replaced long ago, and those that a merge wrote and never listed. Idempotent.
 */
export async function sweepVersions(
  { DB, RAW_EVENTS }: { DB: D1Database; RAW_EVENTS: Pick<R2Bucket, 'list' | 'delete'> },
  applicationId: string,
  now: number,
): Promise<void> {
  const db = database(DB);
  const own = eq(cubeMonths.applicationId, applicationId);
  const before = now - KEPT_MS;
  await db.delete(cubeMonths).where(and(own, lt(cubeMonths.replacedAt, before)));
  const rows = await db.select({ version: cubeMonths.version }).from(cubeMonths).where(own);
  const listed = new Set(rows.map(({ version }) => version));
  const old: string[] = [];
  for await (const { key, uploaded } of listObjects(RAW_EVENTS, versionsPrefix(applicationId))) {
    const version = key.slice(-'.parquet'.length - 36, -'.parquet'.length);
    if (uploaded.getTime() < before && !listed.has(version)) old.push(key);
  }
  for (const keys of chunksOf(old, DELETED_AT_ONCE)) await RAW_EVENTS.delete(keys);
}
