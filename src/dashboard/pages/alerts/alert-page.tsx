import {
  type AlertRow,
  alertText,
  changeAlert,
  createAlert,
  findAlert,
  findLastFired,
  isStateKind,
  listChanges,
  MetricRule,
  type NewAlert,
  namesLeftOut,
  previewRule,
  readFiringGroups,
  readRule,
  StateAlert,
  withScope,
} from '#alerts';
import { database } from '#db';
import { NOTHING } from '#lib/format';
import { checkForm, readForm, type Submitted } from '../../forms/form.ts';
import { dayText, timeText, withDays } from '../../shell/dates.ts';
import { redirectDone } from '../../shell/done.ts';
import { readChips } from '../../shell/filter-names.ts';
import { Filters } from '../../shell/filters.tsx';
import { callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, Facts, Name } from '../../shell/parts.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { ALERT_FIELDS, AlertForm, PREVIEW_DAYS, toAlert } from './alert-form.tsx';
import { AlertPreview } from './alert-preview.tsx';

/** The alerts of the view's application, without the filters that an alert was made with. */
export const alertsPath = (view: View): string => `/alerts${viewQuery({ ...view, filters: {} })}`;

/** The address of an alert's page, or of its form. */
export const alertPath = (view: View, id: string, form = ''): string =>
  `/alerts/${id}${form}${viewQuery({ ...view, filters: {} })}`;

/** The state of an alert: a word, and since when. */
export const AlertState = ({ alert, timezone }: { alert: AlertRow; timezone: string }) => {
  const { firingSince, offSince } = alert;
  if (offSince !== null) return <span class="badge">Off</span>;
  if (firingSince !== null) {
    return (
      <>
        <span class="badge bad">Firing</span>{' '}
        <span class="muted">since {timeText(firingSince, timezone)}</span>
      </>
    );
  }
  return alert.isKnown ? <span class="badge good">OK</span> : <span class="badge">No data yet</span>;
};

/** What the last check found, or what comes next. */
export const AlertFinding = ({ alert, view }: { alert: AlertRow; view: View }) => {
  if (alert.offSince !== null) return <>Turned off {timeText(alert.offSince, view.application.timezone)}</>;
  return (
    <>
      {alert.finding === null ? 'Checked within a minute' : withDays(alert.finding, view.today)}
      {alert.kind === 'no_events' && alert.firingSince !== null && (
        <>
          {' '}
          <a href={`/status${viewQuery(view)}`}>See Health</a>
        </>
      )}
    </>
  );
};

export const TurnAction = ({ alert, view }: { alert: AlertRow; view: View }) => {
  const to = alert.offSince === null ? 'off' : 'on';
  return (
    <Action
      to={alertPath(view, alert.id, `/${to}`)}
      label={to === 'off' ? 'Turn off' : 'Turn on'}
      kind="quiet"
    />
  );
};

/** What an alert watches, as the form's address has it, with its filters. */
function formQuery(view: View, alert: AlertRow): string {
  if (alert.rule === null) {
    const threshold = String(alert.threshold);
    return viewQuery({ ...view, filters: {} }, { metric: alert.kind, threshold });
  }
  const rule = readRule(alert.rule);
  const values = ALERT_FIELDS.map((name) => [name, String(rule[name] ?? '')] as const);
  return viewQuery({ ...view, filters: rule.filters }, Object.fromEntries(values));
}

const STATES = { fired: ['bad', 'Fired'], resolved: ['good', 'Resolved'] } as const;

