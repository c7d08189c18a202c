import * as z from 'zod';
import { per } from '#catalogue';
import { PART_OF } from '#lib/calendar';
import { dayIn } from '#lib/time';
import type { CubeStores } from '#rollup';
import { deviceGroupBy } from '../device-groups.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from '../query.ts';
import { REST_ROW } from './cohort-places.ts';
import { type ReadCohorts, readCohorts } from './cohort-scan.ts';
import { boundsWithin, type CohortKey, type CohortQuestion, groupColumns, restKey } from './cohorts.ts';

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
    return { ...key, size, days: daysOf(query.days, dayOf) };
  });
  return { data, total_rows: cohorts.total, timezone: application.timezone };
}

/** A table within a row, by day number. */
export const daysOf = <Day>(days: readonly number[], dayOf: (number: number) => Day): Record<string, Day> =>
  Object.fromEntries(days.map((number) => [String(number), dayOf(number)]));

/** The rows of a report by cohort: earliest cohort first, in each part the largest first, and last what was cut off. */
export function rowsOf(
  { ranked, activity, restDays }: ReadCohorts,
  asked: CohortQuestion,
): { key: CohortKey; row: number }[] {
  const bounds = boundsWithin(asked);
  const { cohort, group_by: group } = asked;
  const shown = ranked.map((values, index) => ({
    key: {
      ...(bounds.get(PART_OF[cohort](values[0] ?? '')) ?? { cohort_from: asked.from, cohort_to: asked.to }),
      ...groupColumns(group, group ? (values.at(-1) ?? null) : null),
    },
    row: index + 1,
  }));
  shown.sort(({ key: left }, { key: right }) => {
    if (left.cohort_from === right.cohort_from) return 0;
    return left.cohort_from < right.cohort_from ? -1 : 1;
  });
  // Cohorts without devices are part of it, too: alone, they are no row.
  if (restDays === null || (activity.sizes[REST_ROW] ?? 0) <= 0) return shown;
  return [...shown, { key: restKey(restDays.first, restDays.last, asked.group_by), row: REST_ROW }];
}
