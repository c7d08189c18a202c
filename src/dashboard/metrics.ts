import { count, money, percent } from './format.ts';

type Kind = 'count' | 'money' | 'percent';

/** How each metric is called and written. Their definitions are the API's. */
const SHOWN = {
  clicks: { label: 'Clicks', kind: 'count' },
  installs: { label: 'Installs', kind: 'count' },
  dau: { label: 'DAU', kind: 'count', hint: 'Devices active a day; over several days the mean' },
  sessions: { label: 'Sessions', kind: 'count' },
  session_seconds: {
    label: 'Session time (s)',
    kind: 'count',
    hint: 'Seconds of sessions whose end was sent',
  },
  impressions: { label: 'Impressions', kind: 'count' },
  ad_revenue: { label: 'Ad revenue', kind: 'money' },
  ecpm: { label: 'eCPM', kind: 'money', hint: 'Ad revenue per 1000 impressions' },
  ad_requests: { label: 'Ad requests', kind: 'count' },
  fill_rate: { label: 'Fill rate', kind: 'percent', hint: 'Impressions / ad requests' },
  purchases: { label: 'Purchases', kind: 'count' },
  failed_purchases: { label: 'Failed purchases', kind: 'count' },
  payers: { label: 'Payers', kind: 'count', hint: 'Paying devices, added up over the days' },
  purchase_revenue: { label: 'Purchase revenue', kind: 'money' },
  revenue: { label: 'Revenue', kind: 'money', hint: 'Purchases and ads' },
  arpdau: { label: 'ARPDAU', kind: 'money', hint: 'Revenue per active device and day' },
  arppu: { label: 'ARPPU', kind: 'money', hint: 'Purchase revenue per payer' },
  spend: { label: 'Spend', kind: 'money', hint: 'Uploaded costs' },
  cpi: { label: 'CPI', kind: 'money', hint: 'Spend per install' },
  roas: {
    label: 'ROAS',
    kind: 'percent',
    hint: 'Revenue so far of the devices acquired in the period / spend',
  },
  events: { label: 'Custom events', kind: 'count' },
} as const satisfies Record<string, { label: string; kind: Kind; hint?: string }>;

export type MetricName = keyof typeof SHOWN;

export const METRICS: Readonly<Record<MetricName, { label: string; kind: Kind; hint?: string }>> = SHOWN;

export const METRIC_NAMES = Object.keys(SHOWN) as MetricName[];

const RATIOS: ReadonlySet<MetricName> = new Set(['ecpm', 'fill_rate', 'arpdau', 'arppu', 'cpi', 'roas']);

/** What a metric is of days on which nothing came: 0 for what is added up, nothing for a ratio. */
export const nothingOf = (name: MetricName): 0 | null => (RATIOS.has(name) ? null : 0);

type Value = string | number | boolean | null | undefined;

const numberOf = (value: Value) => (typeof value === 'number' ? value : null);

export function showMetric(name: MetricName, value: Value, currency: string): string {
  const { kind } = METRICS[name];
  if (kind === 'money') return money(numberOf(value), currency);
  return kind === 'percent' ? percent(numberOf(value)) : count(numberOf(value));
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
