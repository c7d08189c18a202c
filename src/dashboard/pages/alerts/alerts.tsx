import {
  type AlertRow,
  alertText,
  canMail,
  changeAlert,
  createChannel,
  findLastFired,
  listAlerts,
  listChannels,
  NewChannel,
  removeAlert,
  removeChannel,
  sendTestMessage,
} from '#alerts';
import { database } from '#db';
import { settingsOf } from '#env';
import { inLongReportSlot, invalidRequest } from '#http';
import { money } from '#lib/format';
import type { MemberCaller } from '#members';
import type { ApplicationRow } from '#teams';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { timeText } from '../../shell/dates.ts';
import { changing, type Done, redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { NeedsApplication } from '../../shell/needs-application.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Blank, Card } from '../../shell/parts.tsx';
import { readView, requireView, type View, type ViewChanges, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { ChannelsCard, NewChannelForm, type PartProps } from './alert-channels.tsx';
import {
  AlertFinding,
  AlertState,
  alertFormPage,
  alertPage,
  alertPath,
  alertsPath,
  saveAlert,
  TurnAction,
} from './alert-page.tsx';

/** Where to begin: the questions that most people ask first, as filled forms. */
const startsIn = (currency: string): readonly (readonly [text: string, form: ViewChanges])[] => [
  [
    'Revenue changes by more than 30% from the same weekdays',
    { metric: 'revenue', condition: 'changes', threshold: '30', days: '1' },
  ],
  [
    'Installs fall by more than 30% from the same weekdays',
    { metric: 'installs', condition: 'falls', threshold: '30', days: '1' },
  ],
  [
    `A campaign spends ${money(20, currency)} without an install`,
    {
      metric: 'installs',
      condition: 'below',
      threshold: '1',
      days: '1',
      group_by: 'campaign',
      min_spend: '20',
    },
  ],
  [
    'ROAS of a campaign is below 50%',
    { metric: 'roas', condition: 'below', threshold: '50', days: '7', group_by: 'campaign' },
  ],
  ['No events arrive for 1 hour', { metric: 'no_events', threshold: '1' }],
  ['Health shows a problem', { metric: 'service_problems', threshold: '1' }],
];

const Starts = ({ view }: { view: View }) => (
  <ul class="starts">
    {startsIn(view.application.currency).map(([text, form]) => (
      <li>
        <a class="button quiet" href={`/alerts/new${viewQuery(view, form)}`}>
          {text}
        </a>
      </li>
    ))}
  </ul>
);

function AlertsCard({
  view,
  rows,
  lastFired,
  mayChange,
}: PartProps & { rows: AlertRow[]; lastFired: ReadonlyMap<string, number> }) {
  const { timezone, currency } = view.application;
  return (
    <Card title="Alerts" aside={<span class="muted">Times in {timezone}</span>}>
      {rows.length === 0 ? (
        <>
          <Blank
            text={
              mayChange
                ? 'No alerts yet. Begin with one of these, or with any metric.'
                : 'No alerts yet. An admin adds them.'
            }
          />
          {mayChange && <Starts view={view} />}
        </>
      ) : (
        <Table
          caption="Alerts"
          rows={rows}
          columns={[
            {
              label: 'Alert when',
              wrap: true,
              cell: (alert) => (
                <>
                  <a href={alertPath(view, alert.id)}>{alertText(alert, currency)}</a>
                  <div class="muted">
                    <AlertFinding alert={alert} view={view} />
                  </div>
                </>
              ),
            },
            { label: 'State', cell: (alert) => <AlertState alert={alert} timezone={timezone} /> },
            {
              label: 'Last fired',
              cell: ({ id }) => {
                const at = lastFired.get(id);
                return at === undefined ? 'Never' : timeText(at, timezone);
              },
            },
          ]}
          actions={mayChange && ((alert) => <TurnAction alert={alert} view={view} />)}
        />
      )}
    </Card>
  );
}

async function alertsPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const mayChange = isAdmin(c);
  const view = await readView(c);
  if (!view) return renderPage(c, {}, <NeedsApplication mayCreate={mayChange} />);
  const db = database(c.env.DB);
  const { id } = view.application;
  const [rows, places] = await Promise.all([listAlerts(db, id), listChannels(db, id)]);
  const lastFired = await findLastFired(
    db,
    rows.map((alert) => alert.id),
  );
  const part = { view, mayChange };
  return renderPage(
    c,
    {
      view,
      tools: mayChange && (
        <a class="button" href={`/alerts/new${viewQuery(view)}`}>
          New alert
        </a>
      ),
    },
    <>
      <AlertsCard {...part} rows={rows} lastFired={lastFired} />
      <ChannelsCard
        {...part}
        rows={places}
        form={
          mayChange && <NewChannelForm view={view} mail={canMail(c.env)} values={values} faults={faults} />
        }
      />
    </>,
  );
}

const inSlot = (c: DashboardContext, make: () => Promise<Response>) =>
  inLongReportSlot(c.get('person').team.id, make);

/** A change to an alert or a channel of the application. */
const changingOwn = (
  done: Done,
  change: (caller: MemberCaller, application: ApplicationRow, id: string) => Promise<unknown>,
) =>
  changing('/alerts', done, async (caller, id, c) => change(caller, (await requireView(c)).application, id));

const turn = (enabled: boolean) =>
  changingOwn('saved', (caller, application, id) => changeAlert(caller, application, id, { enabled }));

const sendTest = changingOwn('test_sent', ({ db, now }, application, id) =>
  sendTestMessage(db, application, id, now),
);

const routes = pageRoutes()
  .get('/', (c) => alertsPage(c))
  .get('/new', admin, (c) => inSlot(c, () => alertFormPage(c, null)))
  .post('/new', admin, (c) => saveAlert(c, null))
  .post('/channels', admin, again(alertsPage), async (c) => {
    const view = await requireView(c);
    const data = await requireForm(c, NewChannel, ({ channel_kind, ...rest }) => ({
      ...rest,
      kind: channel_kind,
    }));
    if (data.kind === 'mail' && !canMail(c.env)) {
      const message = 'must be the URL of a webhook: email is not set up here';
      throw invalidRequest([{ path: 'target', message }]);
    }
    const { KEY_ENCRYPTION_SECRET } = settingsOf(c.env);
    await createChannel(
      callerOf(c),
      view.application,
      data,
      new URL(c.req.url).origin,
      KEY_ENCRYPTION_SECRET,
    );
    return redirectDone(c, alertsPath(view), 'created');
  })
  .get('/:id', (c) => alertPage(c, c.req.param('id')))
  .get('/:id/edit', admin, (c) => inSlot(c, () => alertFormPage(c, c.req.param('id'))))
  .post('/:id/edit', admin, (c) => saveAlert(c, c.req.param('id')))
  .post('/:id/on', admin, turn(true))
  .post('/:id/off', admin, turn(false))
  .post('/:id/remove', admin, changingOwn('deleted', removeAlert))
  .post('/channels/:id/test', admin, sendTest)
  .post('/channels/:id/remove', admin, changingOwn('deleted', removeChannel));

export const alerts: PageRecord = {
  path: '/alerts',
  title: 'Alerts',
  links: [{ group: 'Operate', icon: 'M4 11V7a4 4 0 018 0v4l1 1H3zM7 14h2' }],
  routes,
};
