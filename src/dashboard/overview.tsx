import type { Child } from 'hono/jsx';
import type { PerformanceReport } from '#reports';
import { alignedTo, finestUnitOf, placesIn, ticksOf, type Unit, valuesAt } from './axis.ts';
import { LineChart, type Series } from './chart.tsx';
import { Change, ComparedDays, type ComparedReport, figuresBefore, readCompared } from './compared.tsx';
import { money } from './format.ts';
import { GroupCell, groupLabel } from './groups.tsx';
import { readMarkers } from './markers.ts';
import { METRICS, type MetricName, showMetric, sortRows } from './metrics.ts';
import { Movers } from './movers.tsx';
import { isAddedUp, isHourly, keepsHoursBefore } from './part-of-day.ts';
import { Card, type Column, Table } from './parts.tsx';
import { CsvLink, Unconverted, WithoutHours, Zone } from './report.tsx';
import { type View, viewQuery } from './view.ts';

const FIGURES = ['revenue', 'installs', 'dau', 'arpdau', 'spend', 'roas'] as const;
const BY_TIME = [
  'installs',
  'dau',
  'sessions',
  'impressions',
  'ad_revenue',
  'purchases',
  'purchase_revenue',
  'revenue',
  'arpdau',
  'spend',
  'roas',
] as const satisfies readonly MetricName[];
const named = FIGURES.filter((name) => !isAddedUp(name)).map((name) => {
  const { label } = METRICS[name];
  return label === label.toUpperCase() ? label : label.toLowerCase();
});
/** The metrics that are compared only by whole days, as a list of words. */
const WHOLE_DAYS_ONLY = `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
/** A device counts once per day, however many hours it is active in. */
const DEVICE_CURVES = { hour: ['installs', 'sessions'], day: ['dau', 'installs'] } as const;
const CAMPAIGN_FIGURES = ['spend', 'installs', 'cpi', 'revenue', 'roas'] as const;
const MAX_CAMPAIGNS = 5;

type Row = PerformanceReport['data'][number];

const Figures = ({ view, compared }: { view: View; compared: ComparedReport }) => (
  <Card
    title="This period"
    aside={<ComparedDays view={view} compared={compared} without={WHOLE_DAYS_ONLY} />}
  >
    <dl class="figures">
      {FIGURES.map((name) => {
        const { label, hint } = METRICS[name];
        const { totals } = compared.report;
        return (
          <div class="figure" {...(hint ? { title: hint } : {})}>
            <dt>{label}</dt>
            <dd>
              <strong data-metric={name}>{showMetric(name, totals[name], view.currency)}</strong>
              <Change name={name} view={view} compared={compared} />
            </dd>
          </div>
        );
      })}
    </dl>
    <Zone view={view} />
  </Card>
);

async function Curves({
  env,
  view,
  compared,
  unit,
}: {
  env: Env;
  view: View;
  compared: ComparedReport;
  unit: Unit;
}) {
  const places = placesIn(view, unit);
  const markers = await readMarkers(env.DB, view, places);
  const { report, before, days } = compared;
  const values = (name: MetricName) => valuesAt(places, unit, report.data, (row) => row[name], 0);
  const earlier = (name: MetricName): Series[] => {
    if (!before || !days || (unit === 'hour' && !keepsHoursBefore(view, days))) return [];
    const whole = placesIn({ ...view, ...days.before }, unit);
    const figures = valuesAt(whole, unit, before.data, (row) => row[name], 0);
    return [
      {
        name: `${METRICS[name].label}, before`,
        values: alignedTo(places, whole, figures, unit),
        isWhole: true,
        before: 0,
      },
    ];
  };
  const chart = (
    title: string,
    all: readonly [MetricName, ...MetricName[]],
    format: (value: number | null) => string,
    hint: Child = null,
  ) => {
    const names = all.filter((name) => unit !== 'hour' || isHourly(name));
    return (
      <Card title={title}>
        <LineChart
          title={title}
          labels={places.map(({ label }) => label)}
          ticks={ticksOf(places, unit)}
          partial={places.flatMap(({ partial }, index) => (partial ? [index] : []))}
          markers={markers}
          format={format}
          series={[
            ...names.map((name) => ({ name: METRICS[name].label, values: values(name) })),
            ...names.slice(0, 1).flatMap(earlier),
          ]}
        />
        {hint}
      </Card>
    );
  };
  return (
    <div class="pair">
      {chart(`Revenue by ${unit}`, ['revenue', 'ad_revenue', 'spend'], (value) =>
        money(value, view.currency),
      )}
      {chart(
        `${unit === 'hour' ? 'Installs and sessions' : 'Devices'} by ${unit}`,
        DEVICE_CURVES[unit === 'hour' ? 'hour' : 'day'],
        (value) => showMetric('installs', value, view.currency),
        unit === 'hour' && <WithoutHours />,
      )}
    </div>
  );
}

/** The campaigns with the highest revenue, each linked to its own figures. */
async function TopCampaigns({ env, view, now }: { env: Env; view: View; now: number }) {
  const groups = ['campaign'];
  // Earlier values are read for more campaigns than are shown, because the largest now need not have been the largest then.
  const compared = await readCompared(
    env,
    view,
    {
      group_by: 'campaign',
      limit: 200,
      metrics: CAMPAIGN_FIGURES,
      metricsBefore: ['revenue'],
      totals: false,
    },
    now,
    { complete: 'nothing', metric: 'revenue' },
  );
  const rows = sortRows(
    compared.report.data.filter((row) => !row.is_other && row.campaign !== null),
    '-revenue',
  ).slice(0, MAX_CAMPAIGNS);
  if (rows.length === 0) return null;
  const before = figuresBefore(groups, compared, 'revenue');
  const columns: Column<Row>[] = [
    {
      label: groupLabel('campaign'),
      cell: (row) => <GroupCell view={view} path="/" name="campaign" row={row} />,
    },
    ...CAMPAIGN_FIGURES.map((name) => ({
      label: METRICS[name].label,
      hint: METRICS[name].hint,
      numeric: true,
      cell: (row: Row) => showMetric(name, row[name], view.currency),
    })),
    ...(compared.days
      ? [
          {
            label: 'Revenue before',
            numeric: true,
            cell: (row: Row) => showMetric('revenue', before(row), view.currency),
          },
        ]
      : []),
  ];
  return (
    <Card
      title="Top campaigns"
      aside={<a href={`/breakdown${viewQuery(view, { by: 'campaign' })}`}>All campaigns</a>}
    >
      <Table caption="Campaigns with the highest revenue" rows={rows} columns={columns} />
    </Card>
  );
}

/** The figures of a period compared with earlier ones, below any firing `alerts`. The page's script reloads it every minute. */
export async function Overview(env: Env, view: View, now: number, alerts: Child = null) {
  const unit = finestUnitOf(view);
  const columns = BY_TIME.filter((name) => unit !== 'hour' || isHourly(name));
  const [compared, movers, campaigns] = await Promise.all([
    readCompared(env, view, { group_by: unit, metrics: BY_TIME }, now),
    Movers(env, view, now),
    TopCampaigns({ env, view, now }),
  ]);
  const { report } = compared;
  return (
    <div id="overview" data-live="60">
      {alerts}
      <Unconverted amounts={report.unconverted} />
      <Figures view={view} compared={compared} />
      {await Curves({ env, view, compared, unit })}
      {movers}
      {campaigns}
      <Card
        title={`By ${unit}`}
        aside={
          <span class="asides">
            <a href={`/breakdown${viewQuery(view, { by: unit })}`}>Other groupings</a>
            <CsvLink view={view} path="/breakdown" parameters={{ by: unit }} />
          </span>
        }
      >
        <details class="fold">
          <summary>{`Show the figures of each ${unit}`}</summary>
          <Table
            caption={`Figures by ${unit}, days in ${view.application.timezone}`}
            rows={[...report.data].reverse()}
            columns={[
              {
                label: groupLabel(unit),
                cell: (row) => <GroupCell view={view} path="/" name={unit} row={row} />,
              },
              ...columns.map((name) => ({
                label: METRICS[name].label,
                numeric: true,
                cell: (row: Row) => showMetric(name, row[name], view.currency),
              })),
            ]}
          />
        </details>
      </Card>
    </div>
  );
}
