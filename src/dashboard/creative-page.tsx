import { getCreative } from '#creatives';
import { database } from '#db';
import { atLeast } from '#members';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { trackingLink } from '#tracking';
import { LineChart, overDays } from './chart.tsx';
import { doneText } from './form.ts';
import { money } from './format.ts';
import type { DashboardContext } from './guard.ts';
import { METRICS, type MetricName, showMetric } from './metrics.ts';
import { Action, Card, Copyable, Notice, Table } from './parts.tsx';
import { ask, CsvLink, renderReport, Unconverted, viewAsked, Zone } from './report.tsx';
import { viewQuery } from './view.ts';

const DAILY = ['clicks', 'installs', 'dau', 'ad_revenue', 'purchase_revenue', 'revenue', 'arpdau'] as const;

type Row = PerformanceReport['data'][number];

/** Makes tracking links of tokens, for the address that a request came to. */
export const linkTo = (c: DashboardContext) => (token: string) => trackingLink(c.env, c.req.url, token);

/** One creative: its link, and what it brought by day. */
export function creativePage(c: DashboardContext) {
  const id = c.req.param('id') ?? '';
  return renderReport(
    c,
    { title: 'Creative', path: '/creatives', inner: `/creatives/${id}` },
    async (view, now) => {
      const { person } = c.var;
      const creative = await getCreative(database(c.env.DB), person.team.id, id, linkTo(c));
      const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: 'day,creative' });
      const report = await reportPerformance(c.env, view.application, { ...query, within: id }, now);
      const data = report.data.filter((row) => row.creative_id === id && !row.is_other);
      const done = doneText(c);
      const { labels } = overDays(view, data, () => null, null);
      const values = (name: MetricName) => overDays(view, data, (row) => row[name], 0).values;
      return (
        <>
          {done && <Notice kind="good">{done}</Notice>}
          <Unconverted amounts={report.unconverted} />
          <Card
            title={creative.name}
            aside={
              atLeast(person.role, 'admin') ? (
                <Action
                  to={`/creatives/${id}/archive${viewQuery(view)}`}
                  label={creative.archived ? 'Unarchive' : 'Archive'}
                  kind="quiet"
                  fields={{ archived: creative.archived ? '' : 'yes' }}
                />
              ) : null
            }
          >
            <p>
              {creative.campaign} › {creative.adset}
              {creative.archived ? ' · archived' : ''}
            </p>
            <Copyable text={creative.tracking_link} label="tracking link" />
          </Card>
          <Card title="Revenue by day">
            <LineChart
              title="Revenue by day"
              labels={labels}
              format={(value) => money(value, view.currency)}
              series={[
                { name: 'Revenue', values: values('revenue') },
                { name: 'From ads', values: values('ad_revenue') },
              ]}
            />
            <Table
              caption={`Figures by day, days in ${view.application.timezone}`}
              rows={[...data].reverse()}
              empty="Nothing in this period."
              columns={[
                { label: 'Day', cell: (row) => row.day },
                ...DAILY.map((name) => ({
                  label: METRICS[name].label,
                  numeric: true,
                  cell: (row: Row) => showMetric(name, row[name], view.currency),
                })),
              ]}
            />
            <Zone view={view} />
            <CsvLink view={view} path="/breakdown" parameters={{ by: 'day', and: 'creative' }} />
          </Card>
          <p>
            <a href={`/creatives${viewQuery(view)}`}>All creatives</a>
          </p>
        </>
      );
    },
  );
}
