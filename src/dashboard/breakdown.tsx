import { Hono } from 'hono';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { METRIC_NAMES, METRICS, type MetricName, showMetric, sortRows } from './metrics.ts';
import { Card, type Column, Field, Table } from './parts.tsx';
import {
  answerCsv,
  ask,
  CsvLink,
  listingOf,
  RowCount,
  renderReport,
  searchOf,
  TableSearch,
  Unconverted,
  ViewFields,
  viewAsked,
  wantsCsv,
  Zone,
} from './report.tsx';
import { type View, viewQuery } from './view.ts';

export const GROUPINGS = [
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
  ['campaign', 'Campaign'],
  ['adset', 'Ad set'],
  ['creative', 'Creative'],
  ['source', 'Ad format'],
  ['media_source', 'Network'],
  ['placement', 'Placement'],
  ['item', 'Item'],
  ['event_name', 'Event name'],
  ['currency', 'Currency'],
] as const;

type Row = PerformanceReport['data'][number];

const NAMELESS: Record<string, string> = { creative: 'organic', campaign: 'organic', adset: 'organic' };

/** The columns of a performance table: its groupings, then the metrics that they give; every heading sorts. */
export function performanceColumns(
  report: PerformanceReport,
  groups: readonly string[],
  shown: {
    view: View;
    path: string;
    sort: string;
    parameters: Record<string, string>;
    first?: readonly MetricName[];
  },
): Column<Row>[] {
  const { view, path, sort, parameters } = shown;
  const sorted = (name: string) => {
    if (sort === name) return { sorted: 'ascending' as const };
    return sort === `-${name}` ? { sorted: 'descending' as const } : {};
  };
  const heading = (name: string, first: string) => {
    const turned = first.startsWith('-') ? name : `-${name}`;
    return {
      sortHref: path + viewQuery(view, { ...parameters, sort: sort === first ? turned : first }),
      ...sorted(name),
    };
  };
  const ordered = [...new Set([...(shown.first ?? []), ...METRIC_NAMES])];
  const given = ordered.filter((name) =>
    report.data.some((row) => row[name] !== null && row[name] !== undefined),
  );
  return [
    ...groups.map((name) => ({
      label: GROUPINGS.find(([value]) => value === name)?.[1] ?? name,
      ...heading(name, name),
      cell: (row: Row) => row[name] ?? NAMELESS[name] ?? 'none',
    })),
    ...given.map((name: MetricName) => ({
      label: METRICS[name].label,
      hint: METRICS[name].hint,
      numeric: true,
      ...heading(name, `-${name}`),
      cell: (row: Row) => showMetric(name, row[name], view.currency),
    })),
  ];
}

export const breakdownPages = new Hono<DashboardEnv>().get('/breakdown', requirePerson, (c) => {
  const by = c.req.query('by') ?? 'day';
  const and = c.req.query('and') ?? '';
  const sort = c.req.query('sort') ?? (['day', 'week', 'month'].includes(by) ? by : '-revenue');
  const q = searchOf(c);
  const groups = [...new Set([by, and])].filter((name) => name !== '');
  const page = { title: 'Breakdown', path: '/breakdown', carry: { by, and, q } };
  return renderReport(c, page, async (view, now) => {
    const query = ask(PerformanceQuery, {
      ...viewAsked(view),
      ...listingOf(c),
      group_by: groups.join(','),
    });
    const report = await reportPerformance(c.env.DB, view.application, query, now);
    if (wantsCsv(c)) return answerCsv(c, report, [...groups, ...METRIC_NAMES], view);
    return (
      <>
        <Unconverted amounts={report.unconverted} />
        <Card
          title="Every figure by what you choose"
          aside={<CsvLink view={view} path="/breakdown" parameters={{ by, and, q }} />}
        >
          <form method="get" action="/breakdown" class="row">
            <ViewFields view={view} />
            <Field label="By" name="by" value={by} options={GROUPINGS} />
            <Field label="And by" name="and" value={and} options={[['', 'nothing more'], ...GROUPINGS]} />
            <button type="submit" class="quiet">
              Group
            </button>
          </form>
          <TableSearch view={view} path="/breakdown" parameters={{ by, and, sort }} q={q} />
          <Zone view={view} />
          <Table
            caption={`Figures by ${groups.join(' and ')}, days in ${view.application.timezone}`}
            rows={sortRows(report.data, sort)}
            empty="Nothing in this period."
            columns={performanceColumns(report, groups, {
              view,
              path: '/breakdown',
              sort,
              parameters: { by, and, q },
            })}
          />
          <RowCount
            shown={report.data.filter((row) => !row.is_other).length}
            total={report.total_rows}
            q={q}
          />
        </Card>
      </>
    );
  });
});
