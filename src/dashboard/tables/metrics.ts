import {
  ALL_METRICS,
  type AttributionChoice,
  basisOf,
  basisText,
  METRICS as DEFINITIONS,
  type Metric,
  type MetricDefinition,
  PLAIN_METRICS,
} from '#catalogue';
import { amountsIn, type FigureFormat, NUMBERS, RATIOS } from '#lib/format';

/** The label, unit and definition of each metric. */
export const METRIC_DEFINITIONS: Readonly<Record<Metric, MetricDefinition>> = DEFINITIONS;
export type MetricName = Metric;
export const METRIC_NAMES = ALL_METRICS;
/** Those that are shown unless others are chosen. */
export const SHOWN_METRICS: readonly MetricName[] = PLAIN_METRICS;

/** Metrics as the options of a list. */
export const metricOptions = (names: readonly MetricName[]) =>
  names.map((name) => [name, METRIC_DEFINITIONS[name].label] as const);

const NET: Readonly<Partial<Record<MetricName, MetricName>>> = {
  revenue: 'net_revenue',
  roas: 'roas_net',
  roas_d7: 'roas_net_d7',
  profit: 'profit_net',
};

/** The same metric without refunds and the fee of stores, if there is one. */
export const netOf = (name: MetricName): MetricName => NET[name] ?? name;

/** Gains and losses: green and red, and sorted losses first. */
const PROFITS: readonly MetricName[] = ['profit', 'profit_net'];
export const isProfit = (name: MetricName): boolean => PROFITS.includes(name);

/** The order in which the first press on a metric's heading sorts: what most matters on top. */
export const firstOrder = (name: MetricName): string => (isProfit(name) ? name : `-${name}`);

/**
 * Makes the links of a table's headings: each sorts by its column, in the `first` order of it, or turns the order that the table has. `-` before a
 * column's name is for largest first.
 */
export const headingsOf =
  (sort: string, addressOf: (sort: string) => string) => (name: string, first: string) => ({
    sortHref: addressOf(sort === first ? (first.startsWith('-') ? name : `-${name}`) : first),
    ...(sort === name ? { sorted: 'ascending' as const } : {}),
    ...(sort === `-${name}` ? { sorted: 'descending' as const } : {}),
  });

/** The value of a metric on days without data: 0 for sums, null for ratios. */
export const nothingOf = (name: MetricName): 0 | null =>
  METRIC_DEFINITIONS[name].kind === 'ratio' ? null : 0;

/**
 * The head of a metric's column. Money names its currency, because a symbol may belong to several, and what involves spend whose revenue that is
 * compared with.
 */
export function metricColumn(name: MetricName, { currency, filters = {} }: Shown) {
  const { label, hint, unit } = METRIC_DEFINITIONS[name];
  const basis = basisText(name, basisOf(filters.attribution));
  const words = [unit === 'money' ? currency.toUpperCase() : '', basis].filter((word) => word !== '');
  return {
    ...{ label, hint, numeric: true as const },
    ...(words.length > 0 ? { unit: words.join(', ') } : {}),
  };
}

/** What of a view the head of a column says. */
export type Shown = { currency: string; filters?: { attribution?: AttributionChoice | undefined } };

/** A value of a row of a report. */
export type CellValue = string | number | boolean | null | undefined;

/** A figure of a row; null if the row has none. */
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** How a metric is written. */
export function formatOf(name: MetricName, currency: string): FigureFormat {
  const { unit } = METRIC_DEFINITIONS[name];
  if (unit === 'money') return amountsIn(currency);
  return unit === 'percent' ? RATIOS : NUMBERS;
}

/** A metric's value; with as many decimals as its column has, from `placesOf`. */
export const showMetric = (name: MetricName, value: CellValue, currency: string, places?: number): string =>
  formatOf(name, currency).text(numberOf(value), places);

/** The decimals of a metric's column: the same for all of its values. */
export const placesOf = (name: MetricName, values: readonly unknown[], currency: string): number =>
  formatOf(name, currency).places(values.filter((value) => typeof value === 'number'));

const placeOf = (row: Record<string, unknown>): number => (row.is_unallocated ? 2 : row.is_other ? 1 : 0);

/**
 * Sorts rows by a column, with `-` before its name for largest first. Missing values come last either way, followed by the row that sums up the
 * rest, and what belongs to none.
 */
export function sortRows<Row extends Record<string, unknown>>(rows: readonly Row[], sort: string): Row[] {
  const descending = sort.startsWith('-');
  const column = descending ? sort.slice(1) : sort;
  const isNothing = (value: unknown) => value === null || value === undefined;
  return [...rows].sort((left, right) => {
    const order = placeOf(left) - placeOf(right);
    if (order !== 0) return order;
    const [a, b] = [left[column], right[column]];
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    const byValue =
      typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');
    return descending ? -byValue : byValue;
  });
}
