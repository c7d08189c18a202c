import * as z from 'zod';
import {
  ALL_METRICS,
  basisOf,
  type CohortFigures,
  HOURLY_METRICS,
  isCohortMetric,
  isRequested,
  METRICS,
  type Metric,
  type MetricDefinition,
  OF_COSTS,
  OF_DEVICES,
  OF_PAYERS,
  OF_SPEND,
  PLAIN_METRICS,
} from '#catalogue';
import type { CounterBindings } from '#counting';
import { commaSeparated, currencyCode } from '#http';
import { daysOf } from '#lib/calendar';
import { addDays, dayIn } from '#lib/time';
import { type CubeStores, readFirstDay } from '#rollup';
import type { Performance } from './answers.ts';
import { readGroupCohorts } from './cohorts/group-cohorts.ts';
import {
  type DimensionName,
  givenBy,
  isDimension,
  isTime,
  knowsSpendIn,
  type NamedColumns,
  otherColumns,
  REPORT_DIMENSIONS,
  rollupOf,
  shownOf,
  spansOf,
  unallocatedColumns,
} from './dimensions.ts';
import { COMPARISONS } from './earlier-days.ts';
import type { GroupValues } from './engine/group-cells.ts';
import { readReportSums } from './engine/group-sums.ts';
import { type Cut, keyValues, REST } from './engine/question.ts';
import { readUnallocatedSpend } from './engine/unallocated-spend.ts';
import { ALL_PLACED, readUnplacedCosts } from './engine/unplaced-costs.ts';
import { type Unconverted, unconvertedOf } from './engine/unrated.ts';
import { checkHours, checkHoursKept, until_hour } from './hours.ts';
import { type MetricValues, metricsOf, noMetrics, unplacedMetrics } from './metric-values.ts';
import { NO_DEVICES } from './payers.ts';
import { checkPeriod, filtersOf, listing, listOf, period, type Reported } from './query.ts';
import { countPayers, countRequested } from './requested-devices.ts';

const metricsError = 'must be names of metrics, such as revenue or roas_d7, separated by commas';

const groupError = `must be one or two of ${Object.keys(REPORT_DIMENSIONS).join(', ')}`;

export const PerformanceQuery = z
  .object({
    ...period,
    group_by: z
      .string()
      .default('day')
      .transform(listOf)
      .pipe(
        z
          .array(z.custom<DimensionName>((name) => typeof name === 'string' && isDimension(name), groupError))
          .min(1, groupError)
          .max(2, groupError),
      )
      .refine((names) => rollupOf(names) !== undefined, 'names two groupings that cannot be combined')
      .meta(commaSeparated(Object.keys(REPORT_DIMENSIONS), { maxItems: 2, default: ['day'] })),
    until_hour,
    currency: currencyCode().optional(),
    metrics: z
      .string()
      .transform(listOf)
      .pipe(z.array(z.enum(ALL_METRICS, metricsError)).min(1, metricsError))
      .optional()
      .meta(commaSeparated(ALL_METRICS)),
    compare: z.enum(COMPARISONS, `must be one of ${COMPARISONS.join(', ')}`).optional(),
    ...listing,
  })
  .superRefine(checkPeriod)
  .superRefine(checkHours)
  .refine(({ compare, format }) => compare === undefined || format === 'json', {
    path: ['compare'],
    message: 'is available in JSON only; ask for the earlier days by themselves',
  });
export type PerformanceQuery = z.infer<typeof PerformanceQuery>;

export type PerformanceRow = Record<
  string,
  string | number | boolean | null | Unconverted | number[] | string[]
> &
  MetricValues & { day?: string | null; is_other?: true; is_unallocated?: true };

export type PerformanceReport = Omit<Performance, 'data' | 'totals' | 'counted_through' | 'uncounted'> & {
  /** Sorted by the groupings. The row that sums up the groups without one comes last and has `is_other: true`, and after it what belongs to no group. */
  data: PerformanceRow[];
  totals: MetricValues;
};

/** With an option for the dashboard's own pages, which the team API does not offer. */
type PerformanceAsked = Omit<PerformanceQuery, 'metrics'> & {
  metrics?: readonly Metric[] | undefined;
  /** If `false`, the totals are not computed and are all null. */
  totals?: boolean;
  /** Shows the figures as they stood at the end of this day: nothing that devices earned later counts. */
  asOf?: string;
};

