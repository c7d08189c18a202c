import { Hono } from 'hono';
import {
  ALERT_KINDS,
  type Alert,
  alertText,
  canMail,
  createAlert,
  createChannel,
  listAlerts,
  listChannels,
  NewAlert,
  NewChannel,
  removeAlert,
  removeChannel,
  sendTestMessage,
} from '#alerts';
import { database } from '#db';
import { atLeast } from '#members';
import { ChannelsCard, NewChannelCard, type PartProps } from './alert-channels.tsx';
import { Filters } from './filters.tsx';
import { doneText, parseForm, redirectDone, type Submitted } from './form.ts';
import { ago } from './format.ts';
import { NeedsApplication } from './get-started.tsx';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { renderPage } from './page.tsx';
import { Action, Card, type Column, Field, Notice, Table } from './parts.tsx';
import { readView, requireView, type View, viewQuery } from './view.ts';

const KIND_OPTIONS = Object.entries(ALERT_KINDS).map(
  ([name, { label, unit, suggested }]) =>
    [
      name,
      `${label} … ${unit === 'percent' ? '%' : unit === 'hours' ? 'hours' : ''} (${suggested})`,
    ] as const,
);

const AlertState = ({ alert, now }: { alert: Alert; now: number }) =>
  alert.firingSince === null ? (
    <span class="badge good">{alert.finding === null ? 'Not checked yet' : 'OK'}</span>
  ) : (
    <span class="badge bad">Since {ago(alert.firingSince, now)}</span>
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

const NewAlertCard = ({ view, values, faults }: Required<Submitted> & { view: View }) => (
  <Card title="New alert">
    <form method="post" action={`/alerts${viewQuery(view)}`} class="row">
      <Field
        label="Alert when"
        name="kind"
        value={values.kind ?? 'revenue_change'}
        faults={faults}
        options={KIND_OPTIONS}
        hint="Suggested thresholds are in parentheses"
      />
      <Field
        label="Limit"
        name="threshold"
        type="number"
        step="any"
        value={values.threshold ?? '30'}
        faults={faults}
        hint={`Percent, hours, or ${view.application.currency.toUpperCase()}`}
        required
      />
      <button type="submit">Add alert</button>
    </form>
    <details>
      <summary>What each alert compares</summary>
      <ul>
        {Object.values(ALERT_KINDS).map(({ label, hint }) => (
          <li>
            {label} …: {hint.charAt(0).toLowerCase() + hint.slice(1)}
          </li>
        ))}
      </ul>
      <p class="muted">
        Each alert sends one message when it starts firing and one when it stops. Days in{' '}
        {view.application.timezone}.
      </p>
    </details>
  </Card>
);

const UNTOUCHED: Required<Submitted> = { values: {}, faults: [] };

async function alertsPage(
  c: DashboardContext,
  forms: { alert?: Required<Submitted>; channel?: Required<Submitted> } = {},
) {
  const now = Date.now();
  const page = { title: 'Alerts', current: '/alerts' };
  const mayChange = atLeast(c.get('person').role, 'admin');
  const view = await readView(c, now);
  if (!view) return renderPage(c, page, <NeedsApplication mayCreate={mayChange} />);
  const db = database(c.env.DB);
  const { id } = view.application;
  const [rows, places] = await Promise.all([listAlerts(db, id), listChannels(db, id)]);
  const done = doneText(c);
  const { alert = UNTOUCHED, channel = UNTOUCHED } = forms;
  const part = { view, mayChange, now };
  return renderPage(
    c,
    {
      ...page,
      view,
      filters: <Filters view={view} path="/alerts" shown={['app']} />,
      status: alert.faults.length + channel.faults.length > 0 ? 400 : 200,
    },
    <>
      {done && <Notice kind="good">{done}</Notice>}
      <AlertsCard {...part} rows={rows} />
      {mayChange && <NewAlertCard view={view} {...alert} />}
      <ChannelsCard {...part} rows={places} />
      {mayChange && <NewChannelCard view={view} mail={canMail(c.env)} {...channel} />}
    </>,
  );
}

const admin = requireRole('admin');
const back = (view: View) => `/alerts${viewQuery(view)}`;

export const alertPages = new Hono<DashboardEnv>()
  .use('/alerts/*', requirePerson)
  .get('/alerts', (c) => alertsPage(c))
  .post('/alerts', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...alert } = await parseForm(c, NewAlert);
    if (!data) return alertsPage(c, { alert });
    await createAlert(callerOf(c), view.application, data);
    return redirectDone(c, back(view), 'created');
  })
  .post('/alerts/channels', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...channel } = await parseForm(c, NewChannel, ({ channel_kind, ...rest }) => ({
      ...rest,
      kind: channel_kind,
    }));
    if (!data) return alertsPage(c, { channel });
    if (data.kind === 'mail' && !canMail(c.env)) {
      const fault = { path: 'target', message: 'must be a URL: this deployment cannot send email' };
      return alertsPage(c, { channel: { ...channel, faults: [fault] } });
    }
    await createChannel(callerOf(c), view.application, data, new URL(c.req.url).origin);
    return redirectDone(c, back(view), 'created');
  })
  .post('/alerts/:id/remove', admin, async (c) => {
    const view = await requireView(c);
    await removeAlert(callerOf(c), view.application, c.req.param('id'));
    return redirectDone(c, back(view), 'deleted');
  })
  .post('/alerts/channels/:id/test', admin, async (c) => {
    const view = await requireView(c);
    await sendTestMessage(database(c.env.DB), view.application, c.req.param('id'), Date.now());
    return redirectDone(c, back(view), 'test_sent');
  })
  .post('/alerts/channels/:id/remove', admin, async (c) => {
    const view = await requireView(c);
    await removeChannel(callerOf(c), view.application, c.req.param('id'));
    return redirectDone(c, back(view), 'deleted');
  });
