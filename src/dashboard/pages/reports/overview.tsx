import type { Child } from 'hono/jsx';
import { sharedReads } from '#db';
import type { PerformanceRow } from '#reports';
import { isOfGroup } from '#reports';
import { FiguresPanel, readChosen } from '../../charts/figures-panel.tsx';
import { readMarkers } from '../../charts/markers.ts';
import { Card } from '../../shell/parts.tsx';
import { CsvLink } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays, comparedFigures, comparedTotal, readCompared } from '../../tables/compared.tsx';
import { figureColumn, totalCells } from '../../tables/figure-column.tsx';
import { GroupCell, groupLabel } from '../../tables/groups.tsx';
import { earlierOf } from '../../tables/lacking.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { type MetricName, sortRows } from '../../tables/metrics.ts';
import { isHourly } from '../../tables/part-of-day.ts';
import { placesIn } from '../../tables/places.ts';
import { type Column, Table } from '../../tables/table.tsx';
import { TimeTable } from '../../tables/time-table.tsx';
import { Movers } from './movers.tsx';

/** The cards. Each chooses what the chart shows. */
export const FIGURES = ['revenue', 'installs', 'dau', 'arpdau', 'spend', 'roas_d7', 'profit'] as const;
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
  'roas_d7',
  'profit',
] as const satisfies readonly MetricName[];
/** The one that the campaigns are sorted by comes first, because a phone shows little more. */
const CAMPAIGN_FIGURES = ['revenue', 'spend', 'installs', 'roas', 'profit'] as const;
const MAX_CAMPAIGNS = 5;

/** The campaigns with the highest revenue, each linked to its own figures. */
async function TopCampaigns({
  env,
  view,
  shown,
}: {
  env: Env;
  view: View;
  shown: (name: MetricName) => MetricName;
}) {
  const figures = CAMPAIGN_FIGURES.map(shown);
  const revenue = shown('revenue');
  const groups = ['campaign'];
  // Earlier values are read for more campaigns than are shown, because the largest now need not have been the largest then.
  const compared = await readCompared(
    env,
    view,
    {
      group_by: 'campaign',
      limit: 200,
      metrics: figures,
    },
    { compares: figures, metric: revenue },
  );
  const rows = sortRows(
    compared.report.data.filter((row) => isOfGroup(row) && row.campaign !== null),
    `-${revenue}`,
  ).slice(0, MAX_CAMPAIGNS);
  if (rows.length === 0) return null;
  const before = comparedFigures(groups, compared, revenue);
  const columns: Column<PerformanceRow>[] = [
    {
      label: groupLabel('campaign'),
      cell: (row) => <GroupCell view={view} path="/" name="campaign" row={row} />,
    },
    ...figures.map((name) =>
      figureColumn(
        name,
        rows,
        view,
        (row: PerformanceRow) => row,
        name === revenue && compared.periods ? before : undefined,
      ),
    ),
  ];
  const ofTotals = compared.periods
    ? {
        name: revenue,
        earlier: { ...earlierOf(revenue, compared.before?.totals), now: comparedTotal(compared, revenue) },
      }
    : undefined;
  return (
    <Card
      title="Top campaigns"
      info={<ComparedDays view={view} compared={compared} />}
      aside={<a href={`/creatives${viewQuery(view, { by: 'campaign' })}`}>All campaigns</a>}
    >
      <Table
        caption="Campaigns with the highest revenue"
        rows={rows}
        columns={columns}
        totals={totalCells(1, figures, rows, compared.report.totals, view.currency, ofTotals).with(
          0,
          'All, with organic',
        )}
      />
    </Card>
  );
}

/** The figures of a period compared with earlier ones, below any firing `alerts`. The page's script reloads it every minute. */
export async function Overview(
  bindings: Env,
  view: View,
  query: Readonly<Record<string, string>>,
  alerts: Child,
) {
  const env = { ...bindings, DB: sharedReads(bindings.DB) };
  const chosen = readChosen(query, FIGURES);
  const unit = chosen.unit(view, true);
  const byTime = BY_TIME.map(chosen.shown);
  const columns = byTime.filter((name) => unit !== 'hour' || isHourly(name));
  const [compared, movers, campaigns, { markers, notes }] = await Promise.all([
    readCompared(env, view, { group_by: unit, metrics: byTime }),
    Movers(env, view),
    TopCampaigns({ env, view, shown: chosen.shown }),
    readMarkers(env.DB, view, placesIn(view, unit)),
  ]);
  const { report } = compared;
  return (
    <div id="overview" data-live={view.isSettled ? '60' : '5'}>
      {alerts}
      <LeftOut report={report} />
      <FiguresPanel view={view} path="/" chosen={chosen} compared={compared} unit={unit} markers={markers} />
      <div class="pair lead">
        {campaigns}
        {movers}
      </div>
      <TimeTable
        view={view}
        path="/"
        unit={unit}
        names={columns}
        compared={compared}
        notes={notes}
        aside={
          <span class="asides">
            <a href={`/breakdown${viewQuery(view, { by: unit })}`}>Other groupings</a>
            <CsvLink view={view} path="/breakdown" carry={{ by: unit }} />
          </span>
        }
      />
    </div>
  );
}
