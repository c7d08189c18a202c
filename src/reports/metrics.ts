import {
  ALL_METRICS,
  METRICS,
  type Metric,
  type MetricDefinition,
  type MoneyMetric,
  per,
  type Sums,
} from '#catalogue';
import { amountField, fromMicros } from '#lib/money';
import { daysBetween } from '#lib/time';

/** Exact amounts are added only if the numbers may be rounded. */
export type MetricValues = Record<Metric, number | null> & Partial<Record<`${MoneyMetric}_exact`, string>>;

/** An amount in an answer; null if part of it cannot be converted. */
export const moneyField = <Name extends string>(name: Name, micros: bigint | null) =>
  (micros === null ? { [name]: null } : amountField(name, micros)) as Record<Name, number | null>;

/** Every metric of a group; null for those that its grouping cannot provide. */
export function metricsOf(sums: Sums, days: number, given: ReadonlySet<Metric>): MetricValues {
  const values = ALL_METRICS.map((name) => {
    const metric: MetricDefinition = METRICS[name];
    if (!given.has(name)) return { [name]: null };
    return 'micros' in metric ? moneyField(name, metric.micros(sums)) : { [name]: metric.value(sums, days) };
  });
  return Object.assign({}, ...values);
}

/** Whether day N of a cohort is over. Its devices count for day N, in numerator and denominator, only then. */
export const isOver = (acquiredDay: string, day: number, today: string): boolean =>
  daysBetween(acquiredDay, today) > day;

/** Devices of one acquisition day: how many were active `age` days later, and for how many that was the last active day. */
export type ActivityRow = { acquiredDay: string; age: number; active: number; lastActive: number };

/** Every device is active on day 0, the day of its acquisition. */
export const cohortSize = (rows: readonly ActivityRow[]): number =>
  rows.reduce((total, row) => total + (row.age === 0 ? row.active : 0), 0);

/** Classic and rolling retention on day N. `today` is a day in the application's time zone. */
export function retentionOf(rows: readonly ActivityRow[], day: number, today: string) {
  const over = rows.filter((row) => isOver(row.acquiredDay, day, today));
  const eligible = cohortSize(over);
  let [active, later] = [0, 0];
  for (const row of over) {
    if (row.age === day) active += row.active;
    if (row.age >= day) later += row.lastActive;
  }
  const complete = eligible === cohortSize(rows);
  return { eligible, complete, active, classic: per(active, eligible), rolling: per(later, eligible) };
}

type LifetimeSums = { size: number; eligible: number; revenue: bigint | null; spend: bigint | null };

/** Lifetime value and ROAS by day N, over the eligible of `size` devices. Null revenue or spend means that not all of it is known. */
export function lifetimeValueOf({ size, eligible, ...sums }: LifetimeSums) {
  const inUnits = (micros: bigint | null) => (micros === null ? null : fromMicros(micros));
  const [revenue, spend] = [inUnits(sums.revenue), inUnits(sums.spend)];
  return {
    eligible,
    complete: eligible === size,
    ...moneyField('revenue', sums.revenue),
    ltv: per(revenue, eligible),
    roas: per(revenue, spend),
  };
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
