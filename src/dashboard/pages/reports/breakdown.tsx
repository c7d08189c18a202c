import { HOURS_KEPT_DAYS } from '#catalogue';
import { isolate } from '#lib/input/isolate';
import { firstDayOfHours, givenBy, isDimension, rollupOf } from '#reports';
import { BreakdownChart } from '../../charts/breakdown-chart.tsx';
import { ChoiceForm } from '../../forms/fields.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, Notice } from '../../shell/parts.tsx';
import {
  answerCsv,
  CsvLink,
  listingOf,
  RowCount,
  renderReport,
  searchOf,
  TableSearch,
  wantsCsv,
  Zone,
} from '../../shell/report.tsx';
import { viewQuery } from '../../shell/view.ts';
import { ColumnsMenu, keepColumns, readColumns } from '../../tables/columns.tsx';
import { ComparedDays, isGrowing, readCompared } from '../../tables/compared.tsx';
import { NotesOf, readNotes } from '../../tables/day-notes.tsx';
import { NoFigures } from '../../tables/empty-report.tsx';
import { GROUPINGS, GroupCell, groupWord, isTimeGroup } from '../../tables/groups.tsx';
import { LeftOut, WithoutHours, WithoutSpend } from '../../tables/left-out.tsx';
import {
  METRIC_DEFINITIONS,
  METRIC_NAMES,
  type MetricName,
  metricOptions,
  SHOWN_METRICS,
  sortRows,
} from '../../tables/metrics.ts';
import { knowsHours } from '../../tables/part-of-day.ts';
import { performanceColumns, performanceTotals } from '../../tables/performance-columns.tsx';
import { changeOrder, withBefore } from '../../tables/row-changes.ts';
import { Table } from '../../tables/table.tsx';

/** The grouping that a click on a row leads to, filtered by that row. */
const FINER: Readonly<Record<string, string>> = {
  campaign: 'adset',
  adset: 'creative',
  day: 'campaign',
  hour: 'campaign',
};

/** The networks that acquired the devices, which the navigation offers as a page of their own. */
const NETWORKS = { title: 'Networks', by: 'network' } as const;

/** What is charted where the chosen metric does not exist, such as revenue by ad format. */
const SUBSTITUTES: readonly MetricName[] = ['revenue', 'ad_revenue', 'purchase_revenue', 'events'];

/** The columns of a table of which none were chosen, as far as its groupings have them. */
const SUMMARY: readonly MetricName[] = [
  ...(['revenue', 'installs', 'dau', 'arpdau', 'spend', 'cpi', 'roas', 'profit'] as const),
  ...(['ad_revenue', 'purchases', 'purchase_revenue'] as const),
];
/** Groupings that have fewer of them show all that they have. */
const MIN_SUMMARY = 3;

type BreakdownRequest = ReturnType<typeof readAsked>;

function columnsOf(
  { columns, isAll }: BreakdownRequest,
  given: ReadonlySet<MetricName>,
): readonly MetricName[] {
  const summary = SUMMARY.filter((name) => given.has(name));
  return columns ?? (isAll || summary.length < MIN_SUMMARY ? SHOWN_METRICS : summary);
}

function readAsked(c: DashboardContext) {
  const by = c.req.query('by') ?? 'day';
  return {
    by,
    and: c.req.query('and') ?? '',
    metric: METRIC_NAMES.find((name) => name === c.req.query('metric')) ?? 'revenue',
    sort: c.req.query('sort') ?? null,
    q: searchOf(c),
    /** The metrics that were chosen; null if none were. */
    columns: readColumns(c),
    /** Whether all metrics are shown. A file has all unless some were chosen. */
    isAll: c.req.query('set') === 'all' || wantsCsv(c),
  };
}

