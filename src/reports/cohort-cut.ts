import { daysBetween } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { scanCohorts } from './cohort-segments.ts';
import {
  type CohortGrouping,
  type CohortRows,
  cohortKeys,
  cohortRows,
  needsCohortSegments,
} from './cohorts.ts';
import { type Cut, cutAfter, keyValues } from './cut.ts';
import { bindFiltered } from './filters.ts';
import { filtersOf, type ReportFilters } from './query.ts';

/** Ranks cohorts by time, latest first, then by size. ?1 is the application, ?2 to ?3 the acquisition days, ?4 the number of cohorts. */
export function cohortRankingSql(grouping: CohortGrouping, { table, conditions }: CohortRows): string {
  const { acquired, reads } = cohortKeys(grouping);
  const stored = [...(grouping.cohort === 'all' ? [] : ['acquired_day']), ...reads].join(', ');
  return `SELECT ${acquired} AS key, count(*) OVER () AS total
    FROM (SELECT ${stored}, sum(active_devices) AS size FROM ${table}
      WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3 AND age = 0${conditions} GROUP BY ${stored})
    GROUP BY key HAVING sum(size) > 0 ORDER BY key ->> 0 DESC, sum(size) DESC, key LIMIT ?4`;
}

/** Decides which cohorts have a row of their own. Returns null if all of them do. */
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
  const sql = cohortRankingSql(query, cohortRows('cohort_activity', query, filters));
  const values = [applicationId, from, to, limit + 1];
  const { results } = await bindFiltered(db, sql, values, filters).all<{ key: string; total: number }>();
  return cutAfter(results, limit, false);
}

/** Ranks cohorts like `cohortRankingSql`, by segment. */
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
