import type { Child } from 'hono/jsx';
import type { PerformanceReport } from '#reports';
import { placesOf, ticksOf, type Unit, unitOf, valuesAt } from './axis.ts';
import { LineChart, type Series } from './chart.tsx';
import { Change, ComparedDays, type ComparedReport, figuresBefore, readCompared } from './compared.tsx';
import { money } from './format.ts';
import { GroupCell, groupLabel } from './groups.tsx';
import { readMarkers } from './markers.ts';
import { METRICS, type MetricName, showMetric, sortRows } from './metrics.ts';
import { Movers } from './movers.tsx';
import { Card, type Column, Table } from './parts.tsx';
import { CsvLink, Unconverted, Zone } from './report.tsx';
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
const CAMPAIGN_FIGURES = ['spend', 'installs', 'cpi', 'revenue', 'roas'] as const;
const MAX_CAMPAIGNS = 5;

type Row = PerformanceReport['data'][number];

const Figures = ({ view, compared }: { view: View; compared: ComparedReport }) => (
  <Card title="This period" aside={<ComparedDays view={view} days={compared.days} />}>
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
  const places = placesOf(view, unit);
  const markers = await readMarkers(env.DB, view, places);
  const { report, before, days } = compared;
  const values = (name: MetricName) => valuesAt(places, unit, report.data, (row) => row[name], 0);
  const earlier = (name: MetricName): Series[] => {
    if (!before || !days) return [];
    const whole = placesOf({ ...days.before, today: view.today }, unit);
    const figures = valuesAt(whole, unit, before.data, (row) => row[name], 0);
    return [
      {
        name: `${METRICS[name].label}, before`,
        values: places.map((_, index) => figures[index] ?? null),
        before: 0,
      },
    ];
  };
  const chart = (
    title: string,
    names: readonly [MetricName, ...MetricName[]],
    format: (value: number | null) => string,
  ) => (
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
          ...earlier(names[0]),
        ]}
      />
    </Card>
  );
  return (
    <div class="pair">
      {chart(`Revenue by ${unit}`, ['revenue', 'ad_revenue', 'spend'], (value) =>
        money(value, view.currency),
      )}
      {chart(`Devices by ${unit}`, ['dau', 'installs'], (value) =>
        showMetric('installs', value, view.currency),
      )}
    </div>
  );
}

/** The campaigns with the highest revenue, each leading to itself. */
async function TopCampaigns({ env, view, now }: { env: Env; view: View; now: number }) {
  const groups = ['campaign'];
  // What it was before is looked up among more campaigns than are shown: the largest now need not have been the largest then.
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
    { complete: 'nothing' },
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

/** The numbers of a period against those before it; `alerts` stand above them. Fetched again every minute by the page's script. */
export async function Overview(env: Env, view: View, now: number, alerts: Child = null) {
  const unit = unitOf(view);
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
              ...BY_TIME.map((name) => ({
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
