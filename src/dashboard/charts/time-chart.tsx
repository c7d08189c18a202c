import type { PerformanceRow } from '#reports';
import { isOfGroup } from '#reports';
import type { View } from '../shell/view.ts';
import { type ComparedReport, earlierPlaces } from '../tables/compared.tsx';
import { groupName } from '../tables/groups.tsx';
import { lackedAt } from '../tables/lacking.tsx';
import { formatOf, METRIC_DEFINITIONS, type MetricName, numberOf } from '../tables/metrics.ts';
import { type AxisPlace, type AxisUnit, alignedTo, placesIn, valuesAt } from '../tables/places.ts';
import { LineChart, type Marker, type Series } from './chart.tsx';
import { ticksOf } from './ticks.ts';

/** More curves could not be distinguished. */
const MAX_CURVES = 6;

/** The groups with the largest totals of a metric, each with its rows. */
function largest(rows: readonly PerformanceRow[], group: string, metric: MetricName) {
  const named = rows.filter(isOfGroup);
  const byName = Map.groupBy(named, (row) => String(row[`${group}_id`] ?? row[group]));
  const sums = [...byName.values()].map((own) => ({
    rows: own,
    name: own[0] ? groupName(group, own[0]) : '',
    sum: own.reduce((total, row) => total + (numberOf(row[metric]) ?? 0), 0),
  }));
  return sums.sort((left, right) => right.sum - left.sum).slice(0, MAX_CURVES);
}

/**
 * The key of the first place with a row, if the report's limit cut off earlier ones, whose figures are in the row of everything else. Null if the
 * report has all rows.
 */
function firstShown({ data, total_rows }: ComparedReport['report'], unit: AxisUnit): string | null {
  const rows = data.filter(isOfGroup);
  return rows.length < total_rows ? String(rows[0]?.[unit] ?? '') : null;
}

/** A metric over time: its total and that of the earlier period, or one curve per group of a report that is also grouped by `group`. */
export const TimeChart = ({
  view,
  unit,
  metric,
  compared: { report, earlier: reportBefore, periods },
  group,
  markers = [],
}: {
  view: View;
  unit: AxisUnit;
  metric: MetricName;
  compared: ComparedReport;
  group?: string | undefined;
  markers?: readonly Marker[];
}) => {
  const { label, unit: kind } = METRIC_DEFINITIONS[metric];
  const places = placesIn(view, unit);
  const firstKnown = firstShown(report, unit);
  const firstIndex = firstKnown === null ? 0 : places.findIndex(({ key }) => key === firstKnown);
  const curve = (name: string, rows: readonly PerformanceRow[], at: readonly AxisPlace[]) => ({
    name,
    values: valuesAt(at, unit, rows, metric),
    lacks: lackedAt(at, unit, rows, metric),
  });
  const own = group ? largest(report.data, group, metric) : [{ name: label, rows: report.data }];
  const series: Series[] = own.map(({ name, rows }) => {
    const { values, ...rest } = curve(name, rows, places);
    return { ...rest, values: values.map((value, index) => (index < firstIndex ? null : value)) };
  });
  if (!group && reportBefore && periods) {
    const earlier = earlierPlaces(view, unit, periods);
    const { name, values, lacks } = curve(`${label}, before`, reportBefore.data, earlier);
    series.push({
      name,
      values: alignedTo(places, earlier, values, unit),
      lacks: alignedTo(places, earlier, lacks, unit),
      isWhole: true,
      before: 0,
    });
  }
  return (
    <LineChart
      title={`${label} by ${unit}`}
      labels={places.map((place) => place.label)}
      ticks={ticksOf(places, unit)}
      partial={places.flatMap(({ partial }, index) => (partial ? [index] : []))}
      markers={markers}
      isWhole={kind === 'count'}
      format={formatOf(metric, view.currency)}
      series={series}
    />
  );
};