/**
 * The performance report: the metrics of the days `from` to `to`, in one row per group and in total. With `metrics`, only these are computed and
 * the others are null; a group that has only other metrics may be missing.
 * `now` is in epoch milliseconds. Days that have not begun are left out of means per day.
 */
export async function reportPerformance(
  env: CounterBindings & CubeStores,
  application: Reported,
  query: PerformanceAsked,
  now: number,
): Promise<PerformanceReport> {
  const { group_by: names, from, to, until_hour: untilHour } = query;
  checkHoursKept(query, application, now);
  const reporting = query.currency ?? application.currency;
  const filters = filtersOf(query);
  const basis = basisOf(query.attribution);
  const { metrics: asksFor = PLAIN_METRICS, totals: wantsTotals = true } = query;
  const metrics = untilHour === undefined ? asksFor : asksFor.filter((name) => HOURLY_METRICS.includes(name));
  // Only means per day need the number of days.
  const needsDays = metrics.includes('dau') || metrics.includes('stickiness');
  const [{ groups, cut, total, unplaced }, firstDay] = await Promise.all([
    readReportSums(env, application, {
      ...{ names, from, to, untilHour, reporting, filters, metrics, wantsTotals },
      limit: query.limit,
      through: query.asOf,
      q: query.q,
    }),
    needsDays ? readFirstDay(env.DB, application.id) : null,
  ]);
  const today = query.asOf === undefined ? dayIn(application.timezone, now) : addDays(query.asOf, 1);
  const asksCohorts = { from, to, reporting, filters, basis, today, metrics };
  const ofGroups = readCohorts(env, application, { ...asksCohorts, names }, groups.keys());
  // Without groupings, the only group is the total.
  const ofTotal =
    names.length === 0 ? ofGroups : readCohorts(env, application, { ...asksCohorts, names: [] }, [TOTAL]);
  const [cohortOf, cohortOfTotal] = await Promise.all([ofGroups, wantsTotals ? ofTotal : null]);
  const nothing = noMetrics(asksFor.filter(isRequested));
  // Days before the application's first event do not count as days without activity.
  const start = firstDay !== null && firstDay > from ? firstDay : from;
  const days = firstDay === null ? [] : daysOf(start, to < today ? to : today);
  const wantedOf = (given: ReadonlySet<Metric>) => new Set(metrics.filter((name) => given.has(name)));
  const gives = wantedOf(givenBy(names, filters));
  const givesInTotal = wantsTotals ? wantedOf(givenBy([], filters)) : new Set<Metric>();
  const payersOf = OF_PAYERS.some((name) => gives.has(name) || givesInTotal.has(name))
    ? await countPayers(env, application, { names, from, to, filters }, total.payers)
    : NO_DEVICES;
  const asksDevices = { names, from, to, filters, today, basis };
  const devicesOf = await countRequested(env, application, asksDevices, (name) =>
    [gives, givesInTotal].some((given) => given.has(name)),
  );
  const hasSpend = OF_SPEND.some((name) => gives.has(name) || givesInTotal.has(name));
  const ofCosts = { applicationId: application.id, from, to, filters };
  const wantsCosts =
    knowsSpendIn(filters) && OF_COSTS.some((name) => gives.has(name) || givesInTotal.has(name));
  const [unallocated, costs] = await Promise.all([
    hasSpend ? readUnallocatedSpend(env.DB, ofCosts) : {},
    wantsCosts ? readUnplacedCosts(env.DB, { ...ofCosts, names }) : ALL_PLACED,
  ]);
  const daysIn = countDays(days, names);
  const rest = groups.get(REST);
  groups.delete(REST);
  const rows = [...groups]
    .map(([key, sums]) => ({ values: keyValues(key), sums: { ...sums, cohort: cohortOf?.(key) ?? null } }))
    .map(({ values, sums }) => ({
      shown: shownOf(values, names),
      sums: { ...sums, payers: payersOf.row(values, sums.payers), ...devicesOf.row(values) },
      ...{ days: daysIn(values), given: gives, unstated: costs.ofRow(values), basis },
    }))
    .sort((left, right) => compareShown(left.shown, right.shown));
  const data = rows.map(({ shown, ...row }): PerformanceRow => ({ ...shown, ...metricsOf(row, nothing) }));
  const total_rows = cut?.total ?? data.length;
  if (cut && rest) {
    const restDays = countRestDays(days, names, cut);
    const payers = payersOf.rest(rows.map(({ sums }) => sums.payers));
    const devices = devicesOf.rest(rows.map(({ sums }) => sums));
    // Over several periods, a device may be in more than one.
    const unknown: readonly Metric[] = [
      ...(payers === null ? OF_PAYERS : []),
      ...(devices === null ? OF_DEVICES : []),
    ];
    const row = {
      sums: { ...rest, cohort: cohortOf?.(REST) ?? null, payers: payers ?? 0, ...devices },
      days: restDays,
      given: new Set([...gives].filter((name) => !unknown.includes(name))),
      ...{ unstated: costs.ofRest, basis },
    };
    data.push({ ...otherColumns(...names), ...metricsOf(row, nothing) });
    rows.push({ shown: {}, ...row });
  }
  const totals = metricsOf(
    {
      sums: {
        ...total,
        cohort: cohortOfTotal?.(TOTAL) ?? null,
        payers: payersOf.total,
        ...devicesOf.total,
      },
      ...{ days: days.length, given: givesInTotal, unstated: costs.ofTotals, basis },
    },
    nothing,
  );
  const left = unplaced && unplacedMetrics(unplaced, rows, gives, totals, nothing);
  if (left) data.push({ ...unallocatedColumns(...names), ...left });
  return {
    data,
    total_rows,
    totals,
    currency: reporting,
    basis,
    timezone: application.timezone,
    unconverted: unconvertedOf(total.unconverted),
    ...unallocated,
  };
}

