import { daysOf, PART_OF, type Part } from '#lib/calendar';
import type { DeviceGrouping } from '../device-groups.ts';
import { otherColumns, REPORT_DIMENSIONS } from '../dimensions.ts';
import type { ReportFilters } from '../query.ts';

type Cohort = Part;

/** How devices are put into cohorts. */
type CohortGrouping = { cohort: Cohort; group_by?: DeviceGrouping | undefined };

/** The cohorts of a report: the latest `limit` of those acquired in the period, then the largest. */
export type CohortQuestion = CohortGrouping & {
  from: string;
  to: string;
  limit: number;
  /** Day numbers since acquisition. */
  days: readonly number[];
  filters: ReportFilters;
  /** The application's. Day N of a cohort counts once it is over. */
  today: string;
};

/** The columns that name a row's cohort. `cohort_from` and `cohort_to` are its first and last acquisition day within the period. */
export type CohortKey = { cohort_from: string; cohort_to: string; is_other?: true } & Record<
  string,
  string | null | true
>;

/** The first and last day within the period of each day, week or month, by its label. */
export function boundsWithin({
  cohort,
  from,
  to,
}: Pick<CohortQuestion, 'cohort' | 'from' | 'to'>): Map<string, { cohort_from: string; cohort_to: string }> {
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of daysOf(from, to)) {
    const part = PART_OF[cohort](day);
    bounds.set(part, { cohort_from: bounds.get(part)?.cohort_from ?? day, cohort_to: day });
  }
  return bounds;
}

/** The columns of the value that a cohort is grouped by. */
export function groupColumns(
  group: DeviceGrouping | undefined,
  value: string | null,
): Record<string, string | null> {
  if (!group) return { creative: null, creative_id: null };
  return REPORT_DIMENSIONS[group].show(value);
}

/** The columns of the row that sums up all cohorts without a row, acquired on these days. */
export const restKey = (first: string, last: string, group: DeviceGrouping = 'creative'): CohortKey => ({
  cohort_from: first,
  cohort_to: last,
  ...otherColumns(group),
});
