import { daysBetween } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { scanCohorts } from './cohort-segments.ts';
import { type CohortGrouping, cohortKeys, needsCohortSegments } from './cohorts.ts';
import { type Cut, cutAfter, keyValues } from './cut.ts';
import { bindFiltered, rollupConditions } from './filters.ts';
import { filtersOf, type ReportFilters } from './query.ts';

/** ?1 application, ?2 to ?3 days of acquisition, ?4 how many cohorts: by time, latest first, then the largest. */
export const cohortRankingSql = (grouping: CohortGrouping, conditions: string) =>
  `SELECT ${cohortKeys(grouping).acquired} AS key, count(*) OVER () AS total
   FROM cohort_activity WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3 AND age = 0${conditions}
   GROUP BY key HAVING sum(active_devices) > 0 ORDER BY key ->> 0 DESC, sum(active_devices) DESC, key LIMIT ?4`;

/** Which cohorts have a row of their own; null: all of them. */
export async function cutCohorts(
  db: D1Database,
  applicationId: string,
  query: CohortGrouping & ReportFilters & { from: string; to: string; limit: number },
): Promise<Cut | null> {
  const { from, to, limit } = query;
  if (!query.group_by && (query.cohort === 'all' || daysBetween(from, to) < limit)) return null;
  const filters = filtersOf(query);
  if (needsCohortSegments(query, filters)) {
    return cutAfter(await rankCohorts(db, applicationId, query, filters), limit, false);
  }
  const sql = cohortRankingSql(query, rollupConditions(filters));
  const values = [applicationId, from, to, limit + 1];
  const { results } = await bindFiltered(db, sql, values, filters).all<{ key: string; total: number }>();
  return cutAfter(results, limit, false);
}

/** The cohorts as `cohortRankingSql` ranks them, by segment. */
async function rankCohorts(
  db: D1Database,
  applicationId: string,
  query: CohortGrouping & { from: string; to: string; limit: number },
  filters: ReportFilters,
): Promise<{ key: string; total: number }[]> {
  const sizes = new Map<string, number>();
  const activeAt = sumColumnsOf('cohort_activity').indexOf('active_devices');
  await scanCohorts<true>(
    db,
    { applicationId, rollup: 'cohort_activity', query, filters, cut: null },
    {
      placeOf: (key) => (key('age') === '0' ? true : null),
      add: (_, label, sums) => sizes.set(label, (sizes.get(label) ?? 0) + (sums[activeAt] ?? 0)),
    },
  );
  const ranked = [...sizes]
    .filter(([, size]) => size > 0)
    .map(([key, size]) => ({ key, size, part: keyValues(key)[0] ?? '' }))
    .sort((left, right) =>
      left.part !== right.part
        ? Number(left.part < right.part) - Number(left.part > right.part)
        : right.size - left.size || (left.key < right.key ? -1 : 1),
    );
  return ranked.slice(0, query.limit + 1).map(({ key }) => ({ key, total: ranked.length }));
}
