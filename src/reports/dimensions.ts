import {
  ALL_METRICS,
  DIMENSIONS as DEFINITIONS,
  type DimensionDefinition,
  type DimensionName,
  EVENT_DIMENSIONS,
  isCostDimension,
  isSegmentDimension,
  type Metric,
  metricsIn,
  OF_DEVICES,
  OF_PAYERS,
  rollupOf,
  SEGMENT_DIMENSIONS,
  shownValue,
} from '#catalogue';
import { mondayOf, monthOf, weekOf } from '#lib/calendar';
import { CREATIVE_GROUPS, type CreativeGroup, namedColumns } from './names.ts';
import type { ReportFilters } from './query.ts';

export type { DimensionName };
export { rollupOf };

export type Dimension = DimensionDefinition & {
  /** The columns of the answer for a value. */
  show: (value: string | null) => NamedColumns;
};

/** The columns that name a group. */
export type NamedColumns = Record<string, string | null>;

function showOf(name: DimensionName): Dimension['show'] {
  const group = CREATIVE_GROUPS.find((own) => own === name);
  if (group) return (value) => namedColumns(group, value);
  // The value of a week is its Monday.
  if (name === 'week') return (monday) => ({ week: monday && weekOf(monday) });
  if (isSegmentDimension(name)) {
    return (value) => ({ [name]: value && shownValue(name, value) });
  }
  return (value) => ({ [name]: value });
}

/** The groupings of the performance report. */
export const REPORT_DIMENSIONS = Object.fromEntries(
  Object.keys(DEFINITIONS).map((name) => [
    name,
    { ...DEFINITIONS[name as DimensionName], show: showOf(name as DimensionName) },
  ]),
) as Record<DimensionName, Dimension>;

/** The columns of an answer that name a group by these dimensions. */
export const columnsOf = (names: readonly DimensionName[]): string[] =>
  names.flatMap((name) => Object.keys(REPORT_DIMENSIONS[name].show(null)));

/** The columns of a group, from the values of its key. */
export const shownOf = (values: readonly (string | null)[], names: readonly DimensionName[]): NamedColumns =>
  Object.assign({}, ...names.map((name, index) => REPORT_DIMENSIONS[name].show(values[index] ?? null)));

/** The name of the group in the row that sums up the rest. */
export const OTHER = 'other';

/** The columns of the row that sums up all groups without a row: `other` as each name, and no id. */
export const otherColumns = (...names: DimensionName[]): NamedColumns & { is_other: true } =>
  Object.assign(
    Object.fromEntries(columnsOf(names).map((column) => [column, isDimension(column) ? OTHER : null])),
    { is_other: true as const },
  );

/** The name of the group in the row of what belongs to none. */
const UNALLOCATED = 'unallocated';

/** The columns of the row of what belongs to no group: `unallocated` as each name, and no id. */
export const unallocatedColumns = (...names: DimensionName[]): NamedColumns & { is_unallocated: true } =>
  Object.assign(
    Object.fromEntries(columnsOf(names).map((column) => [column, isDimension(column) ? UNALLOCATED : null])),
    { is_unallocated: true as const },
  );

/** Whether a row is of a group, and not what sums up all others or belongs to none. */
export const isOfGroup = (row: { is_other?: unknown; is_unallocated?: unknown }): boolean =>
  !row.is_other && !row.is_unallocated;

export const isDimension = (name: string): name is DimensionName => Object.hasOwn(REPORT_DIMENSIONS, name);

const kindOf = (name: DimensionName | undefined) => name && REPORT_DIMENSIONS[name].kind;
export const isTime = (name: DimensionName | undefined): boolean => kindOf(name) === 'time';
export const isNamed = (name: DimensionName | undefined): name is CreativeGroup => kindOf(name) === 'named';

export const isBySegment = (filters: ReportFilters): boolean =>
  SEGMENT_DIMENSIONS.some((name) => filters[name] !== undefined);

/** Whether spend is known under these filters: costs state some dimensions only. */
export const knowsSpendIn = (filters: ReportFilters): boolean =>
  SEGMENT_DIMENSIONS.every((name) => filters[name] === undefined || isCostDimension(name));

/**
 * Distinct devices can only be grouped by properties of a device, which the version of an event is not. Those of a single day are counted
 * together with its events, so they can be grouped by anything.
 */
const isByEvent = (names: readonly DimensionName[], filters: ReportFilters) =>
  !names.includes('day') &&
  EVENT_DIMENSIONS.some((name) => names.includes(name) || filters[name] !== undefined);

/** The metrics that are available with these groupings and filters. */
export function givenBy(names: readonly DimensionName[], filters: ReportFilters): ReadonlySet<Metric> {
  const given = new Set(metricsIn(rollupOf(names) ?? 'rollup_daily', ALL_METRICS));
  const lacking = [
    ...names.flatMap((name) => REPORT_DIMENSIONS[name].lacks ?? []),
    ...SEGMENT_DIMENSIONS.flatMap((name) => (filters[name] ? (REPORT_DIMENSIONS[name].lacks ?? []) : [])),
    ...(isByEvent(names, filters) ? OF_PAYERS : []),
    // An answer of the counters has no room for a group of each creative and day.
    ...(names.includes('day') && names.some(isNamed) ? OF_DEVICES : []),
  ];
  for (const metric of lacking) given.delete(metric);
  return given;
}

/** For each grouping, the value that a day has in a group's key; null for groupings that are not derived from the day. */
export const spansOf = (day: string, names: readonly DimensionName[]) =>
  names.map((name) =>
    name === 'day' ? day : name === 'week' ? mondayOf(day) : name === 'month' ? monthOf(day) : null,
  );
