import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAlerts, sendNotices, watchAlerts } from '#alerts';
import { listAudit } from '#audit';
import { database } from '#db';
import { addDays, dayIn } from '#lib/time';
import { dayText, timeText } from '../../src/dashboard/shell/dates.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
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

/** A zone in which the next hours are of the same day. */
const ZONE = new Date().getUTCHours() < 12 ? 'Asia/Tokyo' : 'Pacific/Honolulu';

const rulePath = (fields: Record<string, string>) => `/alerts/new?${new URLSearchParams(fields)}`;
const SPEND = { metric: 'spend', condition: 'above', threshold: '50', days: '1' };

it('adds, shows, edits, turns off and removes an alert, and records each', async () => {
  const alertsOf = async (browser: Browser) => (await open('/alerts', browser)).card('Alerts');
  expect((await alertsOf(admin)).texts('.empty')).toEqual([
    'No alerts yet. Begin with one of these, or with any metric.',
  ]);
  const fields = {
    metric: 'cpi',
    condition: 'above',
    threshold: '2.5',
    days: '7',
    compared_with: 'weekdays',
  };
  expect((await admin.post('/alerts/new', fields)).status).toBe(303);
  const added = await alertsOf(admin);
  const text = 'CPI over the last 7 days is above €2.50';
  expect(added.table('Alerts').rows).toEqual([
    [`${text} Checked within a minute`, 'No data yet', 'Never', 'Turn off'],
  ]);
  await watchAlerts(env, Date.now());
  expect((await alertsOf(viewer)).table('Alerts')).toEqual({
    headings: ['Alert when', 'State', 'Last fired'],
    rows: [[expect.stringMatching(/^CPI .* €2\.50 No data, .+\.$/), 'No data yet', 'Never']],
    totals: [],
  });
  expect((await open('/alerts')).cards).toEqual(['Alerts', 'Where messages go']);

  const [, id = ''] = /\/alerts\/(alr_[0-9a-f]+)/.exec(await (await admin.get('/alerts')).text()) ?? [];
  const page = await open(`/alerts/${id}`);
  expect([page.texts('h1')[0], page.cards]).toEqual([text, ['State', 'History']]);
  const form = await admin.get(`/alerts/${id}/edit`);
  expect(form.status).toBe(302);
  const edit = await open(form.headers.get('Location') ?? '');
  expect(['metric', 'condition', 'threshold', 'days'].map((name) => edit.value(name))).toEqual([
    'cpi',
    'above',
    '2.5',
    '7',
  ]);
  expect((await admin.post(`/alerts/${id}/edit`, { ...fields, threshold: '3' })).status).toBe(303);
  expect((await open(`/alerts/${id}`)).texts('h1')).toEqual(['CPI over the last 7 days is above €3.00']);
  for (const path of ['edit', 'off', 'on', 'remove']) {
    expect((await viewer.post(`/alerts/${id}/${path}`, fields)).status).toBe(403);
    const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
    expect((await stranger.post(`/alerts/${id}/${path}`, fields)).status).toBe(404);
  }
  expect((await admin.post(`/alerts/${id}/off`)).status).toBe(303);
  expect((await alertsOf(admin)).cells('Alerts', 'State')).toEqual([['Off']]);
  expect((await admin.post(`/alerts/${id}/on`)).status).toBe(303);
  expect((await admin.post(`/alerts/${id}/remove`)).status).toBe(303);
  expect((await alertsOf(admin)).all('table')).toEqual([]);
  expect((await actions()).slice(0, 5)).toEqual([
    'alert.removed',
    'alert.changed',
    'alert.changed',
    'alert.changed',
    'alert.created',
  ]);
});

it('shows when an alert fired and what for, and keeps it when it has resolved', async () => {
  const own = await createTenant({ currency: 'eur', timezone: ZONE });
  const browser = await signedIn(worker, own.team, 'admin');
  const day = addDays(dayIn(ZONE, Date.now()), -1);
  const shownDay = dayText(day, dayIn(ZONE, Date.now()));
  const spend = (campaign: string, amount: number) =>
    putCosts(worker, own, [{ date: day, campaign, currency: 'eur', amount }]);
  await spend('Summer', 80);
  await browser.post('/alerts/new', { ...SPEND, group_by: 'campaign' });
  const [alert] = await listAlerts(database(env.DB), own.application.id);
  const fired = Date.now() + 1_000;
  await watchAlerts(env, fired);
  const list = async () => (await open('/alerts', browser)).table('Alerts').rows;
  const at = timeText(fired, ZONE);
  expect(await list()).toEqual([
    [
      `Spend by campaign over the last day is above €50.00 1 of 1 groups past the threshold, ${shownDay}.`,
      `Firing since ${at}`,
      at,
      'Turn off',
    ],
  ]);
  const page = async () => open(`/alerts/${alert?.id}`, browser);
  expect((await page()).table('Groups that fire').rows).toMatchObject([['Summer', at, expect.anything()]]);
  await spend('Summer', 10);
  const resolved = fired + 2 * 3_600_000;
  await watchAlerts(env, resolved);
  expect((await page()).table('When it fired and resolved').rows).toEqual([
    [timeText(resolved, ZONE), 'Resolved', `Summer: €10.00 on ${shownDay}, not above €50.00.`],
    [at, 'Fired', `Summer: €80.00 on ${shownDay}, above €50.00.`],
  ]);
  expect((await list())[0]?.slice(1, 3)).toEqual(['OK', at]);
});

