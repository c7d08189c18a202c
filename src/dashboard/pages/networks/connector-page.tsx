import type { Caller } from '#audit';
import {
  type Connector,
  ConnectorChanges,
  type ConnectorKind,
  fieldsOf,
  getConnector,
  kindOf,
  NewBackfill,
  replaceCredentials,
  showConnector,
  startBackfill,
} from '#connectors';
import { database } from '#db';
import { settingsOf } from '#env';
import { capitalized, count, money, NOTHING } from '#lib/format';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import { requireForm, type Submitted } from '../../forms/form.ts';
import { dayText, isoTimeText } from '../../shell/dates.ts';
import { isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, Facts, FoldedCard, Notice } from '../../shell/parts.tsx';
import { rowsText } from '../../shell/report.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';

export const CONNECTORS = '/connectors';

const STATES: Record<Connector['state'], readonly [kind: string, text: string]> = {
  running: ['', 'Running'],
  waiting: ['waiting', 'Waiting for the report'],
  failing: ['bad', 'Failing'],
  backfilling: ['', 'Reading past days'],
  due: ['', 'Due'],
  idle: ['good', 'OK'],
};

export const ConnectorState = ({ row }: { row: Connector }) => {
  const [kind, text] = STATES[row.state];
  return <span class={`badge ${kind}`.trim()}>{text}</span>;
};

/** What a connector fetches from, at the start of a line. */
export const connectorName = ({ kind }: Connector): string => capitalized(kindOf(kind)?.label ?? kind);

type LastChangeAnswer = NonNullable<Connector['last_change']>;

const amountsText = (amounts: LastChangeAnswer['before']) =>
  amounts.map(({ amount, currency }) => money(amount, currency)).join(', ') || 'nothing';

const LastChange = ({ change, view }: { change: LastChangeAnswer; view: View }) => (
  <>
    {dayText(change.from, view.today)} to {dayText(change.to, view.today)}: {count(change.days)} days
    replaced, {count(change.changed_days)} of them changed; {rowsText(change.rows)};{' '}
    {amountsText(change.before)} before, {amountsText(change.after)} now
  </>
);

/** What the account says of itself, and how that differs from the application. */
const accountText = ({ account }: Connector, { application }: View) => {
  if (!account?.currency && !account?.timezone) return NOTHING;
  const text = [account.currency?.toUpperCase(), account.timezone].filter(Boolean).join(', ');
  const isForeign = account.timezone !== null && account.timezone !== application.timezone;
  return isForeign ? `${text} (the application: ${application.timezone}, so days differ)` : text;
};

const BACKFILL_FIELDS: readonly FormField[] = [
  { label: 'From', name: 'from', type: 'date', required: true },
  { label: 'To', name: 'to', type: 'date', required: true },
];

const Backfill = ({ row, view, submitted }: { row: Connector; view: View; submitted: Submitted }) => {
  const isOpen = row.backfill !== null || submitted.faults !== undefined;
  return (
    <FoldedCard title="Read past days again" id="backfill" open={isOpen}>
      <p class="muted">
        Each run reads the last days again. Older ones are read on request, a week per run: their figures are
        replaced by those of today.
      </p>
      {row.backfill && (
        <p>
          {dayText(row.backfill.from, view.today)} to {dayText(row.backfill.to, view.today)}:{' '}
          {count(row.backfill.days_done)} of {count(row.backfill.days)} days done{' '}
          <progress
            value={row.backfill.days_done}
            max={row.backfill.days}
            aria-label="Days that were read again"
          />
        </p>
      )}
      <PostForm
        to={`${CONNECTORS}/${row.id}/backfill${viewQuery(view)}#backfill`}
        button="Read again"
        fields={BACKFILL_FIELDS}
        {...submitted}
      />
    </FoldedCard>
  );
};

