import { COST_NAMES, CREATIVE_GROUPS } from './names.ts';
import type { ReportFilters } from './query.ts';

// A report's filters as SQL. All their values are one parameter. `FILTERS` is its placeholder in a statement's text, and `bindFiltered`
// replaces it with the number after the statement's own parameters.

const FILTERS = '?filters';

/** The filter value for devices and clicks whose value is unknown. */
export const UNKNOWN = 'unknown';

const among = (value: string, name: string) =>
  `${value} IN (SELECT value FROM json_each(${FILTERS}, '$.${name}'))`;

const conditions = (parts: readonly string[]) => parts.map((part) => ` AND ${part}`).join('');

/** Whether rows are filtered by creative, and not only by paid or organic. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/** Conditions on a rollup table, each preceded by `AND`. It has all creatives together, so other filters need `readBlockSums`. */
export const rollupConditions = ({ attribution }: ReportFilters): string =>
  conditions(attribution ? [`creative_id ${attribution === 'paid' ? '<>' : '='} ''`] : []);

/** Conditions on `costs`, likewise. All spend is on creatives, so none of it is organic. */
export function costConditions(filters: ReportFilters): string {
  const groups = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  return conditions([
    ...groups.map((group) => among(`nullif(${COST_NAMES[group]}, '') ->> 0`, `${group}_id`)),
    ...(filters.attribution === 'organic' ? ['false'] : []),
  ]);
}

/** Prepares a statement and binds its parameters. The filters' values come last, if the statement uses them. */
export function bindFiltered(
  db: D1Database,
  sql: string,
  values: readonly (string | number)[],
  filters: ReportFilters,
): D1PreparedStatement {
  if (!sql.includes(FILTERS)) return db.prepare(sql).bind(...values);
  return db.prepare(numberFilters(sql, values.length + 1)).bind(...values, filterValues(filters));
}

export const numberFilters = (sql: string, parameter: number) => sql.replaceAll(FILTERS, `?${parameter}`);

const filterValues = (filters: ReportFilters): string => JSON.stringify(filters);
