import { HOURLY_METRICS, METRICS, type Metric, type MetricDefinition, type Sums } from '#catalogue';
import { fromNanos } from '#lib/money';
import type { CubeStores } from '#rollup';
import { type DimensionName, givenBy, type NamedColumns, shownOf } from './dimensions.ts';
import { readReportSums } from './engine/group-sums.ts';
import { keyValues, REST } from './engine/question.ts';
import { checkHoursKept } from './hours.ts';
import { compareShown, type PerformanceQuery } from './performance.ts';
import { filtersOf, type Reported } from './query.ts';

/** Days, of which the last may end at an hour of the clock. */
type ComparedPeriod = Pick<PerformanceQuery, 'from' | 'to' | 'until_hour'>;

type ChangesWanted = {
  /** The metric whose changes are ranked, and another one of the same groups. Neither may be a mean per day. */
  metric: Metric;
  also: Metric;
  /** The largest number of changes. */
  count: number;
};

/** A group, and its values in both periods. Missing ones are 0. */
export type GroupChange = {
  row: NamedColumns;
  now: number;
  before: number;
  also: { now: number; before: number };
};

/** With more groups, the smaller ones may be left out, because it is unknown in which of the periods they have figures. */
const MAX_LOOKED_THROUGH = 5_000;

/**
 * The groups whose metric changed most from one period to another, the largest change first. Only these become rows, so it takes much
 * less time than two performance reports. `query` gives the grouping, filters and currency.
 */
export async function findChanges(
  env: CubeStores,
  application: Reported,
  query: PerformanceQuery,
  periods: { now: ComparedPeriod; before: ComparedPeriod },
  wanted: ChangesWanted,
  now: number,
): Promise<GroupChange[]> {
  const { group_by: names, currency = application.currency } = query;
  const filters = filtersOf(query);
  const given = givenBy(names, filters);
  const read = async ({ from, to, until_hour: untilHour }: ComparedPeriod) => {
    checkHoursKept({ ...query, from, to, until_hour: untilHour }, application, now);
    const { groups } = await readReportSums(env, application, {
      ...{ names, from, to, untilHour, reporting: currency, filters, wantsTotals: false },
      metrics: [wanted.metric, wanted.also].filter(
        (name) => given.has(name) && (untilHour === undefined || HOURLY_METRICS.includes(name)),
      ),
      limit: MAX_LOOKED_THROUGH,
    });
    return groups;
  };
  const [later, earlier] = await Promise.all([read(periods.now), read(periods.before)]);
  return given.has(wanted.metric) ? largestChanges(names, later, earlier, wanted) : [];
}

/** A metric of a group that is not a mean per day. */
function metricOf(name: Metric, sums: Sums): number | null {
  const metric: MetricDefinition = METRICS[name];
  return 'nanos' in metric ? fromNanos(metric.nanos(sums)) : metric.value(sums, 0);
}

type SumsByGroup = ReadonlyMap<string, Sums>;

/**
 * The largest changes between two reports' groups. Groups without a row of their own in one of them, because it has too many, are left out:
 * their value there is unknown.
 */
export function largestChanges(
  names: readonly DimensionName[],
  later: SumsByGroup,
  earlier: SumsByGroup,
  { metric, also, count }: ChangesWanted,
): GroupChange[] {
  const figureOf = (name: Metric, sums: Sums | undefined) => (sums && metricOf(name, sums)) ?? 0;
  const rowOf = (key: string) => shownOf(keyValues(key), names);
  const largest: { key: string; now: number; before: number; by: number }[] = [];
  for (const key of new Set([...later.keys(), ...earlier.keys()])) {
    const [one, two] = [later.get(key), earlier.get(key)];
    const isUnknown = (!one && later.has(REST)) || (!two && earlier.has(REST));
    if (key === REST || isUnknown) continue;
    const [now, before] = [figureOf(metric, one), figureOf(metric, two)];
    const by = Math.abs(now - before);
    if (by === 0) continue;
    const isAfter = (other: (typeof largest)[number]) =>
      by < other.by || (by === other.by && compareShown(rowOf(key), rowOf(other.key)) > 0);
    const place = largest.findLastIndex(isAfter) + 1;
    if (place < count) largest.splice(place, 0, { key, now, before, by });
    if (largest.length > count) largest.pop();
  }
  return largest.map(({ key, now, before }) => ({
    row: rowOf(key),
    now,
    before,
    also: { now: figureOf(also, later.get(key)), before: figureOf(also, earlier.get(key)) },
  }));
}
