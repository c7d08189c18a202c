import { isolate } from '#lib/input/isolate';
import { isOfGroup } from '#reports';
import { NamePath } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import { type ComparedReport, figuresBefore } from '../tables/compared.tsx';
import { groupName, isTimeGroup } from '../tables/groups.tsx';
import { EarlierCell, MetricCell } from '../tables/lacking.tsx';
import { type MetricName, numberOf, sortRows } from '../tables/metrics.ts';
import type { AxisUnit } from '../tables/places.ts';
import { Bar } from './shapes.tsx';
import { TimeChart } from './time-chart.tsx';

const MAX_BARS = 10;

type BreakdownChartProps = {
  view: View;
  groups: readonly string[];
  metric: MetricName;
  compared: ComparedReport;
};

/** Bars of the largest groups, each with its earlier value. */
const Bars = ({ view, groups, metric, compared }: BreakdownChartProps) => {
  const rows = sortRows(
    compared.report.data.filter((row) => isOfGroup(row) && typeof row[metric] === 'number'),
    `-${metric}`,
  ).slice(0, MAX_BARS);
  const before = figuresBefore(groups, compared.before, metric);
  const top = Math.max(0, ...rows.map((row) => numberOf(row[metric]) ?? 0));
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
            <Bar share={(numberOf(row[metric]) ?? 0) / top} />
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
  const unit = groups.find(isTimeGroup) as AxisUnit | undefined;
  return unit ? (
    <TimeChart {...shown} unit={unit} group={groups.find((name) => !isTimeGroup(name))} />
  ) : (
    <Bars {...shown} />
  );
};
