import { PART_OF, type Part } from '#lib/calendar';
import { daysBetween } from '#lib/time';
import { type Cut, cutAfter, cutKeySql, keySql, keyValues, NO_GROUP, OTHER, REST } from './cut.ts';
import { type Group, isOfCreatives } from './device-groups.ts';
import { isBySegment, mondaySql, monthSql } from './dimensions.ts';
import { bindFiltered, rollupConditions, segmentedTable, wholeTable } from './filters.ts';
import { COST_NAMES, CREATIVE_NAMES, namedColumns } from './names.ts';
import { filtersOf, type ReportFilters } from './query.ts';

export type Cohort = Part;

/** How devices are put into cohorts. */
export type Grouping = { cohort: Cohort; group_by?: Group | undefined };

/** Costs name campaigns, ad sets and creatives, so spend is unknown for any other grouping. */
export const knowsSpend = ({ group_by: group }: Grouping, filters: ReportFilters): boolean =>
  !isBySegment(filters) && (!group || isOfCreatives(group));

/** A cohort table as SQL reads it, and the conditions on its rows. */
export type CohortRows = { table: string; conditions: string };

/** The cohort table with the filters applied, by segment where a grouping or a filter needs it. */
export function cohortRows(
  table: 'cohort_activity' | 'cohort_revenue',
  { group_by: group }: Grouping,
  filters: ReportFilters,
): CohortRows {
  const segmented = isBySegment(filters) || (group !== undefined && !isOfCreatives(group));
  return {
    table: segmented
      ? segmentedTable(table, 'acquired_day')
      : wholeTable(table, group !== undefined && isOfCreatives(group), filters),
    conditions: rollupConditions(filters),
  };
}

const PART_SQL: Record<Cohort, (day: string) => string> = {
  day: String,
  week: mondaySql,
  month: monthSql,
  all: () => "''",
};

// Day numbers are checked to be whole numbers, so they may stand in the text: a list in a parameter would be gone through for each row.

const sorted = (days: readonly number[]) => [...new Set(days)].sort((left, right) => left - right);

/** SQL for the last of these day numbers that is not after `age`; null where all of them are. */
export const lastDayUntil = (age: string, days: readonly number[]): string =>
  `CASE ${sorted(days)
    .reverse()
    .map((day) => `WHEN ${age} >= ${day} THEN ${day}`)
    .join(' ')} END`;

/** SQL for the first of these day numbers that is not before `age`; null where all of them are. */
export const firstDayFrom = (age: string, days: readonly number[]): string =>
  `CASE ${sorted(days)
    .map((day) => `WHEN ${age} <= ${day} THEN ${day}`)
    .join(' ')} END`;

export const isOneOf = (age: string, days: readonly number[]): string =>
  `${age} IN (${sorted(days).join(', ')})`;

/**
 * SQL for the key of a row's cohort, over the cohort tables and over `costs`. Where there is a cut, `kept` names the parameter
 * that lists the cohorts with a row of their own, and the others' key is `REST`. `reads` are the columns that `acquired` is made
 * from, besides the day of acquisition.
 */
export function cohortKeys({ cohort, group_by: group }: Grouping, kept?: string) {
  const keyOf = (day: string, column: string) => {
    const key = keySql([PART_SQL[cohort](day), column]);
    return kept ? cutKeySql(key, kept) : key;
  };
  if (!group) return { acquired: keyOf('acquired_day', "''"), cost: keyOf('day', "''"), reads: [] };
  if (!isOfCreatives(group)) {
    return { acquired: keyOf('acquired_day', group), cost: `'${NO_GROUP}'`, reads: [group] };
  }
  const acquired = keyOf('acquired_day', CREATIVE_NAMES[group]);
  const cost = COST_NAMES[group];
  return {
    acquired,
    cost: `CASE WHEN (${cost}) = '' THEN '${NO_GROUP}' ELSE ${keyOf('day', cost)} END`,
    reads: ['creative_id'],
  };
}

/** ?1 application, ?2 to ?3 days of acquisition, ?4 how many cohorts: by time, latest first, then the largest. */
export function cohortRankingSql(grouping: Grouping, { table, conditions }: CohortRows): string {
  const { acquired, reads } = cohortKeys(grouping);
  const stored = [...(grouping.cohort === 'all' ? [] : ['acquired_day']), ...reads].join(', ');
  return `SELECT ${acquired} AS key, count(*) OVER () AS total
    FROM (SELECT ${stored}, sum(active_devices) AS size FROM ${table}
      WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3 AND age = 0${conditions} GROUP BY ${stored})
    GROUP BY key HAVING sum(size) > 0 ORDER BY key ->> 0 DESC, sum(size) DESC, key LIMIT ?4`;
}

/** Which cohorts have a row of their own; null: all of them. */
export async function cutCohorts(
  db: D1Database,
  applicationId: string,
  query: Grouping & ReportFilters & { from: string; to: string; limit: number },
): Promise<Cut | null> {
  const { from, to, limit } = query;
  if (!query.group_by && (query.cohort === 'all' || daysBetween(from, to) < limit)) return null;
  const filters = filtersOf(query);
  const sql = cohortRankingSql(query, cohortRows('cohort_activity', query, filters));
  const values = [applicationId, from, to, limit + 1];
  const { results } = await bindFiltered(db, sql, values, filters).all<{ key: string; total: number }>();
  return cutAfter(results, limit, false);
}

/** The columns that name a row's cohort. `cohort_from` and `cohort_to` are its first and last acquisition day within the period. */
export type CohortKey = { cohort_from: string; cohort_to: string; is_other?: true } & Record<
  string,
  string | null | true
>;

/**
 * Puts rows of acquisition days into their cohorts, in order of time and else of the rows. The one of all that have no row of
 * their own comes last.
 */
export function intoCohorts<Row extends { acquiredDay: string; label: string }>(
  rows: readonly Row[],
  days: readonly string[],
  { cohort, group_by: group }: Grouping,
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
