import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { sendNotices, watchAlerts } from '#alerts';
import { listAudit } from '#audit';
import { database } from '#db';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const AGAINST_WEEKS = 'Yesterday against the mean of the same weekday in the four weeks before';
const HOOK = 'https://hooks.example.com/services/T/B/secret';

let tenant: Tenant;
let admin: Browser;
let viewer: Browser;

beforeAll(async () => {
  tenant = await createTenant({ currency: 'eur' });
  admin = await signedIn(worker, tenant.team, 'admin');
  viewer = await signedIn(worker, tenant.team, 'viewer');
});

const open = async (path: string, browser = admin) => pageOf(await browser.get(path));

const actions = async () =>
  (await listAudit(database(env.DB), tenant.team.id, { limit: 20 })).map(({ action }) => action);

it('adds, shows and removes an alert, and records both', async () => {
  const alertsOf = async (browser: Browser) => (await open('/alerts', browser)).card('Alerts');
  const none = ['No alerts yet. Add one below to be notified about drops and missing events.'];
  expect((await alertsOf(admin)).texts('.empty')).toEqual(none);
  expect((await admin.post('/alerts', { kind: 'cpi_above', threshold: '2.5' })).status).toBe(303);
  const added = await alertsOf(admin);
  expect(added.table('Alerts').rows).toEqual([
    ['CPI is above €2.50', 'Not checked yet', 'Within a minute', 'Remove'],
  ]);
  await watchAlerts(env, Date.now());
  expect((await alertsOf(viewer)).table('Alerts')).toEqual({
    headings: ['Alert when', 'State', 'Last check'],
    rows: [['CPI is above €2.50', 'OK', 'CPI of the last seven days is not known.']],
    totals: [],
  });
  expect((await open('/alerts')).cards).toEqual(['Alerts', 'New alert', 'Where messages go', 'New channel']);
  expect((await open('/alerts', viewer)).cards).toEqual(['Alerts', 'Where messages go']);

  const [, id = ''] = /\/alerts\/(alr_[0-9a-f]+)\/remove/.exec(added.actions[0] ?? '') ?? [];
  expect((await viewer.post(`/alerts/${id}/remove`)).status).toBe(403);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.post(`/alerts/${id}/remove`)).status).toBe(404);
  expect((await admin.post(`/alerts/${id}/remove`)).status).toBe(303);
  expect((await alertsOf(admin)).texts('.empty')).toEqual(none);
  expect((await actions()).slice(0, 2)).toEqual(['alert.removed', 'alert.created']);
});

it.each([
  [{ kind: 'cpi_above', threshold: '-1' }, 'The limit must be above 0'],
  [{ kind: 'cpi_above', threshold: 'a lot' }, 'The limit must be a number'],
  [{ kind: 'no_events', threshold: '721' }, 'The limit must be at most 720'],
])('refuses the alert %o beside its field, and keeps what was typed', async ({ kind, threshold }, fault) => {
  const answer = await admin.post('/alerts', { kind, threshold });
  const page = await pageOf(answer);
  const form = page.card('New alert');
  expect([answer.status, form.faults]).toEqual([400, { [`threshold-${kind}`]: fault }]);
  const shown = form.all('input[name=threshold]').map((input) => input.getAttribute('value'));
  expect(shown.filter((value) => value === threshold)).toHaveLength(1);
});

it('offers a form per kind of alert, with its unit, a suggestion and what it compares', async () => {
  const card = (await open('/alerts')).card('New alert');
  const forms = card.all('form').map((form) => new Page(form));
  expect(
    forms.map((form) => [...form.texts('label, .hint'), form.value('threshold'), form.value('kind')]),
  ).toEqual([
    ['Revenue differs by more than (%)', AGAINST_WEEKS, '30', 'revenue_change'],
    ['Installs differ by more than (%)', AGAINST_WEEKS, '30', 'installs_change'],
    ['No events arrive for (hours)', 'Once the application has sent its first event', '1', 'no_events'],
    [
      'Health shows at least (problems)',
      'Events that are not counted, failing exports, stores that fill up, scheduled work that does not run',
      '1',
      'service_problems',
    ],
    [
      'A campaign has no installs and spends more than (EUR)',
      'Yesterday, by campaign',
      '20',
      'spend_without_installs',
    ],
    ['CPI is above (EUR)', 'Over the last seven full days', '2', 'cpi_above'],
    ['ROAS is below (%)', 'Over the last seven full days', '50', 'roas_below'],
  ]);
});

