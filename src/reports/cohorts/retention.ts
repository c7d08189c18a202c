import * as z from 'zod';
import { per } from '#catalogue';
import { dayIn } from '#lib/time';
import type { CubeStores } from '#rollup';
import { deviceGroupBy } from '../device-groups.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from '../query.ts';
import { isOneCohort, ONE_COHORT, rowsOf, tableOf, withoutKey } from './cohort-rows.ts';
import { type CohortQuestion, readCohorts } from './cohort-scan.ts';

export const RetentionQuery = z.object({ ...cohortPeriod, group_by: deviceGroupBy }).superRefine(checkPeriod);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/**
 * The retention report: how many devices of each cohort came back on day N (classic), and on day N or later (rolling). `totals` are all devices
 * of the period.
 */
export async function reportRetention(
  stores: CubeStores,
  application: Reported,
  query: RetentionQuery,
  now: number,
) {
  const asked = { ...query, filters: filtersOf(query), today: dayIn(application.timezone, now) };
  const { rows, total_rows } = await readRows(stores, application, asked);
  const [totals] = isOneCohort(asked)
    ? rows
    : (await readRows(stores, application, { ...asked, ...ONE_COHORT })).rows;
  return {
    data: rows.map(({ key, ...figures }) => ({ ...key, ...figures })),
    total_rows,
    totals: totals ? withoutKey(totals) : { size: 0, days: tableOf(query.days, () => NO_DEVICES) },
    timezone: application.timezone,
  };
}

const NO_DEVICES = { eligible: 0, complete: true, active: 0, classic: null, rolling: null };

async function readRows(stores: CubeStores, application: Reported, asked: CohortQuestion) {
  const cohorts = await readCohorts(stores, application.id, asked);
  const { activity } = cohorts;
  const rows = rowsOf(cohorts, asked).map(({ key, row }) => {
    const size = activity.sizes[row] ?? 0;
    const dayOf = (number: number) => {
      const { eligible, active, later } = activity.of(row, number);
      const complete = eligible === size;
      return { eligible, complete, active, classic: per(active, eligible), rolling: per(later, eligible) };
    };
    return { key, size, days: tableOf(asked.days, dayOf) };
  });
  return { rows, total_rows: cohorts.total };
}
