import { isolate } from '#lib/input/isolate';
import { NamePath } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import { type ComparedReport, earlierPlaces, figuresBefore } from '../tables/compared.tsx';
import { groupName, isTimeGroup } from '../tables/groups.tsx';
import { EarlierCell, lackedAt, MetricCell } from '../tables/lacking.tsx';
import { formatOf, METRIC_DEFINITIONS, type MetricName, nothingOf, sortRows } from '../tables/metrics.ts';
import { alignedTo, placesIn, ticksOf, type Unit, valuesAt } from './axis.ts';
import { LineChart, type Series } from './chart.tsx';
import { Bar } from './shapes.tsx';

/** More curves could not be distinguished. */
const MAX_CURVES = 6;
const MAX_BARS = 10;

type Row = ComparedReport['report']['data'][number];
type BreakdownChartProps = {
  view: View;
  groups: readonly string[];
  metric: MetricName;
  compared: ComparedReport;
};

const numberIn = (row: Row, name: string) => (typeof row[name] === 'number' ? row[name] : 0);

/** The groups with the largest totals of a metric, each with its rows. */
function largest(rows: readonly Row[], group: string, metric: MetricName): { name: string; rows: Row[] }[] {
  const byName = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.is_other) continue;
    const key = String(row[`${group}_id`] ?? row[group]);
    byName.set(key, [...(byName.get(key) ?? []), row]);
  }
  const sums = [...byName.values()].map((own) => ({
    rows: own,
    name: own[0] ? groupName(group, own[0]) : '',
    sum: own.reduce((total, row) => total + numberIn(row, metric), 0),
  }));
  return sums.sort((left, right) => right.sum - left.sum).slice(0, MAX_CURVES);
}

/**
 * The key of the first place with a row, if the report's limit cut off earlier ones, whose figures are in the row of everything else. Null if the
 * report has all rows.
 */
function firstShown({ data, total_rows }: ComparedReport['report'], unit: Unit): string | null {
  const rows = data.filter((row) => !row.is_other);
  return rows.length < total_rows ? String(rows[0]?.[unit] ?? '') : null;
}

/** Curves over time: the total and the earlier period, or one per group. */
const OverTime = ({
  view,
  unit,
  other,
  metric,
  compared,
}: BreakdownChartProps & { unit: Unit; other: string | undefined }) => {
  const { report, earlier: reportBefore, periods } = compared;
  const places = placesIn(view, unit);
  const firstKnown = firstShown(report, unit);
  const firstIndex = firstKnown === null ? 0 : places.findIndex(({ key }) => key === firstKnown);
  const valuesOf = (rows: readonly Row[], at = places) =>
    valuesAt(at, unit, rows, (row) => row[metric], nothingOf(metric)).map((value, index) =>
      at === places && index < firstIndex ? null : value,
    );
  const series: Series[] = other
    ? largest(report.data, other, metric).map(({ name, rows }) => ({
        name,
        values: valuesOf(rows),
        lacks: lackedAt(places, unit, rows, metric),
      }))
    : [
        {
          name: METRIC_DEFINITIONS[metric].label,
          values: valuesOf(report.data),
          lacks: lackedAt(places, unit, report.data, metric),
        },
      ];
  if (!other && reportBefore && periods) {
    const earlier = earlierPlaces(view, unit, periods);
    series.push({
      name: `${METRIC_DEFINITIONS[metric].label}, before`,
      values: alignedTo(places, earlier, valuesOf(reportBefore.data, earlier), unit),
      lacks: alignedTo(places, earlier, lackedAt(earlier, unit, reportBefore.data, metric), unit),
      isWhole: true,
      before: 0,
    });
  }
  return (
    <LineChart
      title={`${METRIC_DEFINITIONS[metric].label} by ${unit}`}
      labels={places.map(({ label }) => label)}
      ticks={ticksOf(places, unit)}
      partial={places.flatMap(({ partial }, index) => (partial ? [index] : []))}
      format={formatOf(metric, view.currency)}
      isWhole={METRIC_DEFINITIONS[metric].unit === 'count'}
      series={series}
    />
  );
};

/** Bars of the largest groups, each with its earlier value. */
const Bars = ({ view, groups, metric, compared }: BreakdownChartProps) => {
  const rows = sortRows(
    compared.report.data.filter((row) => !row.is_other && typeof row[metric] === 'number'),
    `-${metric}`,
  ).slice(0, MAX_BARS);
  const before = figuresBefore(groups, compared.before, metric);
  const top = Math.max(0, ...rows.map((row) => numberIn(row, metric)));
  if (top <= 0) return <p class="empty">No figures in this period.</p>;
  return (
    <ul class="bars">
      {rows.map((row) => {
        const names = groups.map((group) => groupName(group, row));
        const was = compared.periods ? before(row) : null;
        return (
          <li>
            <span class="bar-name" title={names.map(isolate).join(' › ')}>
              <NamePath names={names} />
            </span>
            <Bar share={numberIn(row, metric) / top} />
            <span class="number">
              <MetricCell name={metric} row={row} currency={view.currency} />
              {was !== null && was.value !== null && (
                <span class="muted">
                  {' from '}
                  <EarlierCell name={metric} earlier={was} currency={view.currency} />
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
};

/** The chosen metric of a breakdown, as curves over time or as bars. */
export const BreakdownChart = (shown: BreakdownChartProps) => {
  const { groups } = shown;
  const unit = groups.find(isTimeGroup) as Unit | undefined;
  return unit ? (
    <OverTime {...shown} unit={unit} other={groups.find((name) => !isTimeGroup(name))} />
  ) : (
    <Bars {...shown} />
  );
};
