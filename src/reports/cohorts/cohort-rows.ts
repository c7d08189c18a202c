import { daysOf, PART_OF, type Part } from '#lib/calendar';
import type { DayRange } from '#lib/time';
import { otherColumns, REPORT_DIMENSIONS } from '../dimensions.ts';
import { REST_ROW } from './cohort-places.ts';
import type { CohortQuestion, ReadCohorts } from './cohort-scan.ts';

/** The columns that name a row's cohort. `cohort_from` and `cohort_to` are its first and last acquisition day within the period. */
export type CohortKey = { cohort_from: string; cohort_to: string; is_other?: true } & Record<
  string,
  string | null | true
>;

/** The first and last day within a period of each day, week or month, by its label. */
export function boundsWithin(
  cohort: Part,
  { from, to }: DayRange,
): Map<string, { cohort_from: string; cohort_to: string }> {
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of daysOf(from, to)) {
    const part = PART_OF[cohort](day);
    bounds.set(part, { cohort_from: bounds.get(part)?.cohort_from ?? day, cohort_to: day });
  }
  return bounds;
}

/** The rows of a report by cohort: earliest cohort first, in each part the largest first, and last what was cut off, which has no `values`. */
export function rowsOf(
  { ranked, activity, restDays }: ReadCohorts,
  asked: CohortQuestion,
): { key: CohortKey; values: readonly (string | null)[] | null; row: number }[] {
  const { cohort, group_by: group = 'creative', from, to } = asked;
  const bounds = boundsWithin(cohort, asked);
  const shown = ranked.map((values, index) => ({
    key: {
      ...(bounds.get(PART_OF[cohort](values[0] ?? '')) ?? { cohort_from: from, cohort_to: to }),
      ...REPORT_DIMENSIONS[group].show(asked.group_by ? (values.at(-1) ?? null) : null),
    },
    values,
    row: index + 1,
  }));
  shown.sort(({ key: left }, { key: right }) => {
    if (left.cohort_from === right.cohort_from) return 0;
    return left.cohort_from < right.cohort_from ? -1 : 1;
  });
  // Cohorts without devices are part of it, too: alone, they are no row.
  if (restDays === null || (activity.sizes[REST_ROW] ?? 0) <= 0) return shown;
  const rest = { cohort_from: restDays.first, cohort_to: restDays.last, ...otherColumns(group) };
  return [...shown, { key: rest, values: null, row: REST_ROW }];
}

/** A table within a row, by day number. */
export const tableOf = <Day>(days: readonly number[], dayOf: (number: number) => Day): Record<string, Day> =>
  Object.fromEntries(days.map((number) => [String(number), dayOf(number)]));

/** All devices of a period together, for the totals of a report. */
export const ONE_COHORT = { cohort: 'all', group_by: undefined } as const;
export const isOneCohort = ({ cohort, group_by }: Pick<CohortQuestion, 'cohort' | 'group_by'>): boolean =>
  cohort === 'all' && group_by === undefined;

/** What a row has besides its name. */
export function withoutKey<Row extends { key: CohortKey }>({ key: _, ...figures }: Row): Omit<Row, 'key'> {
  return figures;
}
