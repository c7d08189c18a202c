import { Hono } from 'hono';
import {
  type Alert,
  alertText,
  canMail,
  createAlert,
  createChannel,
  createMetricAlert,
  listAlerts,
  listChannels,
  MetricRule,
  NewAlert,
  NewChannel,
  previewRule,
  removeAlert,
  removeChannel,
  sendTestMessage,
  withScope,
} from '#alerts';
import { database } from '#db';
import { settingsOf } from '#env';
import { inReportSlot, invalidRequest } from '#http';
import { atLeast } from '#members';
import { ChannelsCard, NewChannelCard, type PartProps } from '../../forms/alert-channels.tsx';
import { checkForm, doneText, parseForm, redirectDone, type Submitted } from '../../forms/form.ts';
import { MetricAlertForm, PREVIEW_DAYS, Preview } from '../../forms/metric-alert.tsx';
import { NewAlertCard } from '../../forms/new-alert.tsx';
import { readChips } from '../../shell/filter-names.ts';
import { Filters } from '../../shell/filters.tsx';
import { ago } from '../../shell/format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requireRole } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { PageRecord } from '../../shell/page-record.ts';
import { Action, Card, type Column, Notice, Table } from '../../shell/parts.tsx';
import { readView, requireView, type View, viewQuery } from '../../shell/view.ts';
import { NeedsApplication } from './get-started.tsx';

const AlertState = ({ alert, now }: { alert: Alert; now: number }) =>
  alert.firingSince === null ? (
    <span class="badge good">{alert.finding === null ? 'Not checked yet' : 'OK'}</span>
  ) : (
    <>
      <span class="badge bad">Firing</span>
      <div class="muted">started {ago(alert.firingSince, now)}</div>
    </>
  );

function AlertsCard({ view, rows, mayChange, now }: PartProps & { rows: Alert[] }) {
  const actions: Column<Alert>[] = mayChange
    ? [
        {
          label: 'Actions',
          cell: (alert) => (
            <Action
              to={`/alerts/${alert.id}/remove${viewQuery(view)}`}
              label="Remove"
              kind="danger"
              confirm="Remove this alert?"
            />
          ),
        },
      ]
    : [];
  return (
    <Card title="Alerts">
      <Table
        caption="Alerts"
        rows={rows}
        empty="No alerts yet. Add one below to be notified about drops and missing events."
        columns={[
          { label: 'Alert when', wrap: true, cell: (alert) => alertText(alert, view.application.currency) },
          { label: 'State', cell: (alert) => <AlertState alert={alert} now={now} /> },
          {
            label: 'Last check',
            wrap: true,
            cell: (alert) => (
              <>
                {alert.finding ?? 'Within a minute'}
                {alert.kind === 'no_events' && alert.firingSince !== null && (
                  <>
                    {' '}
                    <a href={`/status${viewQuery(view)}`}>See Health</a>
                  </>
                )}
              </>
            ),
          },
          ...actions,
        ]}
      />
    </Card>
  );
}

const UNTOUCHED: Required<Submitted> = { values: {}, faults: [] };

async function alertsPage(
  c: DashboardContext,
  forms: { alert?: Required<Submitted>; channel?: Required<Submitted> } = {},
) {
  const now = Date.now();
  const mayChange = atLeast(c.get('person').role, 'admin');
  const view = await readView(c, now);
  if (!view) return renderPage(c, {}, <NeedsApplication mayCreate={mayChange} />);
  const db = database(c.env.DB);
  const { id } = view.application;
  const [rows, places] = await Promise.all([listAlerts(db, id), listChannels(db, id)]);
  const done = doneText(c);
  const { alert = UNTOUCHED, channel = UNTOUCHED } = forms;
  const part = { view, mayChange, now };
  return renderPage(
    c,
    {
      view,
      filters: <Filters view={view} path="/alerts" shown={['app']} />,
      status: alert.faults.length + channel.faults.length > 0 ? 400 : 200,
    },
    <>
      {done && <Notice kind="good">{done}</Notice>}
      <AlertsCard {...part} rows={rows} />
      {mayChange && (
        <p>
          <a class="button" href={`/alerts/new${viewQuery(view)}`}>
            New alert on a metric
          </a>
        </p>
      )}
      {mayChange && (
        <NewAlertCard view={view} open={rows.length === 0 || alert.faults.length > 0} {...alert} />
      )}
      <ChannelsCard {...part} rows={places} />
      {mayChange && (
        <NewChannelCard
          view={view}
          mail={canMail(c.env)}
          open={(rows.length > 0 && places.length === 0) || channel.faults.length > 0}
          {...channel}
        />
      )}
    </>,
  );
}

