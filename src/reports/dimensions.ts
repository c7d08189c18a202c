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
import { isByCreative } from './filters.ts';
import { COST_NAMES, type CreativeGroup, namedColumns } from './names.ts';
import type { ReportFilters } from './query.ts';

export type { DimensionName };
export { rollupOf };

/** The sources of reports: events (`rollup`), spend (`costs`), and the lifetime revenue of devices acquired in the period (`acquired`). */
export type SourceKind = 'rollup' | 'costs' | 'acquired';

/** SQL for a dimension's value (null or empty text if there is none), and the stored columns that it reads. */
type Grouped = { sql: string; reads: readonly string[] };

export type Dimension = DimensionDefinition & {
  /**
   * Its value in each source that has it and is read by SQL. Creatives, segments and hours are not: `readBlockSums` adds up figures by
   * these, and costs name the creative, ad set or campaign themselves.
   */
  of: Partial<Record<SourceKind, Grouped>>;
  /** The columns of the answer for a value. */
  show: (value: string | null) => Shown;
};

/** The columns that name a group. */
export type Shown = Record<string, string | null>;

/** SQL for the Monday of a day's week. */
export const mondaySql = (day: string) => `date(${day}, 'weekday 0', '-6 days')`;
/** SQL for the month of a day, as `2026-11`. */
export const monthSql = (day: string) => `substr(${day}, 1, 7)`;

const SPANS = {
  // Costs and lifetime revenue are stored by day.
  hour: { ofDay: null, show: (hour: string | null) => hour },
  day: { ofDay: String, show: (day: string | null) => day },
  week: { ofDay: mondaySql, show: (monday: string | null) => monday && weekOf(monday) },
  month: { ofDay: monthSql, show: (month: string | null) => month },
};

/** The SQL of a dimension, derived from its definition. */
function dimensionOf(name: DimensionName): Dimension {
  const definition = DEFINITIONS[name];
  switch (definition.kind) {
    case 'time': {
      const { ofDay, show } = SPANS[name as keyof typeof SPANS];
      if (!ofDay) return { ...definition, of: {}, show: (value) => ({ [name]: show(value) }) };
      const own = { sql: ofDay('day'), reads: ['day'] };
      const acquired = { sql: ofDay('acquired_day'), reads: ['acquired_day'] };
      return {
        ...definition,
        of: { rollup: own, costs: own, acquired },
        show: (value) => ({ [name]: show(value) }),
      };
    }
    case 'named': {
      const group = name as CreativeGroup;
      const costs = { sql: COST_NAMES[group], reads: ['campaign', 'adset', 'creative'] };
      return { ...definition, of: { costs }, show: (value) => namedColumns(group, value) };
    }
    case 'segment':
      return { ...definition, of: {}, show: (value) => ({ [name]: value }) };
    default: {
      const own = { sql: definition.column, reads: [definition.column] };
      return {
        ...definition,
        of: name === 'currency' ? { rollup: own, costs: own } : { rollup: own },
        show: (value) => ({ [name]: value }),
      };
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
export const isNamed = (name: DimensionName | undefined): name is CreativeGroup => kindOf(name) === 'named';

/**
 * Whether a report's figures are added up in the Worker, by `readBlockSums`. The rollup tables have all creatives together, and neither
 * segments nor hours.
 */
export const needsBlocks = (names: readonly DimensionName[], filters: ReportFilters): boolean =>
  names.some((name) => name === 'hour' || ['named', 'segment'].includes(DIMENSIONS[name].kind)) ||
  isBySegment(filters) ||
  isByCreative(filters);

export const isBySegment = ({ country, os, app_version }: ReportFilters): boolean =>
  [country, os, app_version].some((values) => values !== undefined);

/**
 * Distinct devices can only be grouped by properties of a device, which the app version of an event is not. Those of a single day are
 * counted together with its events, so they can be grouped by anything.
 */
export const PAYERS: readonly Metric[] = ['payers', 'arppu'];
const isByVersion = (names: readonly DimensionName[], filters: ReportFilters) =>
  !names.includes('day') && (names.includes('app_version') || filters.app_version !== undefined);

/** The metrics that are available with these groupings and filters. */
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

/** For each grouping, the value that a day has in a group's key; null for groupings that are not derived from the day. */
export const spansOf = (day: string, names: readonly DimensionName[]) =>
  names.map((name) =>
    name === 'day' ? day : name === 'week' ? mondayOf(day) : name === 'month' ? monthOf(day) : null,
  );
