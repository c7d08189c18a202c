import type { Child } from 'hono/jsx';
import { Card } from '../shell/parts.tsx';
import { WithoutHours, WithoutSpend, Zone } from '../shell/report.tsx';
import { type View, viewQuery } from '../shell/view.ts';
import { ComparedDays, type ComparedReport } from '../tables/compared.tsx';
import { Headline, withoutHours } from '../tables/headline.tsx';
import { METRIC_DEFINITIONS, type MetricName, netOf } from '../tables/metrics.ts';
import { isHourly } from '../tables/part-of-day.ts';
import { finestUnitOf, type Unit, unitOf } from './axis.ts';
import type { Marker } from './chart.tsx';
import { TimeChart } from './time-chart.tsx';

const UNITS = ['day', 'week', 'month'] as const;
const UNIT_LABELS: Readonly<Record<Unit, string>> = {
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
};

/** Whether figures are without refunds and the fee of stores. Addresses name the metrics as if they were not. */
const isNet = ({ revenue }: Readonly<Record<string, string>>) => revenue === 'net';

/** Reads what a panel's chart shows. Anything but one of the panel's metrics and units is ignored. `shown` is what stands for a metric. */
export function readChosen<Name extends MetricName>(
  query: Readonly<Record<string, string>>,
  names: readonly [Name, ...Name[]],
): { metric: Name; unit: (view: View, hasHours?: boolean) => Unit; shown: (name: MetricName) => MetricName } {
  return {
    shown: isNet(query) ? netOf : (name) => name,
    metric: names.find((name) => name === query.metric) ?? names[0],
    unit: (view, hasHours = false) =>
      UNITS.find((unit) => unit === query.unit) ?? (hasHours ? finestUnitOf(view) : unitOf(view)),
  };
}

/** The parameters of a panel's choice. Defaults are left out. */
export const chosenParameters = (
  query: Readonly<Record<string, string>>,
  names: readonly MetricName[],
): Record<string, string> => ({
  metric: names.slice(1).find((name) => name === query.metric) ?? '',
  unit: UNITS.find((unit) => unit === query.unit) ?? '',
  revenue: isNet(query) ? 'net' : '',
});

/** The figures of a page as cards, of which each chooses what the chart below them shows. Works by links alone. */
export const FiguresPanel = ({
  view,
  path,
  carry,
  compared,
  names,
  metric,
  unit,
  markers = [],
  aside,
}: {
  view: View;
  path: string;
  /** The parameters of this choice, from `chosenParameters`. */
  carry: Record<string, string>;
  compared: ComparedReport;
  names: readonly MetricName[];
  metric: MetricName;
  unit: Unit;
  markers?: readonly Marker[];
  aside?: Child;
}) => {
  const shown = isNet(carry) ? netOf : (name: MetricName) => name;
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
                  {...(name === (isNet(carry) ? 'net' : '') ? { 'aria-current': 'true' as const } : {})}
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
                  {UNIT_LABELS[name]}
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
