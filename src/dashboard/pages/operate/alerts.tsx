import { Hono } from 'hono';
import {
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
import { settingsOf } from '#env';
import { invalidRequest } from '#http';
import { atLeast } from '#members';
import { ChannelsCard, NewChannelCard, type PartProps } from '../../forms/alert-channels.tsx';
import { doneText, parseForm, redirectDone, type Submitted } from '../../forms/form.ts';
import { NewAlertCard } from '../../forms/new-alert.tsx';
import { Filters } from '../../shell/filters.tsx';
import { ago } from '../../shell/format.ts';
import {
  callerOf,
  type DashboardContext,
  type DashboardEnv,
  requirePerson,
  requireRole,
} from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
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

const admin = requireRole('admin');
const back = (view: View) => `/alerts${viewQuery(view)}`;

export const alertPages = new Hono<DashboardEnv>()
  .use('/alerts/*', requirePerson)
  .get('/alerts', (c) => alertsPage(c))
  .post('/alerts', admin, async (c) => {
    const view = await requireView(c);
    const { data, ...alert } = await parseForm(c, NewAlert);
    if (!data) {
      if (alert.faults.some(({ path }) => path === 'kind')) throw invalidRequest(alert.faults);
      return alertsPage(c, { alert });
    }
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
