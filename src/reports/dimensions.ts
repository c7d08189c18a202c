import {
  ALL_METRICS,
  DIMENSIONS as DEFINITIONS,
  type DimensionDefinition,
  type DimensionName,
  type Metric,
  metricsIn,
  rollupOf,
} from '#catalogue';
import { mondayOf, monthOf, weekOf } from '#lib/calendar';
import { COST_NAMES, CREATIVE_NAMES, type CreativeGroup, namedColumns } from './names.ts';
import type { ReportFilters } from './query.ts';

export type { DimensionName };
export { rollupOf };

export type Dimension = DimensionDefinition & {
  /** SQL over the rollups for its value: the same text in every source. Null or empty text for none. */
  sql: string;
  /** The same over `costs`, empty text for a cost that belongs to no single group; absent if costs do not have it. */
  cost?: string;
  /** The same over `cohort_revenue`; absent if cohort revenue does not have it. */
  acquired?: string;
  /** The columns of the answer that a value becomes. */
  show: (value: string | null) => Shown;
};

/** The columns that name a group. */
export type Shown = Record<string, string | null>;

/** SQL for the Monday of a day's week. */
export const mondaySql = (day: string) => `date(${day}, 'weekday 0', '-6 days')`;
/** SQL for the month of a day, as `2026-11`. */
export const monthSql = (day: string) => `substr(${day}, 1, 7)`;

const SPANS = {
  // Costs, and what devices earn over their life, are of days.
  hour: { ofDay: null, show: (hour: string | null) => hour },
  day: { ofDay: String, show: (day: string | null) => day },
  week: { ofDay: mondaySql, show: (monday: string | null) => monday && weekOf(monday) },
  month: { ofDay: monthSql, show: (month: string | null) => month },
};

/** SQL of each dimension, made from its definition. */
function dimensionOf(name: DimensionName): Dimension {
  const definition = DEFINITIONS[name];
  switch (definition.kind) {
    case 'time': {
      const { ofDay, show } = SPANS[name as keyof typeof SPANS];
      if (!ofDay) return { ...definition, sql: name, show: (value) => ({ [name]: show(value) }) };
      const acquired = ofDay('acquired_day');
      const sql = ofDay('day');
      return { ...definition, sql, cost: sql, acquired, show: (value) => ({ [name]: show(value) }) };
    }
    case 'named': {
      const group = name as CreativeGroup;
      const sql = CREATIVE_NAMES[group];
      const show = (value: string | null) => namedColumns(group, value);
      return { ...definition, sql, acquired: sql, cost: COST_NAMES[group], show };
    }
    default: {
      const own = {
        ...definition,
        sql: definition.column,
        show: (value: string | null) => ({ [name]: value }),
      };
      return name === 'currency' ? { ...own, cost: 'currency' } : own;
    }
  }
}

/** The groupings of the performance report. */
export const DIMENSIONS = Object.fromEntries(
  Object.keys(DEFINITIONS).map((name) => [name, dimensionOf(name as DimensionName)]),
) as Record<DimensionName, Dimension>;

export const isDimension = (name: string): name is DimensionName => Object.hasOwn(DIMENSIONS, name);

const kindOf = (name: DimensionName | undefined) => name && DIMENSIONS[name].kind;
export const isTime = (name: DimensionName | undefined): boolean => kindOf(name) === 'time';
export const isNamed = (name: DimensionName | undefined): boolean => kindOf(name) === 'named';

/** Whether rows have to be broken down by segment. */
export const needsSegments = (names: readonly DimensionName[], filters: ReportFilters): boolean =>
  names.some((name) => kindOf(name) === 'segment') || isBySegment(filters);

export const isBySegment = ({ country, os, app_version }: ReportFilters): boolean =>
  [country, os, app_version].some((values) => values !== undefined);

/**
 * Distinct devices are known by what is known of a device: not by the version that each event came with. Those of one day are
 * counted with its events, by all of it.
 */
export const PAYERS: readonly Metric[] = ['payers', 'arppu'];
const isByVersion = (names: readonly DimensionName[], filters: ReportFilters) =>
  !names.includes('day') && (names.includes('app_version') || filters.app_version !== undefined);

/** The metrics that these groupings of these rows can give. */
export function givenBy(names: readonly DimensionName[], filters: ReportFilters): ReadonlySet<Metric> {
  const given = new Set(metricsIn(rollupOf(names) ?? 'rollup_daily', ALL_METRICS));
  const lacking = [
    ...names.flatMap((name) => DIMENSIONS[name].lacks ?? []),
    ...(isBySegment(filters) ? (DIMENSIONS.country.lacks ?? []) : []),
    ...(isByVersion(names, filters) ? PAYERS : []),
  ];
  for (const metric of lacking) given.delete(metric);
  return given;
}

/** By the columns that a day becomes: what the key of its groups has there. */
export const spansOf = (day: string, names: readonly DimensionName[]) =>
  names.map((name) =>
    name === 'day' ? day : name === 'week' ? mondayOf(day) : name === 'month' ? monthOf(day) : null,
  );
