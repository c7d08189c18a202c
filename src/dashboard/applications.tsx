import { Hono } from 'hono';
import { database } from '#db';
import { deleteApplication } from '#deletion';
import { settingsOf } from '#env';
import { type Fault, invalidRequest } from '#http';
import { atLeast } from '#members';
import {
  ApplicationChanges,
  type ApplicationRow,
  changeApplication,
  createApplication,
  getApplication,
  listApplications,
  listKeysInGrace,
  NewApiKey,
  NewApplication,
  replaceApiKey,
  revealApiKey,
} from '#teams';
import { checkForm, readForm, redirectDone } from './form.ts';
import { moment } from './format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { Action, Card, Copyable, Field, Table } from './parts.tsx';
import { renderSettings } from './settings.tsx';

const PAGE = 200;
const GRACES = [
  ['0', 'stops now'],
  ['1', 'works for 1 hour'],
  ['24', 'works for 24 hours'],
  ['72', 'works for 72 hours'],
] as const;

type Values = Record<string, string>;

/** The form's text as the schema of the team API wants it; what the form does not have stays as it is. */
function toChanges(values: Values) {
  const url = (text: string | undefined) => text?.trim() || null;
  return {
    name: values.name,
    timezone: values.timezone,
    currency: values.currency,
    data_collection: values.data_collection === 'on',
    ios_store_url: url(values.ios_store_url),
    android_store_url: url(values.android_store_url),
    fallback_url: url(values.fallback_url),
    attribution_window_hours: Number(values.attribution_window_hours),
    probabilistic_window_hours: Number(values.probabilistic_window_hours),
  };
}

const toValues = (row: ApplicationRow): Values => ({
  name: row.name,
  timezone: row.timezone,
  currency: row.currency,
  data_collection: row.dataCollection ? 'on' : 'off',
  ios_store_url: row.iosStoreUrl ?? '',
  android_store_url: row.androidStoreUrl ?? '',
  fallback_url: row.fallbackUrl ?? '',
  attribution_window_hours: String(row.attributionWindowHours),
  probabilistic_window_hours: String(row.probabilisticWindowHours),
});

async function listPage(c: DashboardContext, values: Values = {}, faults: Fault[] = []) {
  const { person } = c.var;
  const rows = await listApplications(database(c.env.DB), person.team.id, { limit: PAGE, cursor: '' });
  return renderSettings(
    c,
    { title: 'Applications', section: '/settings/applications', status: faults.length > 0 ? 400 : 200 },
    <>
      <Card title="Applications">
        <Table
          caption="Applications of the team"
          rows={rows}
          empty="No application yet. Create the first one below."
          columns={[
            { label: 'Name', cell: (row) => <a href={`/settings/applications/${row.id}`}>{row.name}</a> },
            { label: 'Time zone', cell: (row) => row.timezone },
            { label: 'Currency', cell: (row) => row.currency.toUpperCase() },
            { label: 'Data collection', cell: (row) => (row.dataCollection ? 'on' : 'off') },
            { label: 'Set up', cell: (row) => <a href={`/get-started?app=${row.id}`}>Get started</a> },
          ]}
        />
      </Card>
      {atLeast(person.role, 'admin') && (
        <Card title="New application">
          <form
            method="post"
            action="/settings/applications"
            class="row"
            {...(faults.length === 0 ? { 'data-suggest': '' } : {})}
          >
            <Field
              label="Name"
              name="name"
              value={values.name ?? ''}
              faults={faults}
              maxlength={255}
              required
            />
            <Field
              label="Time zone"
              name="timezone"
              value={values.timezone ?? 'UTC'}
              faults={faults}
              hint="Such as Europe/Berlin. Report days begin at its midnight."
              required
            />
            <Field
              label="Currency"
              name="currency"
              value={values.currency ?? 'usd'}
              faults={faults}
              hint="Of your reports, such as EUR"
              maxlength={3}
              required
            />
            <button type="submit">Create</button>
          </form>
          <script src="/suggest.js" type="module"></script>
        </Card>
      )}
    </>,
  );
}

const KeyCard = ({
  row,
  grace,
  apiKey,
  header,
}: {
  row: ApplicationRow;
  grace: number[];
  apiKey: string | undefined;
  header: string;
}) => (
  <Card title="API key" id="key">
    {apiKey === undefined ? (
      <>
        <p class="muted">
          Your backend sends it with every request, in the header <code>{header}</code>. Keep it in a secrets
          manager, never in the app itself. Showing it is recorded in the audit log.
        </p>
        <Action to={`/settings/applications/${row.id}/key#key`} label="Show the API key" />
      </>
    ) : (
      <Copyable text={apiKey} label="API key" />
    )}
    {grace.map((until) => (
      <p>An earlier key works until {moment(until, 'UTC')} UTC.</p>
    ))}
    <form
      method="post"
      action={`/settings/applications/${row.id}/new-key#key`}
      class="row"
      data-confirm="Create a new API key?"
    >
      <Field label="Current key" name="grace_hours" value="24" options={GRACES} />
      <button type="submit" class="danger">
        Regenerate
      </button>
    </form>
  </Card>
);

/** Deleting takes typing the name: a click alone never loses an application. */
const DeleteCard = ({ row, faults }: { row: ApplicationRow; faults: Fault[] }) => (
  <Card title="Delete application" id="delete">
    <p class="muted">
      Deletes {row.name} with its creatives, devices, events, costs and reports. Its API keys and tracking
      links stop working within 60 seconds. This cannot be undone.
    </p>
    <form
      method="post"
      action={`/settings/applications/${row.id}/delete#delete`}
      class="row"
      data-confirm={`Delete ${row.name} with all its data?`}
    >
      <Field
        label="Application name"
        name="delete_name"
        faults={faults}
        hint={`Type ${row.name} to confirm`}
        maxlength={255}
        required
      />
      <button type="submit" class="danger">
        Delete application
      </button>
    </form>
  </Card>
);

