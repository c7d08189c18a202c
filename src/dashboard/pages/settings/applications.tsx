import { database } from '#db';
import { deleteApplication } from '#deletion';
import { settingsOf } from '#env';
import { AppError, invalidRequest } from '#http';
import {
  ApplicationChanges,
  changeApplication,
  createApplication,
  getApplication,
  NewApplication,
  Replacement,
  replaceApiKey,
  replaceIntakeSecret,
  revealApiKey,
} from '#teams';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { again, readForm, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing } from '../../forms/show-once.ts';
import { SuggestedValues } from '../../forms/suggested-values.tsx';
import { redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, FormMenu } from '../../shell/parts.tsx';
import { applicationsOf } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { applicationPage, pathOf } from './application-page.tsx';
import { toChanges } from './application-values.ts';
import { readTemplateForm } from './impression-callbacks.tsx';
import { renderSettings } from './settings-page.tsx';

const NEW_FIELDS: readonly FormField[] = [
  { label: 'Name', name: 'name', maxlength: 255, required: true },
  {
    label: 'Time zone',
    name: 'timezone',
    value: 'UTC',
    hint: 'Report days begin at its midnight. It cannot be changed for days in the past.',
    list: 'time-zones',
    required: true,
  },
  {
    label: 'Currency',
    name: 'currency',
    value: 'USD',
    hint: 'For your reports, such as EUR',
    list: 'currencies',
    maxlength: 3,
    required: true,
  },
];

async function listPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const rows = await applicationsOf(c);
  return renderSettings(
    c,
    {
      tools: isAdmin(c) && (
        <FormMenu label="New application" id="new" open={faults.length > 0 || rows.length === 0}>
          <form
            method="post"
            action="/settings/applications"
            class="stack"
            {...(faults.length === 0 ? { 'data-suggest': '' } : {})}
          >
            <Fields fields={NEW_FIELDS} values={values} faults={faults} />
            <button type="submit">Create</button>
          </form>
          <SuggestedValues />
        </FormMenu>
      ),
    },
    <Card title="Applications">
      <Table
        caption="Applications of the team"
        rows={rows}
        empty="No applications yet. Create the first one."
        columns={[
          {
            label: 'Name',
            cell: (row) => (
              <a href={`/settings/applications/${row.id}`}>
                <bdi>{row.name}</bdi>
              </a>
            ),
          },
          { label: 'Time zone', cell: (row) => row.timezone },
          { label: 'Currency', cell: (row) => row.currency.toUpperCase() },
          { label: 'Data collection', cell: (row) => (row.dataCollection ? 'On' : 'Off') },
          { label: 'Set up', cell: (row) => <a href={`/get-started?app=${row.id}`}>Get started</a> },
        ]}
      />
    </Card>,
  );
}

const ownApplication = (c: DashboardContext) =>
  getApplication(database(c.env.DB), c.get('person').team.id, c.req.param('id') ?? '');

const readGraceHours = async (c: DashboardContext) =>
  (await requireForm(c, Replacement, (values) => ({ grace_hours: Number(values.grace_hours) }))).grace_hours;

const ownPage = async (c: DashboardContext, submitted: Submitted = {}) =>
  applicationPage(c, await ownApplication(c), submitted);

const routes = pageRoutes()
  .get('/', (c) => listPage(c))
  .post('/', admin, again(listPage), async (c) => {
    const data = await requireForm(c, NewApplication);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const { application } = await createApplication(callerOf(c), data, secret);
    return c.redirect(`/get-started?app=${application.id}`, 303);
  })
  .get('/:id', (c) => ownPage(c))
  .post('/:id', admin, again(ownPage), async (c) => {
    const row = await ownApplication(c);
    const data = await requireForm(c, ApplicationChanges, toChanges);
    try {
      await changeApplication(callerOf(c), row, data, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      const message = 'belongs to another application of this deployment';
      throw invalidRequest([{ path: 'ios_store_url', message }]);
    }
    return redirectDone(c, pathOf(row), 'saved');
  })
  .post('/:id/key', admin, async (c) => {
    const row = await ownApplication(c);
    const apiKey = await revealApiKey(callerOf(c), row, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return redirectShowing(c, pathOf(row), { apiKey }, `${pathOf(row)}#key`);
  })
  .post('/:id/new-key', admin, async (c) => {
    const row = await ownApplication(c);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    await replaceApiKey(callerOf(c), row, await readGraceHours(c), secret);
    // The key is shown only on request. Reloading this answer must not create another one.
    return redirectDone(c, pathOf(row), 'new_key');
  })
  .post('/:id/intake-secret', admin, async (c) => {
    const row = await ownApplication(c);
    const intakeSecret = await replaceIntakeSecret(callerOf(c), row, await readGraceHours(c));
    return redirectShowing(c, pathOf(row), { intakeSecret }, `${pathOf(row)}#store-notifications`);
  })
  .post('/:id/impression-template', admin, again(ownPage), async (c) => {
    const row = await ownApplication(c);
    const changes = { impression_template: readTemplateForm(await readForm(c)) };
    await changeApplication(callerOf(c), row, changes, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return c.redirect(`${pathOf(row)}?done=saved#impression-callbacks`, 303);
  })
  .post('/:id/delete', admin, again(ownPage), async (c) => {
    const row = await ownApplication(c);
    const { delete_name: name = '' } = await readForm(c);
    if (name.trim() !== row.name) {
      throw invalidRequest([{ path: 'delete_name', message: `must be exactly ${row.name}` }]);
    }
    await deleteApplication(c.env, callerOf(c), row.id, row.name);
    return redirectDone(c, '/settings/applications', 'deleted_application');
  });

export const applications: PageRecord = {
  path: '/settings/applications',
  title: 'Applications',
  links: [
    {
      group: 'Operate',
      label: 'Settings',
      icon: 'M2 4h12M2 8h12M2 12h12M5 2.5v3M10 6.5v3M6 10.5v3',
      keepsView: false,
    },
  ],
  routes,
};
