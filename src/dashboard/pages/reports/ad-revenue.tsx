import { Hono } from 'hono';
import {
  CONNECTOR_KINDS,
  type ConnectorRow,
  createConnector,
  deleteConnector,
  listConnectors,
  NewConnector,
  PLATFORMS,
  ReconciliationQuery,
  reconcileAdRevenue,
  scheduleConnector,
} from '#connectors';
import { database } from '#db';
import { settingsOf } from '#env';
import { addDays, daysBetween } from '#lib/time';
import { atLeast } from '#members';
import { doneText, parseForm, redirectDone, type Submitted } from '../../forms/form.ts';
import { dayText, timeText } from '../../shell/dates.ts';
import { count, money, NOTHING } from '../../shell/format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requireRole } from '../../shell/guard.ts';
import type { PageRecord } from '../../shell/page-record.ts';
import { Action, Blank, Card, Field, FoldedCard, Notice, Table } from '../../shell/parts.tsx';
import { ask, renderReport, Zone } from '../../shell/report.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';

const PATH = '/ad-revenue';
const MAX_DAYS = 31;

type Report = Awaited<ReturnType<typeof reconcileAdRevenue>>;
type Row = Report['data'][number];

const platformName = (kind: string) =>
  Object.hasOwn(PLATFORMS, kind) ? PLATFORMS[kind as keyof typeof PLATFORMS].label : kind;

const figures = (currency: string) => [
  { label: 'Impressions', numeric: true, cell: (row: Row) => count(row.impressions_arrived) },
  { label: 'Reported impressions', numeric: true, cell: (row: Row) => count(row.impressions_reported) },
  { label: 'Difference', numeric: true, cell: (row: Row) => count(row.impressions_difference) },
  { label: 'Ad revenue', numeric: true, cell: (row: Row) => money(row.revenue_arrived, currency) },
  { label: 'Reported revenue', numeric: true, cell: (row: Row) => money(row.revenue_reported, currency) },
  { label: 'Difference', numeric: true, cell: (row: Row) => money(row.revenue_difference, currency) },
];

