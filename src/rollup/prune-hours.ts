import { and, inArray, lt, sql } from 'drizzle-orm';
import { HOURS_KEPT_DAYS } from '#catalogue';
import { applications, columnList, database, retryTransient, rollupHours } from '#db';
import { addDays, dayIn } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;

/**
 * Deletes figures by hour that reports no longer read; the figures by day are kept. Deletes at most 1,000 rows per call: the cron calls it every
 * minute, and the next call continues.
 */
export async function pruneHours(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { applicationId, day, creativeId, currency } = rollupHours;
  // Somewhere it is still the day before UTC's today.
  const firstKept = addDays(dayIn('UTC', now), -HOURS_KEPT_DAYS - 1);
  // Per application, so that the primary key finds the oldest days.
  const old = db
    .select({ applicationId, day, creativeId, currency })
    .from(rollupHours)
    .where(
      and(inArray(applicationId, db.select({ id: applications.id }).from(applications)), lt(day, firstKept)),
    )
    .limit(PRUNED_AT_ONCE);
  const key = columnList([applicationId, day, creativeId, currency]);
  await retryTransient(() => db.delete(rollupHours).where(sql`(${key}) IN ${old}`).run());
}
