import { and, type SQL, sql } from 'drizzle-orm';
import { isAmong } from '#db';
import { CREATIVE_GROUPS, costNames } from './names.ts';
import type { ReportFilters } from './query.ts';

/** The filter value for devices and clicks whose value is unknown. */
const UNKNOWN = 'unknown';

/** A filter's value as segments and devices have it: empty text for unknown. */
export const storedValue = (value: string): string => (value === UNKNOWN ? '' : value);

/** Whether rows are filtered by creative, and not only by paid or organic. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/** The condition on the rows of `costs`. All spend is on creatives, so none of it is organic. */
export function costCondition(applicationId: string, filters: ReportFilters): SQL | undefined {
  const names = costNames(applicationId);
  return and(
    ...CREATIVE_GROUPS.map((group) => {
      const ids = filters[`${group}_id`];
      return ids && isAmong(sql`nullif(${names[group]}, '') ->> 0`, ids);
    }),
    filters.attribution === 'organic' ? sql`false` : undefined,
  );
}
