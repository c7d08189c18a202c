import {
  type CohortMetric,
  isCohortMetric,
  METRICS,
  type Metric,
  type MetricDefinition,
  type MoneyMetric,
  PLAIN_METRICS,
  type PlainMetric,
  per,
  type Sums,
} from '#catalogue';
import { amountField, fromNanos } from '#lib/money';
import { type Unconverted, unconvertedField } from './engine/unrated.ts';

/**
 * Metrics of cohorts are there only if they were asked for. Exact amounts are added only if the numbers may be rounded. `unconverted` is what revenue
 * and spend lack, `roas_unconverted` what the revenue behind ROAS lacks, `cohort_unconverted` what the metrics of cohorts do; they are added only if
 * there is any. So is `incomplete_days`.
 */
export type MetricValues = Record<PlainMetric, number | null> &
  Partial<Record<CohortMetric, number | null>> &
  Partial<Record<`${MoneyMetric}_exact`, string>> & {
    unconverted?: Unconverted;
    roas_unconverted?: Unconverted;
    cohort_unconverted?: Unconverted;
    incomplete_days?: number[];
  };

/** The metrics of a group without figures. */
export const noMetrics = (asked: readonly Metric[] = []): Record<string, null> =>
  Object.fromEntries([...PLAIN_METRICS, ...asked].map((name) => [name, null]));

/** Every metric of a group; null for those that its grouping cannot provide. `nothing` are the metrics of a group without figures. */
export function metricsOf(
  sums: Sums,
  days: number,
  given: ReadonlySet<Metric>,
  nothing = noMetrics(),
): MetricValues {
  // One object for all of them: a report by creative has thousands of rows.
  const values: Record<string, number | string | null | Unconverted | number[]> = { ...nothing };
  let showsMoney = false;
  for (const name of given) {
    const metric: MetricDefinition = METRICS[name];
    if ('nanos' in metric) Object.assign(values, amountField(name, metric.nanos(sums)));
    else values[name] = metric.value(sums, days);
    showsMoney ||= metric.unit === 'money' && !isCohortMetric(name);
  }
  if (showsMoney) Object.assign(values, unconvertedField(sums.unconverted));
  if (values.roas !== null || values.roas_blended !== null) {
    Object.assign(values, unconvertedField(sums.unconvertedAcquired, 'roas_unconverted'));
  }
  if (sums.cohort) {
    Object.assign(values, unconvertedField(sums.cohort.unconverted, 'cohort_unconverted'));
    if (sums.cohort.incompleteDays.length > 0) values.incomplete_days = [...sums.cohort.incompleteDays];
  }
  return values as unknown as MetricValues;
}

/** A metric of a group that is not a mean per day. */
export function metricOf(name: Metric, sums: Sums): number | null {
  const metric: MetricDefinition = METRICS[name];
  return 'nanos' in metric ? fromNanos(metric.nanos(sums)) : metric.value(sums, 0);
}

type LifetimeSums = { eligible: number; revenue: bigint; spend: bigint | null };

/** What devices earned per device, and relative to spend. Spend is null if it is unknown for the grouping. */
export function plainRatiosOf({ eligible, revenue, spend }: LifetimeSums) {
  const earned = fromNanos(revenue);
  return { ltv: per(earned, eligible), roas: per(earned, spend === null ? null : fromNanos(spend)) };
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