it('refuses an alert of a kind that no form has', async () => {
  const answer = await admin.post('/alerts', { kind: 'weather', threshold: '1' });
  expect([answer.status, (await pageOf(answer)).error]).toEqual([
    400,
    'kind must be one of revenue_change, installs_change, no_events, service_problems, spend_without_installs, cpi_above, roas_below.',
  ]);
});

it('adds a channel, shows only the host of its address, sends a test, and shows why it failed', async () => {
  const made = await admin.post('/alerts/channels', {
    channel_kind: 'webhook',
    target: HOOK,
    digest: 'weekly',
  });
  expect(made.status).toBe(303);
  const channels = async (browser: Browser) => (await open('/alerts', browser)).card('Where messages go');
  expect((await channels(viewer)).table('Channels').rows).toEqual([
    ['Webhook', 'hooks.example.com/…cret', expect.stringMatching(/^Weekly Next \d+ \w+, 08:00$/), 'OK'],
  ]);
  expect(await (await viewer.get('/alerts')).text()).not.toContain(HOOK);
  const { actions: forms } = await channels(admin);
  const [, id = ''] = /\/channels\/(chn_[0-9a-f]+)\/test/.exec(forms[0] ?? '') ?? [];
  expect((await admin.post(`/alerts/channels/${id}/test`)).status).toBe(303);
  await env.DB.prepare('UPDATE channels SET target = ?, encrypted_target = NULL WHERE id = ?')
    .bind('https://10.0.0.1/x', id)
    .run();
  await sendNotices(env, Date.now());
  expect((await channels(admin)).table('Channels').rows).toEqual([
    [
      'Webhook',
      '10.0.0.1/….1/x',
      expect.stringMatching(/^Weekly Next/),
      expect.stringMatching(/^Failed \d+ s ago The address must not be a private or local address$/),
      'Send a test Remove',
    ],
  ]);
  expect((await viewer.post(`/alerts/channels/${id}/remove`)).status).toBe(403);
  expect((await admin.post(`/alerts/channels/${id}/remove`)).status).toBe(303);
  expect((await channels(admin)).texts('.empty')).toEqual([
    'No channels yet. Without one, alerts appear only on this page.',
  ]);
  expect((await actions()).slice(0, 2)).toEqual(['channel.removed', 'channel.created']);
});

it.each([
  [
    { channel_kind: 'webhook', target: 'http://example.com', digest: 'never' },
    'target',
    'Address must be a URL that begins with https://',
  ],
  [
    { channel_kind: 'webhook', target: 'https://127.0.0.1/', digest: 'never' },
    'target',
    'Address must not be a private or local address',
  ],
  [
    { channel_kind: 'webhook', target: HOOK, digest: 'hourly' },
    'digest',
    'Digest must be one of never, daily, weekly',
  ],
  [
    { channel_kind: 'mail', target: 'nobody', digest: 'never' },
    'target',
    'Address must be a complete email address, such as ann@example.com',
  ],
  [
    { channel_kind: 'mail', target: 'boss@team.test', digest: 'never' },
    'target',
    'Address must be the URL of a webhook: email is not set up here',
  ],
])('refuses the channel %o beside its field', async (fields, field, fault) => {
  const answer = await admin.post('/alerts/channels', fields);
  expect([answer.status, (await pageOf(answer)).faults]).toEqual([400, { [field]: fault }]);
});