const Credentials = ({
  row,
  kind,
  view,
  faults = [],
}: {
  row: Connector;
  kind: ConnectorKind;
  view: View;
  faults?: Submitted['faults'];
}) => (
  <FoldedCard title="Replace credentials" id="credentials" open={faults.length > 0}>
    <p class="muted">
      For a token that has expired or was revoked. What was fetched stays, and the next run uses the new one.
    </p>
    <PostForm
      to={`${CONNECTORS}/${row.id}/credentials${viewQuery(view)}#credentials`}
      button="Replace"
      fields={fieldsOf(kind)
        .filter(({ isSecret }) => isSecret)
        .map(({ name, label, isRequired }) => ({ label, name, type: 'password', required: isRequired }))}
      faults={faults}
    />
  </FoldedCard>
);

/** What was wrong with one of the page's forms. */
type RefusedForms = { backfill?: Submitted; credentials?: Submitted };

/** One connector: its state, what its last run changed, reading past days again, and new credentials. */
export async function connectorPage(c: DashboardContext, refused: RefusedForms = {}) {
  const view = await requireView(c);
  const id = c.req.param('id') ?? '';
  const { connector, application } = await getConnector(database(c.env.DB), c.get('person').team.id, id);
  if (application.id !== view.application.id) return c.redirect(`${CONNECTORS}${viewQuery(view)}`);
  const row = showConnector(connector, Date.now());
  const kind = kindOf(row.kind);
  const label = kind?.label ?? row.kind;
  const { timezone } = view.application;
  const at = (time: string | null) => isoTimeText(time, timezone);
  const mayChange = isAdmin(c);
  const to = (what: string) => `${CONNECTORS}/${id}${what}${viewQuery(view)}`;
  const what = kind?.family === 'ad_revenue' ? 'reported ad revenue' : 'costs';
  const tools = mayChange && (
    <>
      <Action to={to('/run')} label="Run now" />
      <Action
        to={to('/delete')}
        label="Remove"
        kind="danger"
        confirm={`Remove ${label} and the ${what} that it fetched?`}
      />
    </>
  );
  return renderPage(
    c,
    {
      title: connectorName(row),
      within: <a href={`${CONNECTORS}${viewQuery(view)}`}>Connectors</a>,
      view,
      tools,
    },
    <>
      {row.last_error !== null && (
        <Notice kind="bad">
          {row.failures > 1 ? `The last ${count(row.failures)} runs failed: ` : 'The last run failed: '}
          {row.last_error}
        </Notice>
      )}
      <Card title="State">
        <Facts
          facts={[
            ['State', <ConnectorState row={row} />],
            ['Last run', at(row.last_run_at)],
            ['Last success', at(row.last_success_at)],
            ['Next run', at(row.next_run_at)],
            ['Last change', row.last_change ? <LastChange change={row.last_change} view={view} /> : NOTHING],
            ['Account', accountText(row, view)],
            [
              'Credentials end',
              row.credentials_expire_at === null ? 'Not known to end' : at(row.credentials_expire_at),
            ],
            ...Object.entries(row.settings).map(
              ([name, value]) => value !== '' && ([kind?.labels[name] ?? name, value] as const),
            ),
          ]}
        />
      </Card>
      {mayChange && <Backfill row={row} view={view} submitted={refused.backfill ?? {}} />}
      {mayChange && kind && (
        <Credentials row={row} kind={kind} view={view} faults={refused.credentials?.faults} />
      )}
    </>,
  );
}

/** Has the days of the form read again. */
export const readAgain = async (caller: Caller, id: string, c: DashboardContext) =>
  startBackfill(caller, id, await requireForm(c, NewBackfill));

/** A form's fields under a prefix: `settings.app_key` is `app_key` of `settings.`. */
export const fieldsUnder = (values: Record<string, string>, prefix: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  );

/** Replaces the credentials. */
export async function renewCredentials(caller: Caller, id: string, c: DashboardContext) {
  const toChanges = (values: Record<string, string>) => ({
    credentials: fieldsUnder(values, 'credentials.'),
  });
  const changes = await requireForm(c, ConnectorChanges, toChanges);
  await replaceCredentials(caller, id, changes, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
}
