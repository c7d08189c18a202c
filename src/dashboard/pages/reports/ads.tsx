import { SEGMENT_DIMENSIONS } from '#catalogue';
import { sharedReads } from '#db';
import { readAs } from '#http';
import { AdsQuery, MAX_ROWS, reportAds } from '#reports';
import { BreakdownChart } from '../../charts/breakdown-chart.tsx';
import { ChoiceForm } from '../../forms/fields.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card } from '../../shell/parts.tsx';
import {
  answerReportCsv,
  CsvLink,
  listingOf,
  MAX_TABLE_ROWS,
  RowCount,
  renderReport,
  rowsText,
  searchOf,
  TableSearch,
  viewAsked,
  wantsCsv,
  Zone,
} from '../../shell/report.tsx';
import { ComparedDays, readCompared } from '../../tables/compared.tsx';
import { NoFigures } from '../../tables/empty-report.tsx';
import { figureColumn, totalCells } from '../../tables/figure-column.tsx';
import {
  GROUPINGS,
  GroupCell,
  groupLabel,
  groupName,
  groupWord,
  isDeviceGroup,
} from '../../tables/groups.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { METRIC_DEFINITIONS, type MetricName, metricOptions, sortRows } from '../../tables/metrics.ts';
import { performanceColumns, performanceTotals } from '../../tables/performance-columns.tsx';
import { unitOf } from '../../tables/places.ts';
import { changeOrder, withBefore } from '../../tables/row-changes.ts';
import { Table } from '../../tables/table.tsx';

const FIGURES = [
  'ad_revenue',
  'impressions',
  'ecpm',
  'ad_requests',
  'fill_rate',
] as const satisfies readonly MetricName[];
const GROUPS: ReadonlySet<string> = new Set([
  'source',
  'media_source',
  'placement',
  'campaign',
  'adset',
  'creative',
  ...SEGMENT_DIMENSIONS,
]);
const OFFERED = GROUPINGS.filter(([name]) => GROUPS.has(name));

type AdRow = Awaited<ReturnType<typeof reportAds>>['data'][number];

function adsPage(c: DashboardContext) {
  const by = OFFERED.find(([name]) => name === c.req.query('by'))?.[0] ?? 'media_source';
  const metric = FIGURES.find((name) => name === c.req.query('metric')) ?? 'ad_revenue';
  const sort = c.req.query('sort') ?? `-${metric}`;
  const q = searchOf(c);
  const carry = { by, metric, q };
  return renderReport(c, { carry }, async (view, here) => {
    const asked = viewAsked(view);
    const group = isDeviceGroup(by) ? by : null;
    const detailQuery = { ...asked, ...listingOf(c), ...(group ? { group_by: group } : {}) };
    const env = { ...c.env, DB: sharedReads(c.env.DB) };
    if (wantsCsv(c)) return answerReportCsv(c, 'ads', detailQuery, view);
    const unit = unitOf(view);
    const [compared, overTime, detail] = await Promise.all([
      readCompared(
        env,
        view,
        { group_by: by, limit: MAX_TABLE_ROWS, metrics: FIGURES },
        {
          compares: [metric],
          metric,
        },
      ),
      readCompared(
        env,
        { ...view, comparison: 'none' },
        { group_by: `${unit},${by}`, limit: MAX_ROWS, metrics: [metric] },
      ),
      reportAds(env, view.application, readAs(AdsQuery, detailQuery)),
    ]);
    const { report } = compared;
    // A row may exist only because of other metrics. Rows without any ads are left out.
    const isAd = (row: (typeof report.data)[number]) => row.is_other || FIGURES.some((name) => row[name]);
    const rows = sortRows(withBefore([by], metric, view, compared), changeOrder(sort, metric)).filter(isAd);
    if (rows.length === 0 && detail.data.length === 0) {
      return (
        <NoFigures
          {...here}
          env={c.env}
          title="Ad revenue"
          what="ads shown"
          fill="Ad revenue appears once your backend sends custom.ad events."
        />
      );
    }
    const metrics = [metric, ...FIGURES.filter((name) => name !== metric)];
    const columns = performanceColumns(rows, [by], {
      ...here,
      carry: { by, metric },
      sort,
      metrics,
      compared: metric,
      cell: (name, row) => <GroupCell view={view} path="/ads" carry={{ metric }} name={name} row={row} />,
    });
    const label = groupWord(by);
    const detailWords = group ? `day, format, ${label} and network` : 'day, format and network';
    return (
      <>
        <LeftOut report={report} />
        <ChoiceForm
          path="/ads"
          view={view}
          fields={[
            { label: 'Group by', name: 'by', value: by, options: OFFERED },
            { label: 'Metric', name: 'metric', value: metric, options: metricOptions(FIGURES) },
          ]}
        />
        <Card title={`${METRIC_DEFINITIONS[metric].label} by ${label}`}>
          <BreakdownChart view={view} groups={[unit, by]} metric={metric} compared={overTime} />
        </Card>
        <Card
          title={`By ${label}`}
          info={
            <>
              <ComparedDays view={view} compared={compared} />
              {by === 'media_source' && (
                <p>
                  A request is made before any network is known, so requests and fill rate belong to formats
                  and placements, not to networks.
                </p>
              )}
              <Zone view={view} />
            </>
          }
        >
          <Table
            caption={`Ad figures by ${label}, days in ${view.application.timezone}`}
            rows={rows}
            columns={columns}
            totals={performanceTotals(rows, [by], { view, metrics, compared: metric }, compared)}
          />
          <RowCount rows={rows} total={report.total_rows} />
        </Card>
        <Card title={`By ${detailWords}`} aside={<CsvLink {...here} carry={{ by, q }} />}>
          <details class="fold" open={q !== ''}>
            <summary>{`Show ${rowsText(detail.total_rows)}`}</summary>
            <TableSearch {...here} carry={{ by, metric }} q={q} />
            <Table
              caption={`Ad figures by ${detailWords}`}
              rows={sortRows(detail.data, '-day')}
              columns={[
                { label: 'Day', cell: (row) => groupName('day', row, view.today) },
                { label: 'Ad format', cell: (row) => groupName('source', row) },
                ...(group ? [{ label: groupLabel(group), cell: (row: AdRow) => groupName(group, row) }] : []),
                { label: 'Network', cell: (row) => groupName('media_source', row) },
                ...FIGURES.map((name) => figureColumn(name, detail.data, view, (row: AdRow) => row)),
              ]}
              totals={totalCells(group ? 4 : 3, FIGURES, detail.data, detail.totals, view.currency)}
            />
            <RowCount rows={detail.data} total={detail.total_rows} q={q} />
          </details>
        </Card>
      </>
    );
  });
}

export const ads: PageRecord = {
  path: '/ads',
  title: 'Ad monetization',
  links: [{ group: 'Understand', icon: 'M2 4h12v8H2zM7 6.5v3l2.5-1.5z' }],
  savable: true,
  routes: pageRoutes().get('/', adsPage),
};