/** The form of an alert on a metric, with the page's filters, and what the alert would have said. */
async function newAlertPage(c: DashboardContext, submitted: Submitted = {}) {
  const view = await requireView(c);
  const query = c.req.query();
  const asks = submitted.values === undefined && query.metric !== undefined && query.threshold !== undefined;
  const values = submitted.values ?? query;
  const read = asks ? checkForm(MetricRule, { ...values, filters: view.filters }) : null;
  const faults = submitted.faults ?? read?.faults ?? [];
  const rule = read?.data ? await withScope(database(c.env.DB), view.application, read.data) : null;
  const days = Number(PREVIEW_DAYS.find((own) => own === query.preview) ?? PREVIEW_DAYS[0]);
  const evaluated = rule && (await previewRule(c.env, view.application, rule, days, view.now));
  const carry = Object.fromEntries(RULE_FIELDS.map((name) => [name, values[name] ?? '']));
  const chips = await readChips(c.env.DB, view);
  return renderPage(
    c,
    {
      title: 'New alert',
      within: <a href={back(view)}>Alerts</a>,
      view,
      filters: (
        <Filters view={view} path="/alerts/new" shown={['app', 'filters']} carry={carry} chips={chips} />
      ),
      status: faults.length > 0 ? 400 : 200,
    },
    <>
      <MetricAlertForm view={view} values={values} faults={faults} />
      {rule && evaluated && <Preview view={view} rule={rule} days={evaluated} />}
    </>,
  );
}

const RULE_FIELDS = ['metric', 'condition', 'threshold', 'days', 'group_by', 'min_spend', 'min_installs'];

const admin = requireRole('admin');
const back = (view: View) => `/alerts${viewQuery(view)}`;

const routes = new Hono<DashboardEnv>()
  .get('/', (c) => alertsPage(c))
  .get('/new', admin, (c) => inReportSlot(c.get('person').team.id, () => newAlertPage(c)))
  .post('/new', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...submitted } = await parseForm(c, MetricRule, (values) => ({
      ...values,
      filters: view.filters,
    }));
    if (!data) return newAlertPage(c, submitted);
    await createMetricAlert(callerOf(c), view.application, data);
    return redirectDone(c, `/alerts${viewQuery({ ...view, filters: {} })}`, 'created');
  })
  .post('/', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...alert } = await parseForm(c, NewAlert);
    if (!data) {
      if (alert.faults.some(({ path }) => path === 'kind')) throw invalidRequest(alert.faults);
      return alertsPage(c, { alert });
    }
    await createAlert(callerOf(c), view.application, data);
    return redirectDone(c, back(view), 'created');
  })
  .post('/channels', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...channel } = await parseForm(c, NewChannel, ({ channel_kind, ...rest }) => ({
      ...rest,
      kind: channel_kind,
    }));
    if (!data) return alertsPage(c, { channel });
    if (data.kind === 'mail' && !canMail(c.env)) {
      const fault = { path: 'target', message: 'must be the URL of a webhook: email is not set up here' };
      return alertsPage(c, { channel: { ...channel, faults: [fault] } });
    }
    const { KEY_ENCRYPTION_SECRET } = settingsOf(c.env);
    await createChannel(
      callerOf(c),
      view.application,
      data,
      new URL(c.req.url).origin,
      KEY_ENCRYPTION_SECRET,
    );
    return redirectDone(c, back(view), 'created');
  })
  .post('/:id/remove', admin, async (c) => {
    const view = await requireView(c);
    await removeAlert(callerOf(c), view.application, c.req.param('id'));
    return redirectDone(c, back(view), 'deleted');
  })
  .post('/channels/:id/test', admin, async (c) => {
    const view = await requireView(c);
    await sendTestMessage(database(c.env.DB), view.application, c.req.param('id'), Date.now());
    return redirectDone(c, back(view), 'test_sent');
  })
  .post('/channels/:id/remove', admin, async (c) => {
    const view = await requireView(c);
    await removeChannel(callerOf(c), view.application, c.req.param('id'));
    return redirectDone(c, back(view), 'deleted');
  });

export const alerts: PageRecord = {
  path: '/alerts',
  title: 'Alerts',
  opens: 'viewer',
  links: [{ group: 'Operate', icon: 'M4 11V7a4 4 0 018 0v4l1 1H3zM7 14h2', keepsView: true }],
  savable: false,
  routes,
};
