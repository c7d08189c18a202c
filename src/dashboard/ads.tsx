import { Hono } from 'hono';
import { AdsQuery, MAX_ROWS, PerformanceQuery, reportAds, reportPerformance } from '#reports';
import { LineChart, overDays, type Series } from './chart.tsx';
import { count, money, percent } from './format.ts';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { METRICS, showMetric, sortRows } from './metrics.ts';
import { Card, Table } from './parts.tsx';
import {
  answerCsv,
  ask,
  CsvLink,
  listingOf,
  MAX_TABLE_ROWS,
  RowCount,
  renderReport,
  searchOf,
  TableSearch,
  Unconverted,
  viewAsked,
  wantsCsv,
  Zone,
} from './report.tsx';

const MAX_CURVES = 6;
const CSV_COLUMNS = [
  'day',
  'source',
  'media_source',
  'impressions',
  'ad_revenue',
  'ecpm',
  'ad_requests',
  'fill_rate',
];
const SHOWN = ['impressions', 'ad_revenue', 'ecpm', 'ad_requests', 'fill_rate'] as const;

type Trend = { day: string; name: string; value: number | null };

/** One curve a name over all days, the names of most impressions first; a day without a figure is a gap. */
function curves(days: readonly string[], names: readonly string[], trends: readonly Trend[]): Series[] {
  const byKey = new Map(trends.map(({ day, name, value }) => [`${day}\0${name}`, value]));
  return names
    .slice(0, MAX_CURVES)
    .map((name) => ({ name, values: days.map((day) => byKey.get(`${day}\0${name}`) ?? null) }));
}

export const adPages = new Hono<DashboardEnv>().get('/ads', requirePerson, (c) =>
  renderReport(c, { title: 'Ads', path: '/ads' }, async (view, now) => {
    const asked = viewAsked(view);
    const q = searchOf(c);
    if (wantsCsv(c)) {
      return answerCsv(
        c,
        await reportAds(c.env.DB, view.application, ask(AdsQuery, { ...asked, ...listingOf(c) })),
        CSV_COLUMNS,
        view,
      );
    }
    const by = (group_by: string, limit = MAX_ROWS) =>
      reportPerformance(c.env, view.application, ask(PerformanceQuery, { ...asked, group_by, limit }), now);
    const [bySource, byNetwork, sourceDays, networkDays, detail] = await Promise.all([
      by('source', MAX_TABLE_ROWS),
      by('media_source', MAX_TABLE_ROWS),
      by('day,source'),
      by('day,media_source'),
      reportAds(c.env.DB, view.application, ask(AdsQuery, { ...asked, ...listingOf(c) })),
    ]);
    const days = overDays(view, [], () => null, null).labels;
    const namesOf = (rows: typeof bySource.data, column: string) =>
      sortRows(rows, '-impressions')
        .filter((row) => !row.is_other)
        .map((row) => String(row[column] ?? 'none'));
    const trends = (rows: typeof bySource.data, column: string, metric: 'ecpm' | 'fill_rate') =>
      rows.map((row) => ({
        day: String(row.day),
        name: String(row[column] ?? 'none'),
        value: typeof row[metric] === 'number' ? row[metric] : null,
      }));
    const inCurrency = (value: number | null) => money(value, view.currency);
    const cells = (column: 'source' | 'media_source', label: string) => [
      { label, cell: (row: (typeof bySource.data)[number]) => row[column] ?? 'none' },
      ...SHOWN.map((name) => ({
        label: METRICS[name].label,
        numeric: true,
        cell: (row: (typeof bySource.data)[number]) => showMetric(name, row[name], view.currency),
      })),
    ];
    const sources = namesOf(bySource.data, 'source');
    const networks = namesOf(byNetwork.data, 'media_source');
    const chart = (title: string, format: (value: number | null) => string, series: Series[]) => (
      <Card title={title}>
        <LineChart title={title} labels={days} format={format} series={series} />
      </Card>
    );
    return (
      <>
        <Unconverted amounts={bySource.unconverted} />
        <Zone view={view} />
        <div class="pair">
          {chart(
            'eCPM by ad format',
            inCurrency,
            curves(days, sources, trends(sourceDays.data, 'source', 'ecpm')),
          )}
          {chart(
            'eCPM by network',
            inCurrency,
            curves(days, networks, trends(networkDays.data, 'media_source', 'ecpm')),
          )}
          {chart(
            'Fill rate by ad format',
            percent,
            curves(days, sources, trends(sourceDays.data, 'source', 'fill_rate')),
          )}
          <Card title="By network">
            <Table
              caption="Ad figures by network"
              rows={sortRows(byNetwork.data, '-ad_revenue')}
              columns={cells('media_source', 'Network').filter(({ label }) => !/requests|Fill/.test(label))}
            />
            <p class="hint">
              A request is made before any network is known, so requests and fill rate belong to formats, not
              to networks.
            </p>
          </Card>
        </div>
        <Card title="By ad format">
          <Table
            caption="Ad figures by format"
            rows={sortRows(bySource.data, '-ad_revenue')}
            columns={cells('source', 'Ad format')}
          />
        </Card>
        <Card
          title="By day, format and network"
          aside={<CsvLink view={view} path="/ads" parameters={{ q }} />}
        >
          <details open={q !== ''}>
            <summary>{count(detail.total_rows)} rows</summary>
            <TableSearch view={view} path="/ads" q={q} />
            <Table
              caption="Ad figures by day, format and network"
              rows={sortRows(detail.data, '-day')}
              columns={[
                { label: 'Day', cell: (row) => row.day },
                { label: 'Ad format', cell: (row) => row.source ?? 'none' },
                { label: 'Network', cell: (row) => row.media_source ?? 'none' },
                ...SHOWN.map((name) => ({
                  label: METRICS[name].label,
                  numeric: true,
                  cell: (row: (typeof detail.data)[number]) => showMetric(name, row[name], view.currency),
                })),
              ]}
            />
            <RowCount
              shown={detail.data.filter((row) => !('is_other' in row)).length}
              total={detail.total_rows}
              q={q}
            />
          </details>
        </Card>
      </>
    );
  }),
);
