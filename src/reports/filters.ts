import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { isTotalled, sumColumnsOf, TOTALS } from '#rollup';
import { COST_NAMES, CREATIVE_GROUPS } from './names.ts';
import type { ReportFilters } from './query.ts';

// A report's filters as SQL. All values together are one parameter: `FILTERS` is its placeholder in the text of a
// statement, and `bindFiltered` gives it the number after those that the statement has.

const FILTERS = '?filters';

/** A filter's word for devices and clicks of which the value is not known. */
const UNKNOWN = 'unknown';

const among = (value: string, name: string) =>
  `${value} IN (SELECT value FROM json_each(${FILTERS}, '$.${name}'))`;

const CREATIVES_OF = {
  creative: among('creative_id', 'creative_id'),
  adset: `creative_id IN (SELECT creatives.id FROM creatives
    WHERE creatives.application_id = ?1 AND ${among('creatives.adset_id', 'adset_id')})`,
  campaign: `creative_id IN (SELECT creatives.id FROM creatives INNER JOIN adsets ON adsets.id = creatives.adset_id
    WHERE creatives.application_id = ?1 AND ${among('adsets.campaign_id', 'campaign_id')})`,
};

const SEGMENT_FILTERS = ['country', 'os', 'app_version'] as const;

const conditions = (parts: readonly string[]) => parts.map((part) => ` AND ${part}`).join('');

/** Whether rows are narrowed to some creatives, and not only to paid or organic ones. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/** Conditions over a rollup, each with `AND` before it; over its segments where a filter asks for one. */
export function rollupConditions(filters: ReportFilters): string {
  const creatives = CREATIVE_GROUPS.filter((group) => filters[`${group}_id`]);
  const segments = SEGMENT_FILTERS.filter((name) => filters[name]);
  return conditions([
    ...creatives.map((group) => CREATIVES_OF[group]),
    ...segments.map((name) => among(name, name)),
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

/**
 * A rollup broken down by segment, as a table of its name: its own columns, and `country`, `os` and `app_version`. `day` is the column
 * whose days ?2 to ?3 are read. An unknown segment id counts as `other`.
 */
export function segmentedTable(table: RollupTable, day: string): string {
  const keys = ROLLUP_KEYS[table].map((key) => `${table}.${key} AS ${key}`);
  return unpackedTable(table, { packed: table, keys, day });
}

/**
 * The same of `rollup_daily` for reports that name no creative, from far fewer rows. `creative_id` is empty for organic rows only;
 * which creative the others have is not known.
 */
export function segmentedDays(): string {
  const keys = ['application_id', 'day', 'currency'].map((key) => `rollup_segments.${key} AS ${key}`);
  const creative = "iif(rollup_segments.paid, 'paid', '') AS creative_id";
  return unpackedTable('rollup_daily', { packed: 'rollup_segments', keys: [...keys, creative], day: 'day' });
}

function unpackedTable(
  table: RollupTable,
  { packed, keys, day }: { packed: string; keys: readonly string[]; day: string },
): string {
  const sums = sumColumnsOf(table).map(
    (column, index) => `coalesce(part.value ->> ${index + 1}, 0) AS ${column}`,
  );
  const parts = SEGMENT_FILTERS.map((name) => `coalesce(segments.${name}, 'other') AS ${name}`);
  return `(SELECT ${[...keys, ...sums, ...parts].join(', ')}
    FROM ${packed} CROSS JOIN json_each('[' || ${packed}.segments || ']') AS part
    LEFT JOIN segments ON segments.application_id = ?1 AND segments.segment_id = part.value ->> 0
    WHERE ${packed}.application_id = ?1 AND ${packed}.${day} BETWEEN ?2 AND ?3) AS ${table}`;
}

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

function filterValues(filters: ReportFilters): string {
  const values = Object.entries(filters).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((one) => (isSegment(name) && one === UNKNOWN ? '' : one)) : value,
  ]);
  return JSON.stringify(Object.fromEntries(values));
}

const isSegment = (name: string) => SEGMENT_FILTERS.some((filter) => filter === name);
