import type { RollupTable } from '#catalogue';
import { isTotalled, TOTALS } from '#rollup';
import { COST_NAMES, CREATIVE_GROUPS } from './names.ts';
import type { ReportFilters } from './query.ts';

// A report's filters as SQL. All their values are one parameter. `FILTERS` is its placeholder in a statement's text, and `bindFiltered`
// replaces it with the number after the statement's own parameters.

const FILTERS = '?filters';

/** The filter value for devices and clicks whose value is unknown. */
export const UNKNOWN = 'unknown';

const among = (value: string, name: string) =>
  `${value} IN (SELECT value FROM json_each(${FILTERS}, '$.${name}'))`;

const CREATIVES_OF = {
  creative: among('creative_id', 'creative_id'),
  adset: `creative_id IN (SELECT creatives.id FROM creatives
    WHERE creatives.application_id = ?1 AND ${among('creatives.adset_id', 'adset_id')})`,
  campaign: `creative_id IN (SELECT creatives.id FROM creatives INNER JOIN adsets ON adsets.id = creatives.adset_id
    WHERE creatives.application_id = ?1 AND ${among('adsets.campaign_id', 'campaign_id')})`,
};

const conditions = (parts: readonly string[]) => parts.map((part) => ` AND ${part}`).join('');

/** Whether rows are filtered by creative, and not only by paid or organic. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/** Conditions on a rollup, each preceded by `AND`. Segments are not among its columns: `scanSegments` applies their filters. */
export function rollupConditions(filters: ReportFilters): string {
  const creatives = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  return conditions([
    ...creatives.map((group) => CREATIVES_OF[group]),
    ...(filters.attribution ? [`creative_id ${filters.attribution === 'paid' ? '<>' : '='} ''`] : []),
  ]);
}

/** The same for `costs`. All spend is on creatives, so none of it is organic. */
export function costConditions(filters: ReportFilters): string {
  const groups = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  return conditions([
    ...groups.map((group) => among(`nullif(${COST_NAMES[group]}, '') ->> 0`, `${group}_id`)),
    ...(filters.attribution === 'organic' ? ['false'] : []),
  ]);
}

/**
 * The table, aliased to the rollup's name, for reports that need no segments. It is the table of totals if no grouping (`isNamed`) and
 * no filter distinguishes creatives.
 */
export const wholeTable = (table: RollupTable, isNamed: boolean, filters: ReportFilters): string =>
  isTotalled(table) && !isNamed && !isByCreative(filters) ? `${TOTALS[table]} AS ${table}` : table;

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
