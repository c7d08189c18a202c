import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { HOURS_KEPT_DAYS } from '#catalogue';
import { applications, cubeParts, database, retryTransient } from '#db';
import { addDays, dayIn } from '#lib/time';
import { grainsOf } from './grains.ts';

const PRUNED_AT_ONCE = 1_000;

/**
 * Deletes parts with figures by hour that no report reads any longer; the figures by day are kept. A part goes once all of its days may go. Deletes
 * at most 1,000 parts per call: the cron calls it every minute, and the next call continues.
 */
export async function pruneHours(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  // Somewhere it is still the day before UTC's today.
  const firstKept = addDays(dayIn('UTC', now), -HOURS_KEPT_DAYS - 1);
  const old = db
    .select({ id: sql`${cubeParts}.rowid` })
    .from(cubeParts)
    .where(
      and(
        // By application, so that the primary key finds the oldest days.
        inArray(cubeParts.applicationId, db.select({ id: applications.id }).from(applications)),
        eq(cubeParts.rollup, 'rollup_hours'),
        inArray(cubeParts.grain, [...grainsOf('rollup_hours')]),
        lt(cubeParts.toDay, firstKept),
      ),
    )
    .limit(PRUNED_AT_ONCE);
  await retryTransient(() => db.delete(cubeParts).where(sql`rowid IN ${old}`).run());
}
