import { and, eq, or, type SQL, sql } from 'drizzle-orm';
import { COST_DIMENSIONS, ofDimensions, storedAs, storedValue, UNKNOWN_VALUE } from '#catalogue';
import { costs, isAmong } from '#db';
import { CREATIVE_GROUPS, costNames } from './names.ts';
import type { ReportFilters } from './query.ts';

/** Whether rows are filtered by creative, and not only by paid or organic. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/**
 * The condition on the rows of `costs`. All spend is on creatives, so none of it is organic. Costs that do not state a dimension are of an
 * unknown value. Filters by a dimension that costs never state are the caller's.
 */
export function costCondition(applicationId: string, filters: ReportFilters): SQL | undefined {
  const names = costNames(applicationId);
  return and(
    ...CREATIVE_GROUPS.map((group) => {
      const ids = filters[`${group}_id`];
      return ids && isAmong(sql`nullif(${names[group]}, '') ->> 0`, ids);
    }),
    ...COST_DIMENSIONS.map((name) => {
      const values = filters[name];
      return (
        values &&
        isAmong(
          costs[name],
          values.flatMap((value) => storedAs(name, storedValue(value))),
        )
      );
    }),
    filters.attribution === 'organic' ? sql`false` : undefined,
  );
}

/** The condition on the costs that filters leave out only because they do not state a dimension; null if no filter leaves out such costs. */
export function unallocatedCondition(applicationId: string, filters: ReportFilters): SQL | null {
  const asked = COST_DIMENSIONS.filter((name) => filters[name] && !filters[name].includes(UNKNOWN_VALUE));
  if (asked.length === 0) return null;
  const withUnknown = ofDimensions(asked, (name) => [...(filters[name] ?? []), UNKNOWN_VALUE]);
  const condition = and(
    costCondition(applicationId, { ...filters, ...withUnknown }),
    or(...asked.map((name) => eq(costs[name], ''))),
  );
  return condition ?? null;
}