it.each([
  [{ metric: 'no_events', threshold: '-1' }, 'threshold', 'Threshold must be above 0'],
  [{ metric: 'no_events', threshold: 'a lot' }, 'threshold', 'Threshold must be a number'],
  [{ metric: 'no_events', threshold: '721' }, 'threshold', 'Threshold must be at most 720'],
  [{ ...SPEND, threshold: '' }, 'threshold', 'Threshold must be a number'],
  [{ ...SPEND, days: '99' }, 'days', 'Over full days must be a whole number from 1 to 30'],
  [{ ...SPEND, metric: 'weather' }, 'metric', 'What must be the name of a metric, such as roas'],
])('refuses the alert %o beside its field, and keeps what was typed', async (fields, field, fault) => {
  for (const answer of [await admin.post('/alerts/new', fields), await admin.get(rulePath(fields))]) {
    const page = await pageOf(answer);
    expect([answer.status, page.faults]).toEqual([400, { [field]: fault }]);
    expect(page.value('threshold')).toBe(fields.threshold);
  }
});

it('offers filled forms to begin with, each of which makes an alert', async () => {
  const own = await createTenant();
  const browser = await signedIn(worker, own.team, 'admin');
  const starts = (await open('/alerts', browser))
    .all('.starts a')
    .map((link) => link.getAttribute('href') ?? '');
  for (const href of starts) {
    expect((await browser.get(href)).status).toBe(200);
    const fields = Object.fromEntries(new URL(href, 'https://dash.test').searchParams);
    expect((await browser.post('/alerts/new', fields)).status).toBe(303);
  }
  const list = await open('/alerts', browser);
  expect(list.table('Alerts').rows.map(([text]) => text?.replace(' Checked within a minute', ''))).toEqual([
    'Revenue over the last day changes by more than 30% from the same weekdays before',
    'Installs over the last day falls by more than 30% from the same weekdays before',
    'Installs by campaign over the last day is below 1, with at least $20.00 of spend',
    'ROAS by campaign over the last 7 days is below 50%',
    'No events arrive for 1 hour',
    'Health shows at least 1 problem',
  ]);
});

it('counts what has arrived before it previews', async () => {
  const own = await createTenant({ currency: 'eur' });
  const browser = await signedIn(worker, own.team, 'admin');
  const day = addDays(dayIn('UTC', Date.now()), -1);
  const token = await fetchToken(worker, own, { created_at: `${day}T10:00:00.000Z` });
  const purchase = envelope.purchase(
    token,
    { created_at: `${day} 10:00:00` },
    { value: 80, currency: 'eur' },
  );
  expect((await worker.post(own, '/webhook', purchase)).status).toBe(200);
  await worker.deliver(worker.queue.take());
  const page = await open(rulePath({ ...SPEND, metric: 'revenue' }), browser);
  expect(page.table('Days on which it would have fired').rows).toEqual([[expect.any(String), '€80.00']]);
});

it('names in a preview what is not judged, and writes one column with the same decimals', async () => {
  const own = await createTenant();
  const browser = await signedIn(worker, own.team, 'admin');
  const day = addDays(dayIn('UTC', Date.now()), -1);
  const campaigns = Array.from({ length: 102 }, (_, index) => ({
    ...{ date: day, campaign: `C${index}`, currency: 'usd' },
    amount: index === 0 ? 10 : index === 1 ? 10.5 : 200 + index,
  }));
  await putCosts(worker, own, campaigns);
  const page = await open(
    rulePath({ ...SPEND, threshold: '250', group_by: 'campaign', min_spend: '205' }),
    browser,
  );
  const preview = page.card('Preview');
  expect(preview.text).toContain('It would have fired on 1 of the last 30 days.');
  expect(preview.text).toContain('Left out on the last day, because only the largest are judged: C0, C1.');
  expect(preview.text).toContain('No data, or too little on every day: C2, C3, C4.');
  const values = preview.table('Days on which it would have fired').rows.map((row) => row[2]);
  expect(values).toHaveLength(51);
  for (const value of values) expect(value).toMatch(/^\$\d{3}\.\d{2}$/);
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
  const [, id = ''] = /\/channels\/(chn_[0-9a-f]+)\/test/.exec(forms.join()) ?? [];
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
