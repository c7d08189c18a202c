import type { RollupTable } from '#catalogue';
import { isTotalled, TOTALS } from '#rollup';
import { COST_NAMES, CREATIVE_GROUPS } from './names.ts';
import type { ReportFilters } from './query.ts';

// A report's filters as SQL. All values together are one parameter: `FILTERS` is its placeholder in the text of a
// statement, and `bindFiltered` gives it the number after those that the statement has.

const FILTERS = '?filters';

/** A filter's word for devices and clicks of which the value is not known. */
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

/** Whether rows are narrowed to some creatives, and not only to paid or organic ones. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/** Conditions over a rollup, each with `AND` before it. What narrows it to some segments is no column of it: see `scanSegments`. */
export function rollupConditions(filters: ReportFilters): string {
  const creatives = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  return conditions([
    ...creatives.map((group) => CREATIVES_OF[group]),
    ...(filters.attribution ? [`creative_id ${filters.attribution === 'paid' ? '<>' : '='} ''`] : []),
  ]);
}

/** The same over `costs`: what is spent is spent on creatives, so none of it is organic. */
export function costConditions(filters: ReportFilters): string {
  const groups = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  return conditions([
    ...groups.map((group) => among(`nullif(${COST_NAMES[group]}, '') ->> 0`, `${group}_id`)),
    ...(filters.attribution === 'organic' ? ['false'] : []),
  ]);
}

/**
 * A rollup under its own name, as reports read it that need no segments: its totals where no grouping (`isNamed`) and no filter tells
 * creatives apart.
 */
export const wholeTable = (table: RollupTable, isNamed: boolean, filters: ReportFilters): string =>
  isTotalled(table) && !isNamed && !isByCreative(filters) ? `${TOTALS[table]} AS ${table}` : table;

/** Prepares a statement with its parameters; the filters' values come last, where its text asks for them. */
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