/** One alert: its state, what it fires for, and when it fired. */
export async function alertPage(c: DashboardContext, id: string) {
  const view = await requireView(c);
  const db = database(c.env.DB);
  const alert = await findAlert(db, view.application, id);
  const [changes, lastFired] = await Promise.all([listChanges(db, id), findLastFired(db, [id])]);
  const { timezone, currency } = view.application;
  const firing =
    alert.rule !== null && readRule(alert.rule).group_by ? readFiringGroups(alert.firingGroups) : {};
  const last = lastFired.get(id);
  const tools = isAdmin(c) && (
    <>
      <TurnAction alert={alert} view={view} />
      <Action
        to={alertPath(view, id, '/remove')}
        label="Remove"
        kind="danger"
        confirm="Remove this alert and its history?"
      />
      <a class="button" href={`/alerts/${id}/edit${formQuery(view, alert)}`}>
        Edit
      </a>
    </>
  );
  return renderPage(
    c,
    { title: alertText(alert, currency), within: <a href={alertsPath(view)}>Alerts</a>, view, tools },
    <>
      <Card title="State">
        <Facts
          facts={[
            ['State', <AlertState alert={alert} timezone={timezone} />],
            ['Last check', <AlertFinding alert={alert} view={view} />],
            ['Last fired', last === undefined ? 'Never' : timeText(last, timezone)],
            ['Created', timeText(alert.createdAt, timezone)],
          ]}
        />
      </Card>
      {Object.keys(firing).length > 0 && (
        <Card title="Firing for">
          <Table
            caption="Groups that fire"
            rows={Object.values(firing)}
            columns={[
              { label: 'Group', cell: Name },
              { label: 'Since', cell: ({ since }) => timeText(since, timezone) },
              { label: 'Latest data', cell: ({ day }) => dayText(day, view.today) },
            ]}
          />
        </Card>
      )}
      <Card title="History" aside={<span class="muted">Times in {timezone}</span>}>
        <Table
          caption="When it fired and resolved"
          rows={changes}
          empty="It has not fired yet."
          columns={[
            { label: 'Time', cell: ({ at }) => timeText(at, timezone) },
            {
              label: 'State',
              cell: ({ state }) => <span class={`badge ${STATES[state][0]}`}>{STATES[state][1]}</span>,
            },
            {
              label: 'Message',
              wrap: true,
              cell: ({ text }) =>
                text === ''
                  ? NOTHING
                  : withDays(text, view.today)
                      .split('\n')
                      .map((line) => <div>{line}</div>),
            },
          ]}
        />
      </Card>
    </>,
  );
}

const RuleAlert = MetricRule.transform((rule) => ({ kind: 'metric' as const, rule }));

/** A filled form: what it watches, or its faults. */
function readAlert({ filters }: View, values: Record<string, string>) {
  const alert = toAlert(values);
  return isStateKind(alert.kind ?? '')
    ? checkForm(StateAlert, alert)
    : checkForm(RuleAlert, { ...alert, filters });
}

/** The preview of what a form watches; nothing for the state of an application. */
async function previewOf(c: DashboardContext, view: View, watches: NewAlert) {
  if (watches.kind !== 'metric') return null;
  const { application, now } = view;
  const rule = await withScope(database(c.env.DB), application, watches.rule);
  const days = Number(PREVIEW_DAYS.find((own) => own === c.req.query('preview')) ?? PREVIEW_DAYS[0]);
  const evaluated = await previewRule(c.env, application, rule, days, now);
  const [latest] = evaluated;
  const leftOutNames = latest ? await namesLeftOut(c.env, application, rule, latest, now) : [];
  return (
    <AlertPreview view={view} rule={rule} evaluated={evaluated} days={days} leftOutNames={leftOutNames} />
  );
}

/** The form of a new alert, or of the alert `id`, with the page's filters, and what the alert would have said. */
export async function alertFormPage(c: DashboardContext, id: string | null, submitted: Submitted = {}) {
  const view = await requireView(c);
  const alert = id === null ? null : await findAlert(database(c.env.DB), view.application, id);
  const query = c.req.query();
  const asks = submitted.values === undefined && query.metric !== undefined && query.threshold !== undefined;
  if (alert && !asks && submitted.values === undefined) {
    return c.redirect(`/alerts/${alert.id}/edit${formQuery(view, alert)}`);
  }
  const values = submitted.values ?? query;
  const { data: watches = null, faults = submitted.faults ?? [] } = asks ? readAlert(view, values) : {};
  const carry = Object.fromEntries(ALERT_FIELDS.map((name) => [name, values[name] ?? '']));
  const chips = await readChips(c.env.DB, view);
  const path = alert ? `/alerts/${alert.id}/edit` : '/alerts/new';
  return renderPage(
    c,
    {
      title: alert ? 'Edit alert' : 'New alert',
      within: <a href={alert ? alertPath(view, alert.id) : alertsPath(view)}>{alert ? 'Alert' : 'Alerts'}</a>,
      view,
      filters: <Filters view={view} path={path} shown={['filters']} carry={carry} chips={chips} />,
      status: faults && faults.length > 0 ? 400 : 200,
    },
    <>
      <AlertForm
        view={view}
        path={path}
        label={alert ? 'Save' : 'Create alert'}
        values={values}
        faults={faults ?? []}
      />
      {watches && (await previewOf(c, view, watches))}
    </>,
  );
}

/** Creates an alert, or changes the alert `id`, from a submitted form. */
export async function saveAlert(c: DashboardContext, id: string | null) {
  const view = await requireView(c);
  const values = await readForm(c);
  const { data: watches, faults } = readAlert(view, values);
  if (!watches) return alertFormPage(c, id, { values, faults });
  const caller = callerOf(c);
  if (id === null) {
    await createAlert(caller, view.application, watches);
    return redirectDone(c, alertsPath(view), 'created');
  }
  await changeAlert(caller, view.application, id, { watches });
  return redirectDone(c, alertPath(view, id), 'saved');
}
