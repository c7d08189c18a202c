import * as z from 'zod';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import {
  type CohortRows,
  cohortKeys,
  cohortRows,
  cutCohorts,
  intoCohorts,
  isOneOf,
  lastDayUntil,
} from './cohorts.ts';
import { deviceGroupBy } from './device-groups.ts';
import { bindFiltered } from './filters.ts';
import { type ActivityRow, cohortSize, retentionOf } from './metrics.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from './query.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: deviceGroupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/**
 * What was active on a day that is not among `days` is left out, and the last active days between two of them are put together: a
 * row for each day number and not for each age. `label` is made from `reads`.
 */
export function activitySql(
  label: string,
  reads: readonly string[],
  days: readonly number[],
  { table, conditions }: CohortRows,
): string {
  const stored = ['acquired_day', ...reads, 'asked'].join(', ');
  return `SELECT acquired_day AS acquiredDay, ${label} AS label, asked AS age, sum(active) AS active, sum(lastActive) AS lastActive
    FROM (SELECT acquired_day${reads.map((column) => `, ${column}`).join('')}, ${lastDayUntil('age', days)} AS asked,
        sum(iif(${isOneOf('age', days)}, active_devices, 0)) AS active, sum(last_active_devices) AS lastActive
      FROM ${table} WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3${conditions} GROUP BY ${stored})
    GROUP BY acquiredDay, label, asked ORDER BY acquiredDay, label, asked`;
}

/** The retention report: of the devices acquired in each cohort, how many came back on day N, and on day N or later. */
export async function reportRetention(
  db: D1Database,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const cut = await cutCohorts(db, application.id, query);
  const { acquired, reads } = cohortKeys(query, cut ? '?4' : undefined);
  // Day 0 is how many devices there are.
  const numbers = [0, ...query.days];
  const filters = filtersOf(query);
  const sql = activitySql(acquired, reads, numbers, cohortRows('cohort_activity', query, filters));
  const values = [application.id, query.from, query.to, ...(cut ? [cut.kept] : [])];
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
