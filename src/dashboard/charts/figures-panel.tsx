import type { Child } from 'hono/jsx';
import { Card } from '../shell/parts.tsx';
import { Zone } from '../shell/report.tsx';
import { type Here, type View, viewQuery } from '../shell/view.ts';
import { ComparedDays, type ComparedReport } from '../tables/compared.tsx';
import { groupLabel } from '../tables/groups.tsx';
import { WithoutHours, WithoutSpend } from '../tables/left-out.tsx';
import { METRIC_DEFINITIONS, type MetricName, netOf } from '../tables/metrics.ts';
import { isHourly } from '../tables/part-of-day.ts';
import { type AxisUnit, finestUnitOf, unitOf } from '../tables/places.ts';
import type { Marker } from './chart.tsx';
import { Headline, withoutHours } from './headline.tsx';
import { TimeChart } from './time-chart.tsx';

const UNITS = ['day', 'week', 'month'] as const;

/**
 * Reads what a panel's chart shows. Anything but one of the panel's metrics and units is ignored. Figures may be without refunds and the fee of
 * stores: addresses name the metrics as if they were not, and `shown` is what stands for one.
 */
export function readChosen(
  query: Readonly<Record<string, string>>,
  names: readonly [MetricName, ...MetricName[]],
) {
  const metric = names.find((name) => name === query.metric) ?? names[0];
  const chosenUnit = UNITS.find((unit) => unit === query.unit);
  const isNet = query.revenue === 'net';
  return {
    names,
    metric,
    isNet,
    shown: (name: MetricName): MetricName => (isNet ? netOf(name) : name),
    unit: (view: View, hasHours = false): AxisUnit =>
      chosenUnit ?? (hasHours ? finestUnitOf(view) : unitOf(view)),
    /** The parameters of the choice. Defaults are left out. */
    carry: { metric: metric === names[0] ? '' : metric, unit: chosenUnit ?? '', revenue: isNet ? 'net' : '' },
  };
}

/** The figures of a page as cards, of which each chooses what the chart below them shows. Works by links alone. */
export const FiguresPanel = ({
  view,
  path,
  chosen: { names, metric, isNet, shown, carry },
  compared,
  unit,
  markers = [],
  aside,
}: Here & {
  chosen: ReturnType<typeof readChosen>;
  compared: ComparedReport;
  unit: AxisUnit;
  markers?: readonly Marker[];
  aside?: Child;
}) => {
  const charted = shown(metric);
  const title = `${METRIC_DEFINITIONS[charted].label} by ${unit}`;
  const link = (changes: Record<string, string>) => path + viewQuery(view, { ...carry, ...changes });
  const units = unit === 'hour' ? (['hour', ...UNITS.slice(0, 1)] as const) : UNITS;
  return (
    <section class="panel">
      <header class="card-head visually-hidden">
        <h2>This period</h2>
      </header>
      <Headline
        view={view}
        unit={unit}
        compared={compared}
        names={names.map(shown)}
        chosen={charted}
        link={(name) => {
          const own = names.findIndex((one) => shown(one) === name);
          return link({ metric: own === 0 ? '' : (names[own] ?? '') });
        }}
      />
      <Card
        title={title}
        info={
          <>
            <ComparedDays view={view} compared={compared} without={withoutHours(names.map(shown))} />
            <Zone view={view} />
            <WithoutSpend view={view} />
            {unit === 'hour' && <WithoutHours />}
          </>
        }
        aside={
          <span class="asides">
            {aside}
            <span class="seg">
              {(['', 'net'] as const).map((name) => (
                <a
                  href={link({ revenue: name })}
                  data-keep-scroll
                  title={
                    name === 'net' ? METRIC_DEFINITIONS.net_revenue.hint : METRIC_DEFINITIONS.revenue.hint
                  }
                  {...((name === 'net') === isNet ? { 'aria-current': 'true' as const } : {})}
                >
                  {name === 'net' ? 'Net' : 'Gross'}
                </a>
              ))}
            </span>
            <span class="seg">
              {units.map((name) => (
                <a
                  href={link({ unit: name === 'hour' ? '' : name })}
                  data-keep-scroll
                  {...(name === unit ? { 'aria-current': 'true' as const } : {})}
                >
                  {groupLabel(name)}
                </a>
              ))}
            </span>
          </span>
        }
      >
        {unit === 'hour' && !isHourly(charted) ? (
          <p class="empty">{`${METRIC_DEFINITIONS[charted].label} has no hours.`}</p>
        ) : (
          <TimeChart view={view} unit={unit} metric={charted} compared={compared} markers={markers} />
        )}
      </Card>
    </section>
  );
};
