import {
  type Basis,
  isCohortMetric,
  KNOWN_IN_PART,
  METRICS,
  type Metric,
  type MetricDefinition,
  type MoneyMetric,
  OF_SPEND,
  OF_STATED_IMPRESSIONS,
  PLAIN_METRICS,
  type PlainMetric,
  type RequestedMetric,
  type Sums,
} from '#catalogue';
import { amountField } from '#lib/money';
import { NOTHING_UNSTATED, type Unstated } from './engine/unplaced-costs.ts';
import { type Unconverted, unconvertedField } from './engine/unrated.ts';

// The metrics of a row or of the totals, from its sums.

/**
 * Metrics of cohorts and of the state of devices are there only if they were asked for. Exact amounts are added only if the numbers may be rounded. `unconverted` is what revenue
 * and spend lack, `roas_unconverted` what the revenue behind ROAS lacks, `cohort_unconverted` what the metrics of cohorts do; they are added only if
 * there is any. So are `incomplete_days`, and `unstated`: see `Unstated`.
 */
export type MetricValues = Record<PlainMetric, number | null> &
  Partial<Record<RequestedMetric, number | null>> &
  Partial<Record<`${MoneyMetric}_exact`, string>> & {
    unconverted?: Unconverted;
    roas_unconverted?: Unconverted;
    cohort_unconverted?: Unconverted;
    incomplete_days?: number[];
    unstated?: string[];
  };

/** The metrics of a group without figures. */
export const noMetrics = (asked: readonly Metric[] = []): Record<string, null> =>
  Object.fromEntries([...PLAIN_METRICS, ...asked].map((name) => [name, null]));

/** What the metrics of a group are computed from. */
type ComputedFrom = {
  sums: Sums;
  /** How many days it covers. */
  days: number;
  /** The metrics that its grouping can provide. */
  given: ReadonlySet<Metric>;
  /** What some costs that may belong to it do not state. */
  unstated?: Unstated;
  /** What spend is compared with. */
  basis: Basis;
};

/** Sums with those of all devices in place of those of attributed ones, for what is compared with spend. */
const blended = (sums: Sums): Sums => ({
  ...sums,
  attributedInstalls: sums.installs,
  attributedRevenue: sums.acquiredRevenue,
  attributedPurchaseRevenue: sums.acquiredPurchaseRevenue,
  attributedReturnedRevenue: sums.acquiredReturnedRevenue,
});

/** Every metric of a group; null for those that its grouping cannot provide. `nothing` are the metrics of a group without figures. */
export function metricsOf(
  { sums, days, given, unstated, basis }: ComputedFrom,
  nothing = noMetrics(),
): MetricValues {
  // One object for all of them: a report by creative has thousands of rows.
  const values: Record<string, number | string | null | Unconverted | number[] | string[]> = { ...nothing };
  const isUnknown = unknownIn(sums, unstated);
  const forSpend = basis === 'blended' ? blended(sums) : sums;
  let showsMoney = false;
  for (const name of given) {
    const metric: MetricDefinition = METRICS[name];
    if (isUnknown(name)) continue;
    const own = OF_SPEND.includes(name) ? forSpend : sums;
    if ('nanos' in metric) Object.assign(values, amountField(name, metric.nanos(own)));
    else values[name] = metric.value(own, days);
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
  const lacking = [...given].flatMap((name) => unstatedOf(name, unstated));
  if (lacking.length > 0) values.unstated = [...new Set(lacking)];
  return values as unknown as MetricValues;
}

/** The dimensions that costs behind a metric do not state. */
const unstatedOf = (name: Metric, { spend, impressions }: Unstated = NOTHING_UNSTATED): readonly string[] => [
  ...(OF_SPEND.includes(name) ? spend : []),
  ...(OF_STATED_IMPRESSIONS.includes(name) ? impressions : []),
];

/**
 * Whether a metric of a group is unknown, because some costs may belong to it and do not say so. What is known of the costs themselves is shown
 * if it is anything at all; what is computed from it would mislead.
 */
const unknownIn =
  (sums: Sums, unstated: Unstated = NOTHING_UNSTATED) =>
  (name: Metric): boolean =>
    unstatedOf(name, unstated).length > 0 && !(KNOWN_IN_PART.includes(name) && additiveOf(name, sums) !== 0n);

/** A metric that adds up, as a whole number: nanos of an amount. */
function additiveOf(name: Metric, sums: Sums): bigint {
  const metric: MetricDefinition = METRICS[name];
  return 'nanos' in metric ? metric.nanos(sums) : BigInt(metric.value(sums, 0) ?? 0);
}

/**
 * What of the totals is in no row: `unplaced`, and what rows have of metrics that are unknown there. With it, the rows add up to the totals. Only
 * metrics that add up have such a part. Null if there is none.
 */
export function unplacedMetrics(
  unplaced: Sums,
  rows: readonly ComputedFrom[],
  given: ReadonlySet<Metric>,
  totals: MetricValues,
  nothing = noMetrics(),
): MetricValues | null {
  const values: Record<string, unknown> = { ...nothing };
  let hasAny = false;
  const isUnknown = rows.map((row) => unknownIn(row.sums, row.unstated));
  for (const name of given) {
    if (METRICS[name].kind !== 'sum' || totals[name] === null) continue;
    let sum = additiveOf(name, unplaced);
    for (const [index, { sums }] of rows.entries())
      if (isUnknown[index]?.(name)) sum += additiveOf(name, sums);
    Object.assign(values, 'nanos' in METRICS[name] ? amountField(name, sum) : { [name]: Number(sum) });
    hasAny ||= sum !== 0n;
  }
  if (!hasAny) return null;
  return { ...values, ...unconvertedField(unplaced.unconverted) } as unknown as MetricValues;
}
