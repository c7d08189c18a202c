import { and, inArray, lt, sql } from 'drizzle-orm';
import { HOURS_KEPT_DAYS } from '#catalogue';
import { applications, columnList, database, retryTransient, rollupHours } from '#db';
import { addDays, dayIn } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;

/**
 * Forgets figures by hour that no report reads any more; the figures of their days stay. At most 1,000 rows a call: the cron calls
 * it every minute, and whatever is left goes then.
 */
export async function pruneHours(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { applicationId, day, creativeId, currency } = rollupHours;
  // Somewhere it is still the day before today in UTC.
  const firstKept = addDays(dayIn('UTC', now), -HOURS_KEPT_DAYS - 1);
  // Application by application, so that the primary key finds the oldest days.
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