/** The key of the only group of a report without groupings. */
const TOTAL = JSON.stringify([]);

type CohortMetricsRequest = Omit<Parameters<typeof readGroupCohorts>[2], 'days'> & {
  metrics: readonly Metric[];
};

/** The cohorts behind groups, by key; null if no metric that these groupings provide needs them. */
async function readCohorts(
  env: CubeStores,
  application: Reported,
  { metrics, ...asked }: CohortMetricsRequest,
  keys: Iterable<string>,
): Promise<((key: string) => CohortFigures) | null> {
  const given = givenBy(asked.names, asked.filters);
  const wanted = metrics.filter((name) => isCohortMetric(name) && given.has(name));
  const days = wanted.flatMap((name) => {
    const { day, figure }: MetricDefinition = METRICS[name];
    return day === undefined || figure === undefined ? [] : [{ day, figure }];
  });
  return days.length === 0 ? null : readGroupCohorts(env, application, { ...asked, days }, keys);
}

/** Compares groups by their columns, the order of a report's rows. */
export function compareShown(left: NamedColumns, right: NamedColumns): number {
  for (const name of Object.keys(left)) {
    const [before, after] = [sortable(name, left), sortable(name, right)];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
}

/** Hours sort by instant, which also orders the two hours when clocks are set back. */
const sortable = (name: string, shown: NamedColumns): string | number =>
  name === 'hour' ? Date.parse(shown.hour ?? '') : (shown[name] ?? '');

/** The number of days that a group covers: those of its day, week or month, or all days. */
function countDays(days: readonly string[], names: readonly DimensionName[]) {
  const keyOf = (values: GroupValues) => JSON.stringify(values.filter((_, index) => isTime(names[index])));
  const counts = new Map<string, number>();
  for (const day of days) {
    const key = keyOf(spansOf(day, names));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (values: GroupValues) => counts.get(keyOf(values)) ?? 0;
}

/** The number of days that the row `other` covers: in a report by time, those up to the first group that was cut off; otherwise all. */
function countRestDays(days: readonly string[], names: readonly DimensionName[], { firstCut }: Cut): number {
  if (!firstCut || !names.some(isTime)) return days.length;
  const last = keyValues(firstCut);
  return days.filter((day) => {
    const spans = spansOf(day, names);
    const index = spans.findIndex((span, at) => span !== null && span !== last[at]);
    return index < 0 || (spans[index] ?? '') < (last[index] ?? '');
  }).length;
}
