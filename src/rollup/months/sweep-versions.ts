import { and, eq, lt } from 'drizzle-orm';
import { cubeMonths, database } from '#db';
import { DAY_MS } from '#lib/time';
import { versionsPrefix } from './month-file.ts';

/** D1 can be restored to any time of the last 30 days, and no snapshot is kept for longer unless newer ones fail. */
const KEPT_MS = 35 * DAY_MS;

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
  let cursor: string | undefined;
  do {
    const page = await RAW_EVENTS.list({
      prefix: versionsPrefix(applicationId),
      ...(cursor ? { cursor } : {}),
    });
    const old = page.objects.filter(
      ({ key, uploaded }) =>
        uploaded.getTime() < before && !listed.has(key.slice(-'.parquet'.length - 36, -'.parquet'.length)),
    );
    if (old.length > 0) await RAW_EVENTS.delete(old.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
}
