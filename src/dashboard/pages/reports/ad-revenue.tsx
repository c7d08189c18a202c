import { valueName } from '#catalogue';
import {
  kindOf,
  listConnectors,
  MAX_RECONCILED_DAYS,
  ReconciliationQuery,
  reconcileAdRevenue,
} from '#connectors';
import { database } from '#db';
import { readAs } from '#http';
import { amountsIn, columnText, count } from '#lib/format';
import { addDays, daysBetween } from '#lib/time';
import { dayText } from '../../shell/dates.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Blank, Card } from '../../shell/parts.tsx';
import { renderReport, Zone } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';

const PATH = '/ad-revenue';

type AdRevenueReport = Awaited<ReturnType<typeof reconcileAdRevenue>>;
type AdRevenueFigures = AdRevenueReport['totals'];

/** Columns of the same decimals throughout. */
function figureColumns(rows: readonly AdRevenueFigures[], currency: string) {
  const amounts = amountsIn(currency);
  const unit = { unit: currency.toUpperCase() };
  const amountOf = (name: 'revenue_arrived' | 'revenue_reported' | 'revenue_difference') =>
    columnText(amounts, rows, (row) => row[name]);
  return [
    { label: 'Impressions', numeric: true, cell: (row: AdRevenueFigures) => count(row.impressions_arrived) },
    {
      label: 'Reported impressions',
      numeric: true,
      cell: (row: AdRevenueFigures) => count(row.impressions_reported),
    },
    {
      label: 'Difference',
      numeric: true,
      cell: (row: AdRevenueFigures) => count(row.impressions_difference),
    },
    { label: 'Ad revenue', ...unit, numeric: true, cell: amountOf('revenue_arrived') },
    { label: 'Reported revenue', ...unit, numeric: true, cell: amountOf('revenue_reported') },
    { label: 'Difference', ...unit, numeric: true, cell: amountOf('revenue_difference') },
  ];
}

/** What arrived beside what platforms report, of the last days of the period. */
async function Reconciled({ c, view }: { c: DashboardContext; view: View }) {
  const { application, to } = view;
  const from =
    daysBetween(view.from, to) >= MAX_RECONCILED_DAYS ? addDays(to, 1 - MAX_RECONCILED_DAYS) : view.from;
  const query = readAs(ReconciliationQuery, { application_id: application.id, from, to });
  const report = await reconcileAdRevenue(c.env, application, query, view.now);
  const columns = figureColumns([...report.networks, report.totals], report.currency);
  const networkOf = {
    label: 'Network',
    cell: (row: { network: string }) => valueName('media_source', row.network),
  };
  return (
    <>
      <Card
        title="Arrived and reported"
        info={
          <>
            <p>
              {from === view.from ? '' : `The last ${MAX_RECONCILED_DAYS} days of the period. `}
              Platforms count days in UTC, so single days differ if the application has another time zone.
            </p>
            <Zone view={view} />
          </>
        }
      >
        <Table
          caption="Ad revenue that arrived and that platforms report, by network"
          rows={report.networks}
          empty="Neither impressions nor a report in this period."
          columns={[networkOf, ...columns]}
          totals={['Total', ...columns.map(({ cell }) => cell(report.totals))]}
        />
      </Card>
      <Card title="By day">
        <details class="fold">
          <summary>Show each day and network</summary>
          <Table
            caption="Ad revenue that arrived and that platforms report, by day and network"
            rows={report.data.toReversed()}
            columns={[
              { label: 'Day', cell: (row) => dayText(row.day, view.today) },
              networkOf,
              ...figureColumns(report.data, report.currency),
            ]}
          />
        </details>
      </Card>
    </>
  );
}

const page = (c: DashboardContext) =>
  renderReport(c, { bar: ['period'], inner: PATH }, async (view) => {
    const connectors = await listConnectors(database(c.env.DB), view.application.id);
    if (connectors.some(({ kind }) => kindOf(kind)?.family === 'ad_revenue')) {
      return Reconciled({ c, view });
    }
    return (
      <Card title="Ad revenue check">
        <Blank
          text="A connector fetches the impression report of your mediation platform every day, and this page compares it with the ad revenue of your events."
          way={['Add a connector', `/connectors${viewQuery(view)}#ad-revenue`]}
        />
      </Card>
    );
  });

export const adRevenue: PageRecord = {
  path: PATH,
  title: 'Ad revenue check',
  links: [{ group: 'Operate', icon: 'M3 4h10M3 8h6M3 12h4M10 11l2 2 3-4' }],
  routes: pageRoutes().get('/', (c) => page(c)),
};
