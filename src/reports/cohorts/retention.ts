import * as z from 'zod';
import { per } from '#catalogue';
import { dayIn } from '#lib/time';
import type { CubeStores } from '#rollup';
import { deviceGroupBy } from '../device-groups.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from '../query.ts';
import { rowsOf, tableOf } from './cohort-rows.ts';
import { readCohorts } from './cohort-scan.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: deviceGroupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/** The retention report: how many devices of each cohort came back on day N (classic), and on day N or later (rolling). */
export async function reportRetention(
  stores: CubeStores,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const asked = { ...query, filters: filtersOf(query), today: dayIn(application.timezone, now) };
  const cohorts = await readCohorts(stores, application.id, asked);
  const { activity } = cohorts;
  const data = rowsOf(cohorts, asked).map(({ key, row }) => {
    const size = activity.sizes[row] ?? 0;
    const dayOf = (number: number) => {
      const { eligible, active, later } = activity.of(row, number);
      const complete = eligible === size;
      return { eligible, complete, active, classic: per(active, eligible), rolling: per(later, eligible) };
    };
    return { ...key, size, days: tableOf(query.days, dayOf) };
  });
  return { data, total_rows: cohorts.total, timezone: application.timezone };
}
