import {
  CONNECTOR_KINDS,
  type Connector,
  type ConnectorKind,
  createConnector,
  deleteConnector,
  fieldsOf,
  KINDS,
  kindOf,
  listConnectors,
  NewConnector,
  scheduleConnector,
  showConnector,
} from '#connectors';
import { database } from '#db';
import { settingsOf } from '#env';
import { NOTHING } from '#lib/format';
import { Fields } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { isoTimeText } from '../../shell/dates.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Blank, Card, FoldedCard } from '../../shell/parts.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import {
  CONNECTORS,
  ConnectorState,
  connectorName,
  connectorPage,
  fieldsUnder,
  readAgain,
  renewCredentials,
} from './connector-page.tsx';

const FAMILIES = { costs: 'Costs', ad_revenue: 'Ad revenue' } as const;

const Connectors = ({
  rows,
  view,
  mayChange,
}: {
  rows: readonly Connector[];
  view: View;
  mayChange: boolean;
}) => {
  const { timezone } = view.application;
  const kind = (row: Connector) => kindOf(row.kind);
  return (
    <Card title="Connectors" id="connectors">
      <Table
        caption={`Connectors, times in ${timezone}`}
        rows={rows}
        columns={[
          {
            label: 'From',
            cell: (row) => <a href={`${CONNECTORS}/${row.id}${viewQuery(view)}`}>{connectorName(row)}</a>,
          },
          { label: 'State', cell: (row) => <ConnectorState row={row} /> },
          { label: 'What', cell: (row) => FAMILIES[kind(row)?.family ?? 'costs'] },
          {
            label: 'Account or app',
            wrap: true,
            cell: (row) =>
              Object.values(row.settings)
                .filter((value) => value !== '')
                .join(' · '),
          },
          { label: 'Last success', cell: (row) => isoTimeText(row.last_success_at, timezone) },
          { label: 'Next run', cell: (row) => isoTimeText(row.next_run_at, timezone) },
          { label: 'Last error', wrap: true, cell: (row) => row.last_error ?? NOTHING },
        ]}
        actions={
          mayChange &&
          ((row) => (
            <Action to={`${CONNECTORS}/${row.id}/run${viewQuery(view)}`} label="Run now" kind="quiet" />
          ))
        }
      />
    </Card>
  );
};

const NewConnectors = ({
  family,
  view,
  submitted,
}: {
  family: ConnectorKind['family'];
  view: View;
  submitted: Submitted;
}) => {
  const { values = {}, faults = [] } = submitted;
  return (
    <section id={family.replace('_', '-')} aria-label={`Add connectors: ${FAMILIES[family]}`}>
      {CONNECTOR_KINDS.filter((name) => KINDS[name].family === family).map((name) => {
        const kind: ConnectorKind = KINDS[name];
        const isOwn = values.kind === name;
        const own = isOwn ? faults : [];
        const idOf = (field: string) => `${name}.${field}`;
        return (
          <FoldedCard
            title={`Add ${FAMILIES[family].toLowerCase()} of ${kind.label}`}
            id={`add-${name}`}
            open={own.length > 0}
          >
            <ul class="muted">
              {[...kind.notes, ...kind.unverified].map((note) => (
                <li>{note.replaceAll('`', '')}</li>
              ))}
            </ul>
            <form method="post" action={`${CONNECTORS}${viewQuery(view)}#add-${name}`} class="stack">
              <input type="hidden" name="kind" value={name} />
              {own
                .filter(({ path }) => path === '')
                .map(({ message }) => (
                  <p class="fault">{message}</p>
                ))}
              <Fields
                fields={fieldsOf(kind).map((field) => ({
                  label: field.label,
                  // Fields of several forms have the same name, but no two the same id.
                  name: idOf(field.name),
                  submitted: field.name,
                  type: field.isSecret ? 'password' : 'text',
                  value: isOwn ? values[field.name] : '',
                  required: field.isRequired,
                }))}
                faults={own.map((fault) => ({ ...fault, path: idOf(fault.path) }))}
              />
              <button type="submit">Add</button>
            </form>
          </FoldedCard>
        );
      })}
    </section>
  );
};

async function page(c: DashboardContext, submitted: Submitted = {}) {
  const view = await requireView(c);
  const now = Date.now();
  const rows = await listConnectors(database(c.env.DB), view.application.id);
  const mayChange = isAdmin(c);
  return renderPage(
    c,
    { view },
    <>
      {rows.length === 0 ? (
        <Card title="Connectors">
          <Blank text="A connector fetches what an advertising network says that you spent, or what a mediation platform says that you earned, every day." />
        </Card>
      ) : (
        <Connectors rows={rows.map((row) => showConnector(row, now))} view={view} mayChange={mayChange} />
      )}
      {mayChange && (
        <>
          <NewConnectors family="costs" view={view} submitted={submitted} />
          <NewConnectors family="ad_revenue" view={view} submitted={submitted} />
        </>
      )}
    </>,
  );
}

/** The form's text as the team API's schema has it: `settings.app_key` is a field of `settings`. */
const toConnector = (applicationId: string) => (values: Record<string, string>) => ({
  application_id: applicationId,
  kind: values.kind,
  settings: fieldsUnder(values, 'settings.'),
  credentials: fieldsUnder(values, 'credentials.'),
});

const routes = pageRoutes()
  .get('/', (c) => page(c))
  .post('/', admin, again(page), async (c) => {
    const view = await requireView(c);
    const data = await requireForm(c, NewConnector, toConnector(view.application.id));
    await createConnector(callerOf(c), view.application, data, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return redirectDone(c, `${CONNECTORS}${viewQuery(view)}`, 'connected');
  })
  .get('/:id', (c) => connectorPage(c))
  .post('/:id/run', admin, changing(`${CONNECTORS}/:id`, 'connector_due', scheduleConnector))
  .post(
    '/:id/backfill',
    admin,
    again((c, backfill) => connectorPage(c, { backfill })),
    changing(`${CONNECTORS}/:id`, 'connector_due', readAgain),
  )
  .post(
    '/:id/credentials',
    admin,
    again((c, credentials) => connectorPage(c, { credentials })),
    changing(`${CONNECTORS}/:id`, 'connector_due', renewCredentials),
  )
  .post('/:id/delete', admin, changing(CONNECTORS, 'deleted', deleteConnector));

export const connectors: PageRecord = {
  path: CONNECTORS,
  title: 'Connectors',
  links: [{ group: 'Operate', icon: 'M5 2v3M11 2v3M3 5h10v3a5 5 0 0 1-10 0zM8 13v2' }],
  routes,
};
