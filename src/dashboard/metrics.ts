import { ALL_METRICS, METRICS as DEFINITIONS, type Metric, type MetricDefinition } from '#catalogue';
import { count, money, percent } from './format.ts';

/** How each metric is called and written, and what it means. */
export const METRICS: Readonly<Record<Metric, MetricDefinition>> = DEFINITIONS;
export type MetricName = Metric;
export const METRIC_NAMES = ALL_METRICS;

const RATIOS: ReadonlySet<MetricName> = new Set(['ecpm', 'fill_rate', 'arpdau', 'arppu', 'cpi', 'roas']);

/** What a metric is of days on which nothing came: 0 for what is added up, nothing for a ratio. */
export const nothingOf = (name: MetricName): 0 | null => (RATIOS.has(name) ? null : 0);

type Value = string | number | boolean | null | undefined;

const numberOf = (value: Value) => (typeof value === 'number' ? value : null);

export function showMetric(name: MetricName, value: Value, currency: string): string {
  const { unit } = METRICS[name];
  if (unit === 'money') return money(numberOf(value), currency);
  return unit === 'percent' ? percent(numberOf(value)) : count(numberOf(value));
}

/**
 * Rows by a column, `-` before its name for the largest first; figures that do not exist come last either way, and after them the
 * row that sums up the rest.
 */
export function sortRows<Row extends Record<string, unknown>>(rows: readonly Row[], sort: string): Row[] {
  const descending = sort.startsWith('-');
  const column = descending ? sort.slice(1) : sort;
  const isNothing = (value: unknown) => value === null || value === undefined;
  return [...rows].sort((left, right) => {
    if (left.is_other || right.is_other) return Number(left.is_other ?? 0) - Number(right.is_other ?? 0);
    const [a, b] = [left[column], right[column]];
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');
    return descending ? -order : order;
  });
}