function breakdownPage(c: DashboardContext) {
  const asked = readAsked(c);
  const { by, and, q } = asked;
  keepColumns(c, '/breakdown', asked.columns);
  const unchosen = { by, and, metric: asked.metric === 'revenue' ? '' : asked.metric, q };
  const carry = { ...unchosen, column: asked.columns ?? [], set: c.req.query('set') === 'all' ? 'all' : '' };
  const named = by === NETWORKS.by && and === '' ? { title: NETWORKS.title } : {};
  return renderReport(c, { ...named, carry }, async (view, here) => {
    const chosen = [...new Set([by, and])].filter((name) => name !== '');
    const hasHours = view.from >= firstDayOfHours(view.today) && knowsHours(chosen, view);
    const lacksHours = chosen.includes('hour') && !hasHours;
    // The period or the filters may have changed after hours were chosen.
    const both = lacksHours ? [...new Set(chosen.map((name) => (name === 'hour' ? 'day' : name)))] : chosen;
    const cannotCombine = both.every(isDimension) && rollupOf(both) === undefined;
    const groups = cannotCombine ? both.slice(0, 1) : both;
    const given = givenBy(groups.filter(isDimension), view.filters);
    const metric = [asked.metric, ...SUBSTITUTES].find((name) => given.has(name)) ?? asked.metric;
    const first = asked.sort ?? (isTimeGroup(by) ? by : `-${metric}`);
    const sort = lacksHours ? first.replace('hour', 'day') : first;
    const chosenColumns = columnsOf(asked, given);
    const shown = [...new Set([metric, ...chosenColumns])];
    const sorted = METRIC_NAMES.filter((name) => name === sort.replace(/^-/, ''));
    const metrics = [...new Set([...shown, ...sorted])];
    const wanted = { ...listingOf(c), group_by: groups.join(','), metrics };
    const [compared, notes] = await Promise.all([
      readCompared(c.env, view, wanted, { compares: [metric], metric }),
      // In a table with several rows of a day they would be repeated.
      groups.length === 1 && isTimeGroup(groups[0] ?? '') ? readNotes(c.env.DB, view) : [],
    ]);
    const { report } = compared;
    const rows = sortRows(withBefore(groups, metric, view, compared), changeOrder(sort, metric));
    if (wantsCsv(c)) return answerCsv(c, { ...report, data: rows }, [...groups, ...shown], view);
    const sorting = { ...here, carry: { ...carry, sort: c.req.query('sort') ?? '' } };
    const changed = compared.periods && isGrowing(metric, compared.periods, view) ? {} : { compared: metric };
    const columns = performanceColumns(rows, groups, {
      ...here,
      sort,
      metrics: shown,
      ...changed,
      cell: (name, row) => (
        <>
          <GroupCell
            view={view}
            path="/breakdown"
            carry={{
              ...carry,
              q: '',
              by: name === by ? (FINER[name] ?? 'day') : by,
              and: name === by ? and : '',
            }}
            name={name}
            row={row}
          />
          <NotesOf notes={notes} today={view.today} name={name} row={row} rows={rows} />
        </>
      ),
    });
    const title = `${METRIC_DEFINITIONS[metric].label} by ${groups.map((name) => groupWord(name)).join(' and ')}`;
    return (
      <>
        <LeftOut report={report} />
        {cannotCombine && (
          <Notice>
            {`No event has both ${groupWord(by)} and ${groupWord(and)}, so this shows figures by ${groupWord(by)} only.`}
          </Notice>
        )}
        {lacksHours && (
          <Notice>
            {`This shows days: figures by hour are kept for ${HOURS_KEPT_DAYS} days, by creative, ad set, campaign or currency, and not by country, OS or app version.`}
          </Notice>
        )}
        <ChoiceForm
          path="/breakdown"
          view={view}
          carry={{ column: carry.column }}
          fields={[
            { label: 'By', name: 'by', value: by, options: GROUPINGS },
            { label: 'And by', name: 'and', value: and, options: [['', 'Nothing else'], ...GROUPINGS] },
            {
              label: 'Metric',
              name: 'metric',
              value: metric,
              options: metricOptions(METRIC_NAMES.filter((name) => given.has(name))),
            },
          ]}
        />
        {rows.length === 0 && q === '' ? (
          <NoFigures
            {...here}
            env={c.env}
            title={title}
            what="figures"
            fill="Figures appear once your app’s first device arrives."
          />
        ) : (
          <>
            <Card title={title}>
              <BreakdownChart view={view} groups={groups} metric={metric} compared={compared} />
            </Card>
            <Card
              title="All figures"
              info={
                <>
                  <ComparedDays view={view} compared={compared} metric={metric} />
                  <Zone view={view} />
                </>
              }
              aside={
                <span class="asides">
                  <TableSearch {...sorting} q={q} />
                  <ColumnsMenu
                    {...here}
                    carry={unchosen}
                    sets={(['summary', 'all'] as const).map((set) => ({
                      label: set === 'all' ? 'All metrics' : 'Summary',
                      href: `/breakdown${viewQuery(view, { ...unchosen, set })}`,
                      isChosen: asked.columns === null && (set === 'all') === asked.isAll,
                    }))}
                    chosen={chosenColumns}
                  />
                  <CsvLink {...sorting} />
                </span>
              }
            >
              <Table
                caption={`Figures by ${groups.join(' and ')}, days in ${view.application.timezone}`}
                rows={rows}
                empty={`Nothing matches “${isolate(q)}”.`}
                columns={columns}
                totals={performanceTotals(rows, groups, { view, metrics: shown, ...changed }, compared)}
              />
              <RowCount rows={report.data} total={report.total_rows} q={q} />
              {groups.includes('hour') || compared.periods?.untilHour ? (
                <WithoutHours />
              ) : (
                <WithoutSpend groups={groups} view={view} />
              )}
            </Card>
          </>
        )}
      </>
    );
  });
}

export const breakdown: PageRecord = {
  path: '/breakdown',
  title: 'Breakdown',
  links: [
    {
      group: 'Acquire',
      label: NETWORKS.title,
      icon: 'M8 2v4M8 10v4M2 8h4M10 8h4M8 6a2 2 0 100 4 2 2 0 000-4',
      query: `?by=${NETWORKS.by}`,
    },
    { group: 'Understand', icon: 'M2 13V8M6 13V3M10 13V6M14 13v-3' },
  ],
  savable: true,
  routes: pageRoutes().get('/', breakdownPage),
};
