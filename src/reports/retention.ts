import * as z from 'zod';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import { columnsOf, groupBy, groupingOf, intoCohorts } from './cohorts.ts';
import { type ActivityRow, cohortSize, retentionOf } from './metrics.ts';
import { checkPeriod, cohortPeriod, type Reported } from './query.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: groupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

export const activitySql = (label: string) =>
  `SELECT acquired_day AS acquiredDay, ${label} AS label, age, sum(active_devices) AS active,
     sum(last_active_devices) AS lastActive
   FROM cohort_activity WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3
   GROUP BY acquired_day, label, age ORDER BY acquired_day, label, age`;

/** The retention report: of the devices acquired in each cohort, how many came back on day N, and on day N or later. */
export async function reportRetention(
  db: D1Database,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const { results } = await db
    .prepare(activitySql(columnsOf(query.group_by).column))
    .bind(application.id, query.from, query.to)
    .all<ActivityRow & { label: string }>();
  const grouping = await groupingOf(db, application.id, query.group_by, results);
  const today = dayIn(application.timezone, now);
  const cohorts = intoCohorts(results, daysOf(query.from, query.to), query.cohort, grouping);
  return {
    data: cohorts
      .map(({ key, rows }) => ({
        ...key,
        size: cohortSize(rows),
        days: Object.fromEntries(query.days.map((day) => [String(day), retentionOf(rows, day, today)])),
      }))
      .filter(({ size }) => size > 0),
    timezone: application.timezone,
  };
}