const Connectors = ({
  rows,
  view,
  mayChange,
}: {
  rows: readonly ConnectorRow[];
  view: View;
  mayChange: boolean;
}) => {
  const { timezone } = view.application;
  const at = (time: number | null) => (time === null ? NOTHING : timeText(time, timezone));
  return (
    <Card title="Connectors" id="connectors">
      <Table
        caption={`Connectors, times in ${timezone}`}
        rows={rows}
        columns={[
          { label: 'Platform', cell: (row) => platformName(row.kind) },
          { label: 'App', cell: (row) => Object.values(row.settings).join(' · ') },
          { label: 'Last success', cell: (row) => at(row.lastSuccessAt) },
          { label: 'Next run', cell: (row) => at(row.nextRunAt) },
          { label: 'Last error', wrap: true, cell: (row) => row.lastError ?? NOTHING },
          ...(mayChange
            ? [
                {
                  label: 'Actions',
                  cell: (row: ConnectorRow) => (
                    <>
                      <Action to={`${PATH}/${row.id}/run${viewQuery(view)}`} label="Run now" kind="quiet" />
                      <Action to={`${PATH}/${row.id}/delete${viewQuery(view)}`} label="Remove" kind="quiet" />
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
    </Card>
  );
};

const NewConnectors = ({ view, submitted }: { view: View; submitted: Submitted }) => {
  const { values = {}, faults = [] } = submitted;
  return (
    <>
      {CONNECTOR_KINDS.map((kind) => {
        const { label, labels, settings, credentials } = PLATFORMS[kind];
        const isOwn = values.kind === kind;
        const own = isOwn ? faults : [];
        const names = [
          ...Object.keys(settings.shape).map((name) => [name, `settings.${name}`] as const),
          ...Object.keys(credentials.shape).map((name) => [name, `credentials.${name}`] as const),
        ];
        return (
          <FoldedCard title={`Add ${label}`} id={`add-${kind}`} open={own.length > 0}>
            <form method="post" action={`${PATH}${viewQuery(view)}#add-${kind}`} class="stack">
              <input type="hidden" name="kind" value={kind} />
              {names.map(([name, field]) => (
                <Field
                  label={(labels as Readonly<Record<string, string>>)[name] ?? name}
                  name={field}
                  type={field.startsWith('credentials') ? 'password' : 'text'}
                  value={field.startsWith('credentials') ? '' : isOwn ? (values[field] ?? '') : ''}
                  faults={own}
                  required
                />
              ))}
              <button type="submit">Add</button>
            </form>
          </FoldedCard>
        );
      })}
    </>
  );
};

function page(c: DashboardContext, submitted: Submitted = {}) {
  return renderReport(c, { bar: ['app', 'period'], inner: PATH }, async (view, now, answerWith) => {
    if (submitted.faults) answerWith(400);
    const { application, to } = view;
    const from = daysBetween(view.from, to) >= MAX_DAYS ? addDays(to, 1 - MAX_DAYS) : view.from;
    const query = ask(ReconciliationQuery, { application_id: application.id, from, to });
    const [report, connectors] = await Promise.all([
      reconcileAdRevenue(c.env, application, query, now),
      listConnectors(database(c.env.DB), application.id),
    ]);
    const mayChange = atLeast(c.get('person').role, 'admin');
    const done = doneText(c);
    const columns = figures(report.currency);
    const total: Row = { day: '', network: '', ...report.totals };
    return (
      <>
        {done && <Notice kind="good">{done}</Notice>}
        {connectors.length === 0 ? (
          <Card title="Ad revenue check">
            <Blank text="A connector fetches the impression report of your mediation platform every day, and this page compares it with the ad revenue of your events." />
          </Card>
        ) : (
          <Card title="Arrived and reported">
            <p class="muted">
              {from === view.from ? '' : `The last ${MAX_DAYS} days of the period. `}
              In US dollars. Platforms count days in UTC, so single days differ if the application has another
              time zone.
            </p>
            <Table
              caption="Ad revenue that arrived and that platforms report, by day and network"
              rows={report.data.toReversed()}
              empty="Neither impressions nor a report in this period."
              columns={[
                { label: 'Day', cell: (row) => dayText(row.day, view.today) },
                { label: 'Network', cell: (row) => row.network },
                ...columns,
              ]}
              totals={['Total', '', ...columns.map(({ cell }) => cell(total))]}
            />
            <Zone view={view} />
          </Card>
        )}
        {connectors.length > 0 && <Connectors rows={connectors} view={view} mayChange={mayChange} />}
        {mayChange && <NewConnectors view={view} submitted={submitted} />}
      </>
    );
  });
}

/** The form's text as the team API's schema has it: `settings.app_key` is a field of `settings`. */
const toConnector = (applicationId: string) => (values: Record<string, string>) => {
  const under = (prefix: string) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
      ),
    );
  return {
    application_id: applicationId,
    kind: values.kind,
    settings: under('settings.'),
    credentials: under('credentials.'),
  };
};

const admin = requireRole('admin');

const routes = new Hono<DashboardEnv>()
  .get('/', (c) => page(c))
  .post('/', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...submitted } = await parseForm(c, NewConnector, toConnector(view.application.id));
    if (!data) return page(c, submitted);
    await createConnector(callerOf(c), view.application, data, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return redirectDone(c, `${PATH}${viewQuery(view)}`, 'connected');
  })
  .post('/:id/run', admin, async (c) => {
    await scheduleConnector(callerOf(c), c.req.param('id'));
    return redirectDone(c, `${PATH}${new URL(c.req.url).search}`, 'connector_due');
  })
  .post('/:id/delete', admin, async (c) => {
    await deleteConnector(callerOf(c), c.req.param('id'));
    return redirectDone(c, `${PATH}${new URL(c.req.url).search}`, 'deleted');
  });

export const adRevenue: PageRecord = {
  path: PATH,
  title: 'Ad revenue check',
  opens: 'viewer',
  links: [{ group: 'Operate', icon: 'M3 4h10M3 8h6M3 12h4M10 11l2 2 3-4', keepsView: true }],
  savable: false,
  routes,
};
