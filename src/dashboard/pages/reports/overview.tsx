import type { Child } from 'hono/jsx';
import { sharedReads } from '#db';
import type { PerformanceReport } from '#reports';
import { finestUnitOf, placesIn, type Unit } from '../../charts/axis.ts';
import { readMarkers } from '../../charts/markers.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import { Card, type Column, Table } from '../../shell/parts.tsx';
import { CsvLink, hasSpend, Unconverted, WithoutHours, WithoutSpend, Zone } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays, type ComparedReport, figuresBefore, readCompared } from '../../tables/compared.tsx';
import { GroupCell, groupLabel } from '../../tables/groups.tsx';
import { Headline, withoutHours } from '../../tables/headline.tsx';
import { EarlierCell, MetricCell } from '../../tables/lacking.tsx';
import { METRICS, type MetricName, sortRows } from '../../tables/metrics.ts';
import { isHourly } from '../../tables/part-of-day.ts';
import { Movers } from './movers.tsx';

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
/** Costs are uploaded by day, so spend has no hours. */
const EARNED = ['revenue', 'ad_revenue'] as const;
/** A device counts once per day, however many hours it is active in. */
const DEVICE_CURVES = { hour: ['installs', 'sessions'], day: ['dau', 'installs'] } as const;
const CAMPAIGN_FIGURES = ['spend', 'installs', 'cpi', 'revenue', 'roas'] as const;
const MAX_CAMPAIGNS = 5;

type Row = PerformanceReport['data'][number];

const Figures = ({ view, compared }: { view: View; compared: ComparedReport }) => (
  <Card
    title="This period"
    aside={<ComparedDays view={view} compared={compared} without={withoutHours(FIGURES)} />}
  >
    <Headline view={view} compared={compared} names={FIGURES} />
    <WithoutSpend view={view} />
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
  const markers = await readMarkers(env.DB, view, placesIn(view, unit));
  const isByHour = unit === 'hour';
  const money = `Revenue by ${unit}`;
  const devices = `${isByHour ? 'Installs and sessions' : 'Devices'} by ${unit}`;
  const shared = { view, compared, unit, markers };
  return (
    <div class="pair">
      <Card title={money}>
        <TimeChart
          {...shared}
          title={money}
          names={isByHour || !hasSpend([], view) ? EARNED : [...EARNED, 'spend']}
        />
      </Card>
      <Card title={devices}>
        <TimeChart {...shared} title={devices} names={DEVICE_CURVES[isByHour ? 'hour' : 'day']} />
        {isByHour && <WithoutHours />}
      </Card>
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
      totals: false,
    },
    now,
    { compares: CAMPAIGN_FIGURES, metric: 'revenue' },
  );
  const rows = sortRows(
    compared.report.data.filter((row) => !row.is_other && row.campaign !== null),
    '-revenue',
  ).slice(0, MAX_CAMPAIGNS);
  if (rows.length === 0) return null;
  const before = figuresBefore(groups, compared.before, 'revenue');
  const columns: Column<Row>[] = [
    {
      label: groupLabel('campaign'),
      cell: (row) => <GroupCell view={view} path="/" name="campaign" row={row} />,
    },
    ...CAMPAIGN_FIGURES.map((name) => ({
      label: METRICS[name].label,
      hint: METRICS[name].hint,
      numeric: true,
      cell: (row: Row) => <MetricCell name={name} row={row} currency={view.currency} />,
    })),
    ...(compared.periods
      ? [
          {
            label: 'Revenue before',
            numeric: true,
            cell: (row: Row) => <EarlierCell name="revenue" earlier={before(row)} currency={view.currency} />,
          },
        ]
      : []),
  ];
  return (
    <Card
      title="Top campaigns"
      aside={
        <span class="asides">
          <ComparedDays view={view} compared={compared} />
          <a href={`/breakdown${viewQuery(view, { by: 'campaign' })}`}>All campaigns</a>
        </span>
      }
    >
      <Table caption="Campaigns with the highest revenue" rows={rows} columns={columns} />
    </Card>
  );
}

/** The figures of a period compared with earlier ones, below any firing `alerts`. The page's script reloads it every minute. */
export async function Overview(bindings: Env, view: View, now: number, alerts: Child = null) {
  const env = { ...bindings, DB: sharedReads(bindings.DB) };
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
                cell: (row: Row) => <MetricCell name={name} row={row} currency={view.currency} />,
              })),
            ]}
          />
        </details>
      </Card>
    </div>
  );
}
