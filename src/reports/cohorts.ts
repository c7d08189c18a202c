import { PART_OF, type Part } from '#lib/calendar';
import { daysBetween } from '#lib/time';
import { type Cut, cutAfter, cutKeySql, keySql, keyValues, NO_GROUP, OTHER, REST } from './cut.ts';
import { type Group, isOfCreatives } from './device-groups.ts';
import { isBySegment, mondaySql, monthSql } from './dimensions.ts';
import { bindFiltered, rollupConditions, segmentedTable } from './filters.ts';
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
    table: segmented ? segmentedTable(table, 'acquired_day') : table,
    conditions: rollupConditions(filters),
  };
}

const PART_SQL: Record<Cohort, (day: string) => string> = {
  day: String,
  week: mondaySql,
  month: monthSql,
  all: () => "''",
};

/**
 * SQL for the key of a row's cohort, over the cohort tables and over `costs`. Where there is a cut, `kept` names the parameter
 * that lists the cohorts with a row of their own, and the others' key is `REST`.
 */
export function cohortKeys({ cohort, group_by: group }: Grouping, kept?: string) {
  const keyOf = (day: string, column: string) => {
    const key = keySql([PART_SQL[cohort](day), column]);
    return kept ? cutKeySql(key, kept) : key;
  };
  if (!group) return { acquired: keyOf('acquired_day', "''"), cost: keyOf('day', "''") };
  if (!isOfCreatives(group)) return { acquired: keyOf('acquired_day', group), cost: `'${NO_GROUP}'` };
  const acquired = keyOf('acquired_day', CREATIVE_NAMES[group]);
  const cost = COST_NAMES[group];
  return { acquired, cost: `CASE WHEN (${cost}) = '' THEN '${NO_GROUP}' ELSE ${keyOf('day', cost)} END` };
}

/** ?1 application, ?2 to ?3 days of acquisition, ?4 how many cohorts: by time, latest first, then the largest. */
export const cohortRankingSql = (grouping: Grouping, { table, conditions }: CohortRows) =>
  `SELECT ${cohortKeys(grouping).acquired} AS key, count(*) OVER () AS total
   FROM ${table} WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3 AND age = 0${conditions}
   GROUP BY key HAVING sum(active_devices) > 0 ORDER BY key ->> 0 DESC, sum(active_devices) DESC, key LIMIT ?4`;

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
