import * as z from 'zod';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { cutCohorts } from './cohort-cut.ts';
import { getOrMake, scanCohorts } from './cohort-segments.ts';
import {
  type CohortRows,
  cohortKeys,
  cohortRows,
  intoCohorts,
  isOneOf,
  lastDayUntil,
  needsCohortSegments,
} from './cohorts.ts';
import type { Cut } from './cut.ts';
import { deviceGroupBy } from './device-groups.ts';
import { bindFiltered } from './filters.ts';
import { type ActivityRow, cohortSize, retentionOf } from './metrics.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported, type ReportFilters } from './query.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: deviceGroupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/**
 * Returns one row per requested day number instead of one per age: activity on other days is left out, and last active days are added
 * to the previous day number. `label` is SQL over the acquisition day and `reads`.
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

type LabelledRow = ActivityRow & { label: string };
type Asked = { query: RetentionQuery; numbers: readonly number[]; cut: Cut | null };

async function readActivity(
  db: D1Database,
  applicationId: string,
  { query, numbers, cut }: Asked,
): Promise<LabelledRow[]> {
  const filters = filtersOf(query);
  if (needsCohortSegments(query, filters)) {
    return readSegmentedActivity(db, applicationId, { query, numbers, cut }, filters);
  }
  const { acquired, reads } = cohortKeys(query, cut ? '?4' : undefined);
  const sql = activitySql(acquired, reads, numbers, cohortRows('cohort_activity', query, filters));
  const values = [applicationId, query.from, query.to, ...(cut ? [cut.kept] : [])];
  return (await bindFiltered(db, sql, values, filters).all<LabelledRow>()).results;
}

/** The rows of `activitySql`, by segment. */
async function readSegmentedActivity(
  db: D1Database,
  applicationId: string,
  { query, numbers, cut }: Asked,
  filters: ReportFilters,
): Promise<LabelledRow[]> {
  type Place = { acquiredDay: string; age: number; isAsked: boolean; rows: Map<string, LabelledRow> };
  const places = new Map<string, Map<string, LabelledRow>>();
  const descending = [...numbers].sort((left, right) => right - left);
  const columns = sumColumnsOf('cohort_activity');
  const [activeAt, lastAt] = [columns.indexOf('active_devices'), columns.indexOf('last_active_devices')];
  await scanCohorts<Place>(
    db,
    { applicationId, rollup: 'cohort_activity', query, filters, cut },
    {
      placeOf: (key) => {
        const [acquiredDay, own] = [key('acquired_day'), Number(key('age'))];
        const age = descending.find((number) => number <= own) ?? 0;
        const rows = getOrMake(places, `${acquiredDay}/${age}`, () => new Map<string, LabelledRow>());
        return { acquiredDay, age, isAsked: age === own, rows };
      },
      add: ({ acquiredDay, age, isAsked, rows }, label, sums) => {
        const row = getOrMake(rows, label, () => ({ acquiredDay, label, age, active: 0, lastActive: 0 }));
        if (isAsked) row.active += sums[activeAt] ?? 0;
        row.lastActive += sums[lastAt] ?? 0;
      },
    },
  );
  return [...places.values()].flatMap((rows) => [...rows.values()]);
}

/** The retention report: how many devices of each cohort came back on day N (classic), and on day N or later (rolling). */
export async function reportRetention(
  db: D1Database,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const cut = await cutCohorts(db, application.id, query);
  // Day 0 gives the number of devices.
  const numbers = [...new Set([0, ...query.days])];
  const results = await readActivity(db, application.id, { query, numbers, cut });
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
