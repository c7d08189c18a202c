import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { LineChart, overDays } from './chart.tsx';
import { money, percent } from './format.ts';
import { METRICS, type MetricName, showMetric } from './metrics.ts';
import { Card, Table } from './parts.tsx';
import { comparedDays } from './period.ts';
import { ask, CsvLink, Unconverted, viewAsked, Zone } from './report.tsx';
import { type View, viewQuery } from './view.ts';

const FIGURES = [
  'revenue',
  'installs',
  'dau',
  'arpdau',
  'spend',
  'roas',
] as const satisfies readonly MetricName[];
/** More spend is neither good nor bad news. */
const NEUTRAL: ReadonlySet<string> = new Set(['spend']);
const DAILY = [
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

/** The change against the period before; null where it has nothing to be measured against. */
export function change(now: number | null, before: number | null): number | null {
  return now === null || before === null || before === 0 ? null : now / before - 1;
}

const Change = ({ name, now, before }: { name: MetricName; now: number | null; before: number | null }) => {
  const by = change(now, before);
  if (now === null) return <span class="muted">n/a</span>;
  if (by === null) return <span class="muted">nothing to compare with</span>;
  const tone = by === 0 || NEUTRAL.has(name) ? 'muted' : by > 0 ? 'up' : 'down';
  return (
    <span class={tone}>
      {by > 0 ? '▲' : by < 0 ? '▼' : ''} {percent(Math.abs(by))}
      <span class="visually-hidden">{by > 0 ? ' more' : by < 0 ? ' less' : ' as much'} than before</span>
    </span>
  );
};

type Row = PerformanceReport['data'][number];

/** The numbers of a period against the one before it. */
export async function Overview(db: D1Database, view: View, now: number) {
  const before = comparedDays(view, 'previous')?.before ?? view;
  const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: 'day' });
  const [report, earlier] = await Promise.all([
    reportPerformance(db, view.application, query, now),
    reportPerformance(db, view.application, { ...query, ...before }, now),
  ]);
  const { labels } = overDays(view, report.data, () => null, null);
  const values = (name: MetricName) => overDays(view, report.data, (row) => row[name], 0).values;
  const inCurrency = (value: number | null) => money(value, view.currency);
  const inCounts = (value: number | null) => showMetric('installs', value, view.currency);
  return (
    <>
      <Unconverted amounts={report.unconverted} />
      <Card
        title="This period"
        aside={
          <span class="muted">
            against {before.from} to {before.to}
          </span>
        }
      >
        <dl class="figures">
          {FIGURES.map((name) => {
            const { label, hint } = METRICS[name];
            return (
              <div class="figure" {...(hint ? { title: hint } : {})}>
                <dt>{label}</dt>
                <dd>
                  <strong data-metric={name}>{showMetric(name, report.totals[name], view.currency)}</strong>
                  <Change name={name} now={report.totals[name]} before={earlier.totals[name]} />
                </dd>
              </div>
            );
          })}
        </dl>
        <Zone view={view} />
      </Card>
      <div class="pair">
        <Card title="Revenue by day">
          <LineChart
            title="Revenue by day"
            labels={labels}
            format={inCurrency}
            series={[
              { name: 'Revenue', values: values('revenue') },
              { name: 'From ads', values: values('ad_revenue') },
              { name: 'Spend', values: values('spend') },
            ]}
          />
        </Card>
        <Card title="Devices by day">
          <LineChart
            title="Devices by day"
            labels={labels}
            format={inCounts}
            series={[
              { name: 'DAU', values: values('dau') },
              { name: 'Installs', values: values('installs') },
            ]}
          />
        </Card>
      </div>
      <Card
        title="By day"
        aside={
          <span class="asides">
            <a href={`/breakdown${viewQuery(view)}`}>Other groupings</a>
            <CsvLink view={view} path="/breakdown" parameters={{ by: 'day' }} />
          </span>
        }
      >
        <Table
          caption={`Figures by day, days in ${view.application.timezone}`}
          rows={[...report.data].reverse()}
          columns={[
            { label: 'Day', cell: (row) => row.day },
            ...DAILY.map((name) => ({
              label: METRICS[name].label,
              numeric: true,
              cell: (row: Row) => showMetric(name, row[name], view.currency),
            })),
          ]}
        />
      </Card>
    </>
  );
}