async function applicationPage(
  c: DashboardContext,
  row: ApplicationRow,
  shown: { apiKey?: string; values?: Values; faults?: Fault[] } = {},
) {
  const { person } = c.var;
  const { values = toValues(row), faults = [] } = shown;
  const mayChange = atLeast(person.role, 'admin');
  const grace = await listKeysInGrace(database(c.env.DB), row, Date.now());
  const text = (
    label: string,
    name: string,
    more: { hint?: string; type?: string; required?: boolean } = {},
  ) => <Field label={label} name={name} value={values[name] ?? ''} faults={faults} {...more} />;
  const fields = (
    <fieldset disabled={!mayChange}>
      {text('Name', 'name', { required: true })}
      <div class="field check">
        <input
          type="checkbox"
          id="field-data_collection"
          name="data_collection"
          checked={values.data_collection === 'on'}
        />
        <label for="field-data_collection">Collect data</label>
        <p class="hint">Off: new tokens and events are refused with 403, everywhere within 60 seconds.</p>
      </div>
      {text('Time zone', 'timezone', {
        required: true,
        hint: 'Such as Europe/Berlin. A change applies to later events; days that are counted stay as they are.',
      })}
      {text('Reporting currency', 'currency', { required: true, hint: 'ISO 4217, such as usd' })}
      <h3 id="stores">Where tracking links lead</h3>
      {text('Google Play URL', 'android_store_url', {
        type: 'url',
        hint: 'https://play.google.com/store/apps/details?id=…',
      })}
      {text('App Store URL', 'ios_store_url', { type: 'url', hint: 'https://apps.apple.com/app/id…' })}
      {text('Fallback URL', 'fallback_url', {
        type: 'url',
        hint: 'For devices of a platform that has no store URL.',
      })}
      {text('Attribution window, hours after the click', 'attribution_window_hours', {
        type: 'number',
        required: true,
      })}
      {text('Probabilistic window, hours after the click', 'probabilistic_window_hours', {
        type: 'number',
        required: true,
        hint: '0 turns probabilistic matching off.',
      })}
      {mayChange && <button type="submit">Save</button>}
    </fieldset>
  );
  return renderSettings(
    c,
    { title: row.name, section: '/settings/applications', status: faults.length > 0 ? 400 : 200 },
    <>
      {mayChange && (
        <KeyCard
          row={row}
          grace={grace.flatMap(({ expiresAt }) => expiresAt ?? [])}
          apiKey={shown.apiKey}
          header={`${settingsOf(c.env).SERVICE_NAME}-api-key`}
        />
      )}
      <Card title="Settings" aside={<code class="muted">{row.id}</code>}>
        {mayChange ? (
          <form method="post" action={`/settings/applications/${row.id}`}>
            {fields}
          </form>
        ) : (
          fields
        )}
      </Card>
      <p>
        <a href={`/get-started?app=${row.id}`}>Get started: send the first event</a>
      </p>
      {mayChange && <DeleteCard row={row} faults={faults} />}
    </>,
  );
}

const admin = requireRole('admin');
const ownApplication = (c: DashboardContext) =>
  getApplication(database(c.env.DB), c.get('person').team.id, c.req.param('id') ?? '');

export const applicationPages = new Hono<DashboardEnv>()
  .get('/settings', (c) => c.redirect('/settings/applications'))
  .use('/settings/applications/*', requirePerson)
  .get('/settings/applications', (c) => listPage(c))
  .post('/settings/applications', admin, async (c) => {
    const values = await readForm(c);
    const { data, faults } = checkForm(NewApplication, values);
    if (!data) return listPage(c, values, faults);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const { application } = await createApplication(callerOf(c), data, secret);
    return c.redirect(`/get-started?app=${application.id}`, 303);
  })
  .get('/settings/applications/:id', async (c) => applicationPage(c, await ownApplication(c)))
  .post('/settings/applications/:id', admin, async (c) => {
    const row = await ownApplication(c);
    const values = await readForm(c);
    const { data, faults } = checkForm(ApplicationChanges, toChanges(values));
    if (!data) return applicationPage(c, row, { values, faults });
    await changeApplication(callerOf(c), row, data);
    return redirectDone(c, `/settings/applications/${row.id}`, 'saved');
  })
  .post('/settings/applications/:id/key', admin, async (c) => {
    const row = await ownApplication(c);
    const apiKey = await revealApiKey(callerOf(c), row, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return applicationPage(c, row, { apiKey });
  })
  .post('/settings/applications/:id/new-key', admin, async (c) => {
    const row = await ownApplication(c);
    const { grace_hours } = await readForm(c);
    const { data, faults } = checkForm(NewApiKey, { grace_hours: Number(grace_hours) });
    if (!data) throw invalidRequest(faults);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    await replaceApiKey(callerOf(c), row, data.grace_hours, secret);
    // The key is shown on request only: a reload of this answer must not make a further one.
    return redirectDone(c, `/settings/applications/${row.id}`, 'new_key');
  })
  .post('/settings/applications/:id/delete', admin, async (c) => {
    const row = await ownApplication(c);
    const { delete_name: name = '' } = await readForm(c);
    if (name.trim() !== row.name) {
      const fault = { path: 'delete_name', message: 'must be the name of this application' };
      return applicationPage(c, row, { faults: [fault] });
    }
    await deleteApplication(c.env, callerOf(c), row.id, row.name);
    return redirectDone(c, '/settings/applications', 'deleted_application');
  });
