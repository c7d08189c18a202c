import { Hono } from 'hono';
import { DOUBT_RULES } from '#catalogue';
import { database } from '#db';
import { deleteApplication } from '#deletion';
import { settingsOf } from '#env';
import { atLeast } from '#members';
import {
  ApplicationChanges,
  changeApplication,
  createApplication,
  getApplication,
  listApplications,
  NewApplication,
  Replacement,
  replaceApiKey,
  replaceIntakeSecret,
  revealApiKey,
} from '#teams';
import { parseForm, readForm, redirectDone, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing } from '../../forms/show-once.ts';
import { SuggestedValues } from '../../forms/suggested-values.tsx';
import { callerOf, type DashboardContext, type DashboardEnv, requireRole } from '../../shell/guard.ts';
import type { PageRecord } from '../../shell/page-record.ts';
import { Card, Field, FormMenu, Table } from '../../shell/parts.tsx';
import { renderSettings } from '../../shell/settings.tsx';
import { applicationPage, pathOf, type Values } from './application-page.tsx';

const PAGE = 200;
/** Text in percent as a share, which may be NaN. Absent text is absent. */
const percentToShare = (percent: string | undefined) =>
  percent === undefined ? undefined : Math.round(Number(percent) * 100) / 10_000;

/** The rules that the form has. */
function toDoubts(values: Values) {
  const rules = DOUBT_RULES.flatMap(({ id, threshold }) => {
    const action = values[`install_doubts.${id}.action`];
    if (action === undefined) return [];
    const limit = threshold ? { threshold: Number(values[`install_doubts.${id}.threshold`]) } : {};
    return [[id, { action, ...limit }] as const];
  });
  return rules.length > 0 ? Object.fromEntries(rules) : undefined;
}

/** Converts the form's text to the team API's schema. Settings that are not in the form are left unchanged. */
function toChanges(values: Values) {
  const optional = (text: string | undefined) => text?.trim() || null;
  const listOf = (text: string | undefined) => text?.split(/[\s,]+/).filter((item) => item !== '');
  return {
    name: values.name,
    timezone: values.timezone,
    currency: values.currency,
    data_collection: values.data_collection === 'on',
    ios_store_url: optional(values.ios_store_url),
    android_store_url: optional(values.android_store_url),
    fallback_url: optional(values.fallback_url),
    allowed_origins: listOf(values.allowed_origins),
    apple_app_id_prefix: optional(values.apple_app_id_prefix),
    apple_bundle_id: optional(values.apple_bundle_id),
    android_fingerprints: listOf(values.android_fingerprints),
    // These are never shown, so an empty field leaves them as they are.
    meta_referrer_key: values.meta_referrer_key?.trim() || undefined,
    revenuecat_authorization: values.revenuecat_authorization?.trim() || undefined,
    google_push_account: optional(values.google_push_account),
    store_fee: percentToShare(values.store_fee_percent),
    attribution_window_hours: Number(values.attribution_window_hours),
    probabilistic_window_hours: Number(values.probabilistic_window_hours),
    view_through_window_hours: Number(values.view_through_window_hours),
    install_doubts: toDoubts(values),
  };
}

async function listPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const { person } = c.var;
  const rows = await listApplications(database(c.env.DB), person.team.id, { limit: PAGE, cursor: '' });
  return renderSettings(
    c,
    {
      status: faults.length > 0 ? 400 : 200,
      tools: atLeast(person.role, 'admin') && (
        <FormMenu label="New application" id="new" open={faults.length > 0 || rows.length === 0}>
          <form
            method="post"
            action="/settings/applications"
            class="stack"
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
              hint="Report days begin at its midnight. It cannot be changed for days in the past."
              list="time-zones"
              required
            />
            <Field
              label="Currency"
              name="currency"
              value={values.currency ?? 'USD'}
              faults={faults}
              hint="For your reports, such as EUR"
              list="currencies"
              maxlength={3}
              required
            />
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
          { label: 'Name', cell: (row) => <a href={`/settings/applications/${row.id}`}>{row.name}</a> },
          { label: 'Time zone', cell: (row) => row.timezone },
          { label: 'Currency', cell: (row) => row.currency.toUpperCase() },
          { label: 'Data collection', cell: (row) => (row.dataCollection ? 'On' : 'Off') },
          { label: 'Set up', cell: (row) => <a href={`/get-started?app=${row.id}`}>Get started</a> },
        ]}
      />
    </Card>,
  );
}

const admin = requireRole('admin');
const ownApplication = (c: DashboardContext) =>
  getApplication(database(c.env.DB), c.get('person').team.id, c.req.param('id') ?? '');

const routes = new Hono<DashboardEnv>()
  .get('/', (c) => listPage(c))
  .post('/', admin, async (c) => {
    const { data, ...submitted } = await parseForm(c, NewApplication);
    if (!data) return listPage(c, submitted);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const { application } = await createApplication(callerOf(c), data, secret);
    return c.redirect(`/get-started?app=${application.id}`, 303);
  })
  .get('/:id', async (c) => applicationPage(c, await ownApplication(c)))
  .post('/:id', admin, async (c) => {
    const row = await ownApplication(c);
    const { data, ...submitted } = await parseForm(c, ApplicationChanges, toChanges);
    if (!data) return applicationPage(c, row, submitted);
    await changeApplication(callerOf(c), row, data, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return redirectDone(c, pathOf(row), 'saved');
  })
  .post('/:id/key', admin, async (c) => {
    const row = await ownApplication(c);
    const apiKey = await revealApiKey(callerOf(c), row, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    return redirectShowing(c, pathOf(row), { apiKey }, `${pathOf(row)}#key`);
  })
  .post('/:id/new-key', admin, async (c) => {
    const row = await ownApplication(c);
    const data = await requireForm(c, Replacement, (values) => ({ grace_hours: Number(values.grace_hours) }));
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    await replaceApiKey(callerOf(c), row, data.grace_hours, secret);
    // The key is shown only on request. Reloading this answer must not create another one.
    return redirectDone(c, pathOf(row), 'new_key');
  })
  .post('/:id/intake-secret', admin, async (c) => {
    const row = await ownApplication(c);
    const data = await requireForm(c, Replacement, (values) => ({ grace_hours: Number(values.grace_hours) }));
    const intakeSecret = await replaceIntakeSecret(callerOf(c), row, data.grace_hours);
    return redirectShowing(c, pathOf(row), { intakeSecret }, `${pathOf(row)}#store-notifications`);
  })
  .post('/:id/delete', admin, async (c) => {
    const row = await ownApplication(c);
    const { delete_name: name = '' } = await readForm(c);
    if (name.trim() !== row.name) {
      const fault = { path: 'delete_name', message: `must be exactly ${row.name}` };
      return applicationPage(c, row, { faults: [fault] });
    }
    await deleteApplication(c.env, callerOf(c), row.id, row.name);
    return redirectDone(c, '/settings/applications', 'deleted_application');
  });

export const applications: PageRecord = {
  path: '/settings/applications',
  title: 'Applications',
  opens: 'viewer',
  links: [
    {
      group: 'Operate',
      label: 'Settings',
      icon: 'M2 4h12M2 8h12M2 12h12M5 2.5v3M10 6.5v3M6 10.5v3',
      keepsView: false,
    },
  ],
  savable: false,
  routes,
};
