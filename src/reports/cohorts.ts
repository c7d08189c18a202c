import { mondayOf, monthOf, PART_OF, type Part } from '#lib/calendar';
import { cutKeySql, keySql, keyValues, NO_GROUP, OTHER, REST } from './cut.ts';
import { type Group, isOfCreatives } from './device-groups.ts';
import { isBySegment, mondaySql, monthSql } from './dimensions.ts';
import { rollupConditions, wholeTable } from './filters.ts';
import { COST_NAMES, CREATIVE_NAMES, namedColumns } from './names.ts';
import type { ReportFilters } from './query.ts';

export type Cohort = Part;

/** How devices are put into cohorts. */
export type CohortGrouping = { cohort: Cohort; group_by?: Group | undefined };

/** Costs name campaigns, ad sets and creatives, so spend is unknown for any other grouping. */
export const knowsSpend = ({ group_by: group }: CohortGrouping, filters: ReportFilters): boolean =>
  !isBySegment(filters) && (!group || isOfCreatives(group));

/** The cohort table that SQL reads, and the conditions on its rows. */
export type CohortRows = { table: string; conditions: string };

/** The cohort table with the filters applied, for cohorts that need no segments. */
export const cohortRows = (
  table: 'cohort_activity' | 'cohort_revenue',
  { group_by: group }: CohortGrouping,
  filters: ReportFilters,
): CohortRows => ({
  table: wholeTable(table, group !== undefined, filters),
  conditions: rollupConditions(filters),
});

/** Whether the cohort tables have to be read by segment, with `scanCohorts` instead of SQL. */
export const needsCohortSegments = ({ group_by: group }: CohortGrouping, filters: ReportFilters): boolean =>
  isBySegment(filters) || (group !== undefined && !isOfCreatives(group));

const PART_SQL: Record<Cohort, (day: string) => string> = {
  day: String,
  week: mondaySql,
  month: monthSql,
  all: () => "''",
};

// The day numbers are validated integers, so they are safe in SQL text. A list in a parameter would be scanned for each row.

const sorted = (days: readonly number[]) => [...new Set(days)].sort((left, right) => left - right);

/** SQL for the largest of these day numbers that is at most `age`; null if there is none. */
export const lastDayUntil = (age: string, days: readonly number[]): string =>
  `CASE ${sorted(days)
    .reverse()
    .map((day) => `WHEN ${age} >= ${day} THEN ${day}`)
    .join(' ')} END`;

/** SQL for the smallest of these day numbers that is at least `age`; null if there is none. */
export const firstDayFrom = (age: string, days: readonly number[]): string =>
  `CASE ${sorted(days)
    .map((day) => `WHEN ${age} <= ${day} THEN ${day}`)
    .join(' ')} END`;

export const isOneOf = (age: string, days: readonly number[]): string =>
  `${age} IN (${sorted(days).join(', ')})`;

/** Computes the same as `PART_SQL` for a day. */
const KEY_PART: Record<Cohort, (day: string) => string> = {
  day: String,
  week: mondayOf,
  month: monthOf,
  all: () => '',
};
export const keyPartOf = (cohort: Cohort) => KEY_PART[cohort];

/**
 * SQL for the key of a row's cohort, for the cohort tables (`acquired`) and for `costs` (`cost`). With a cut, `kept` is the parameter
 * that lists the cohorts with a row of their own; all others have the key `REST`. `reads` are the columns that `acquired` uses besides
 * the acquisition day.
 */
export function cohortKeys({ cohort, group_by: group }: CohortGrouping, kept?: string) {
  const keyOf = (day: string, column: string) => {
    const key = keySql([PART_SQL[cohort](day), column]);
    return kept ? cutKeySql(key, kept) : key;
  };
  if (!group) return { acquired: keyOf('acquired_day', "''"), cost: keyOf('day', "''"), reads: [] };
  if (!isOfCreatives(group)) throw new Error('Cohorts by segment have no key in SQL');
  const acquired = keyOf('acquired_day', CREATIVE_NAMES[group]);
  const cost = COST_NAMES[group];
  return {
    acquired,
    cost: `CASE WHEN (${cost}) = '' THEN '${NO_GROUP}' ELSE ${keyOf('day', cost)} END`,
    reads: ['creative_id'],
  };
}

/** The columns that name a row's cohort. `cohort_from` and `cohort_to` are its first and last acquisition day within the period. */
export type CohortKey = { cohort_from: string; cohort_to: string; is_other?: true } & Record<
  string,
  string | null | true
>;

/**
 * Groups rows of acquisition days into cohorts, ordered by time and then by the order of the rows. The cohort of everything without a
 * row of its own comes last.
 */
export function intoCohorts<Row extends { acquiredDay: string; label: string }>(
  rows: readonly Row[],
  days: readonly string[],
  { cohort, group_by: group }: CohortGrouping,
): { key: CohortKey; rows: Row[] }[] {
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of days) {
    const part = PART_OF[cohort](day);
    bounds.set(part, { cohort_from: bounds.get(part)?.cohort_from ?? day, cohort_to: day });
  }
  const cohorts = new Map<string, { key: CohortKey; rows: Row[] }>();
  const rest: Row[] = [];
  for (const row of rows) {
    if (row.label === REST) rest.push(row);
    const bound = bounds.get(PART_OF[cohort](row.acquiredDay));
    if (!bound || row.label === REST || row.label === NO_GROUP) continue;
    const found = cohorts.get(row.label) ?? { key: { ...bound, ...shownOf(row.label, group) }, rows: [] };
    found.rows.push(row);
    cohorts.set(row.label, found);
  }
  const sorted = [...cohorts.values()].sort(({ key: left }, { key: right }) =>
    left.cohort_from < right.cohort_from ? -1 : Number(left.cohort_from > right.cohort_from),
  );
  return rest.length === 0 ? sorted : [...sorted, { key: restKey(rest, group), rows: rest }];
}

function shownOf(label: string, group: Group | undefined): Record<string, string | null> {
  const [, value = null] = keyValues(label);
  if (!group) return { creative: null, creative_id: null };
  return isOfCreatives(group) ? namedColumns(group, value) : { [group]: value };
}

function restKey(rows: readonly { acquiredDay: string }[], group: Group = 'creative'): CohortKey {
  const days = rows.map(({ acquiredDay }) => acquiredDay).sort();
  const [first = ''] = days;
  return {
    cohort_from: first,
    cohort_to: days.at(-1) ?? first,
    [group]: OTHER,
    ...(isOfCreatives(group) ? { [`${group}_id`]: null } : {}),
    is_other: true,
  };
}
