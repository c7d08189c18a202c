import * as z from 'zod';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import { type CohortRows, cohortKeys, cohortRows, cutCohorts, intoCohorts } from './cohorts.ts';
import { deviceGroupBy } from './device-groups.ts';
import { bindFiltered } from './filters.ts';
import { type ActivityRow, cohortSize, retentionOf } from './metrics.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from './query.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: deviceGroupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/**
 * ?4 the day numbers: what was active on another is left out, and the last active days between two of them are put together, so
 * that there is a row for each day number and not for each age.
 */
export const activitySql = (label: string, { table, conditions }: CohortRows) =>
  `SELECT acquiredDay, label, asked.day AS age, sum(iif(age = asked.day, active, 0)) AS active, sum(lastActive) AS lastActive
   FROM (SELECT acquired_day AS acquiredDay, ${label} AS label, age, active_devices AS active,
           last_active_devices AS lastActive,
           (SELECT max(number.value) FROM json_each(?4) AS number WHERE number.value <= age) AS day
         FROM ${table} WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3${conditions}) AS asked
   GROUP BY acquiredDay, label, asked.day ORDER BY acquiredDay, label, asked.day`;

/** The retention report: of the devices acquired in each cohort, how many came back on day N, and on day N or later. */
export async function reportRetention(
  db: D1Database,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const cut = await cutCohorts(db, application.id, query);
  const { acquired } = cohortKeys(query, cut ? '?5' : undefined);
  // Day 0 is how many devices there are.
  const numbers = JSON.stringify([...new Set([0, ...query.days])]);
  const filters = filtersOf(query);
  const sql = activitySql(acquired, cohortRows('cohort_activity', query, filters));
  const values = [application.id, query.from, query.to, numbers, ...(cut ? [cut.kept] : [])];
  const { results } = await bindFiltered(db, sql, values, filters).all<ActivityRow & { label: string }>();
  const today = dayIn(application.timezone, now);
  const cohorts = intoCohorts(results, daysOf(query.from, query.to), query);
  const data = cohorts
    .map(({ key, rows }) => ({
      ...key,
      size: cohortSize(rows),
      days: Object.fromEntries(query.days.map((day) => [String(day), retentionOf(rows, day, today)])),
    }))
    .filter(({ size }) => size > 0);
  return { data, total_rows: cut?.total ?? data.length, timezone: application.timezone };
}
