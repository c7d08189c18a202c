import type { View } from '../shell/view.ts';
import { type ComparedReport, earlierPlaces } from '../tables/compared.tsx';
import { lackedAt } from '../tables/lacking.tsx';
import { formatOf, METRIC_DEFINITIONS, type MetricName, nothingOf } from '../tables/metrics.ts';
import { alignedTo, placesIn, ticksOf, type Unit, valuesAt } from './axis.ts';
import { LineChart, type Marker, type Series } from './chart.tsx';

/** The first of the metrics at the places of the earlier period, drawn below the same metric of this one. */
function earlierSeries(view: View, unit: Unit, compared: ComparedReport, name: MetricName): Series[] {
  const { earlier: report, periods } = compared;
  if (!report || !periods) return [];
  const places = placesIn(view, unit);
  const earlier = earlierPlaces(view, unit, periods);
  const figures = valuesAt(earlier, unit, report.data, (row) => row[name], nothingOf(name));
  const values = alignedTo(places, earlier, figures, unit);
  const lacks = alignedTo(places, earlier, lackedAt(earlier, unit, report.data, name), unit);
  return [{ name: `${METRIC_DEFINITIONS[name].label}, before`, values, lacks, isWhole: true, before: 0 }];
}

/** Totals of a report that is grouped by `unit` alone, over time. All metrics have the unit of the first. */
export const TimeChart = ({
  title,
  view,
  unit,
  compared,
  names: [first, ...others],
  markers = [],
}: {
  title: string;
  view: View;
  unit: Unit;
  compared: ComparedReport;
  names: readonly [MetricName, ...MetricName[]];
  markers?: readonly Marker[];
}) => {
  const places = placesIn(view, unit);
  const { data } = compared.report;
  return (
    <LineChart
      title={title}
      labels={places.map(({ label }) => label)}
      ticks={ticksOf(places, unit)}
      partial={places.flatMap(({ partial }, index) => (partial ? [index] : []))}
      markers={markers}
      isWhole={METRIC_DEFINITIONS[first].unit === 'count'}
      format={formatOf(first, view.currency)}
      series={[
        ...[first, ...others].map((name) => ({
          name: METRIC_DEFINITIONS[name].label,
          values: valuesAt(places, unit, data, (row) => row[name], nothingOf(name)),
          lacks: lackedAt(places, unit, data, name),
        })),
        ...earlierSeries(view, unit, compared, first),
      ]}
    />
  );
};
