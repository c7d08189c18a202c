import {
  ALL_METRICS,
  METRICS,
  type Metric,
  type MetricDefinition,
  type MoneyMetric,
  per,
  type Sums,
} from '#catalogue';
import { amountField, fromNanos } from '#lib/money';

/** Exact amounts are added only if the numbers may be rounded. */
export type MetricValues = Record<Metric, number | null> & Partial<Record<`${MoneyMetric}_exact`, string>>;

/** An amount in an answer; null if part of it cannot be converted. */
export const moneyField = <Name extends string>(name: Name, nanos: bigint | null) =>
  (nanos === null ? { [name]: null } : amountField(name, nanos)) as Record<Name, number | null>;

const NOTHING = Object.fromEntries(ALL_METRICS.map((name) => [name, null])) as Record<Metric, null>;

/** Every metric of a group; null for those that its grouping cannot provide. */
export function metricsOf(sums: Sums, days: number, given: ReadonlySet<Metric>): MetricValues {
  // One object for all of them: a report by creative has thousands of rows.
  const values: Record<string, number | string | null> = { ...NOTHING };
  for (const name of given) {
    const metric: MetricDefinition = METRICS[name];
    if ('nanos' in metric) Object.assign(values, moneyField(name, metric.nanos(sums)));
    else values[name] = metric.value(sums, days);
  }
  return values as MetricValues;
}

/** A metric of a group that is not a mean per day; null if part of an amount cannot be converted. */
export function metricOf(name: Metric, sums: Sums): number | null {
  const metric: MetricDefinition = METRICS[name];
  if (!('nanos' in metric)) return metric.value(sums, 0);
  const nanos = metric.nanos(sums);
  return nanos === null ? null : fromNanos(nanos);
}

type LifetimeSums = { eligible: number; revenue: bigint | null; spend: bigint | null };

/** What devices earned per device, and relative to spend. Null revenue or spend means that not all of it is known. */
export function plainRatiosOf({ eligible, ...sums }: LifetimeSums) {
  const inUnits = (nanos: bigint | null) => (nanos === null ? null : fromNanos(nanos));
  const [revenue, spend] = [inUnits(sums.revenue), inUnits(sums.spend)];
  return { ltv: per(revenue, eligible), roas: per(revenue, spend) };
}

/** A funnel's steps, from how many devices reach each and how fast. */
export function funnelOf(steps: readonly { step: string; devices: number; medianSeconds: number | null }[]) {
  return steps.map(({ step, devices, medianSeconds }, index) => ({
    step,
    devices,
    from_first: per(devices, steps[0]?.devices ?? 0),
    from_previous: index === 0 ? null : per(devices, steps[index - 1]?.devices ?? 0),
    median_seconds: medianSeconds,
  }));
}
