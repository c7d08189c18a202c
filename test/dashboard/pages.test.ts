import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { forgetCredentials } from '#http';
import { niceTop, overDays, Range } from '../../src/dashboard/chart.tsx';
import { change, shareText } from '../../src/dashboard/compared.tsx';
import { sortRows } from '../../src/dashboard/metrics.ts';
import { envelope } from '../helpers/envelopes.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

let tenant: Tenant;
let owner: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  owner = await signedIn(worker, tenant.team, 'owner');
});

/** The text of a page, without its tags. */
const textOf = async (answer: Response) =>
  (await answer.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const PERIOD = 'from=2026-03-01&to=2026-03-07';

/** An application with one device, an ad view and two purchases, one of them failed. */
async function withHistory() {
  const made = await createTenant();
  const token = await fetchToken(worker, made, { created_at: '2026-03-02T10:00:00.000Z' });
  const base = { created_at: '2026-03-03 10:00:00', creativeToken: token };
  const ad = { ad_id: 'main', source: 'banner', media_source: 'admob', value: 1.25, currency: 'usd' };
  const item = { item_id: 'gems', item_name: 'Gems', value: 10, currency: 'usd', status: 'completed' };
  for (const event of [
    { type: 'custom.ad', payload: ad },
    { type: 'custom.purchase', payload: { ...item, tr_id: 'a' } },
    { type: 'custom.purchase', payload: { ...item, tr_id: 'b', status: 'failed' } },
    { type: 'custom', payload: { event_name: 'level, one' } },
  ]) {
    await worker.post(made, '/webhook', { ...base, ...event });
  }
  await worker.deliver(worker.queue.take());
  return { ...made, token };
}

it('shows the way to the first event until there is one, with the calls of this deployment', async () => {
  const page = await textOf(await owner.get('/'));
  expect(page).toContain('Send the first event');
  expect(page).toContain('https://ingest.test/webhook');
  expect(page).toContain('service-api-key: &lt;API key&gt;');
  const status = () => owner.get(`/get-started/status?app=${tenant.application.id}`).then((it) => it.json());
  expect(await status()).toEqual({ device: false, event: false });
  const creativeToken = await fetchToken(worker, tenant);
  expect(await status()).toEqual({ device: true, event: false });
  await worker.post(tenant, '/webhook', {
    type: 'custom',
    created_at: new Date().toISOString(),
    creativeToken,
    payload: { event_name: 'hello' },
  });
  expect(await status()).toEqual({ device: true, event: false });
  await worker.deliver(worker.queue.take());
  expect(await status()).toEqual({ device: true, event: true });
  expect(await textOf(await owner.get('/'))).toContain('This period');
});

it('names the header of a deployment that is called otherwise', async () => {
  const fresh = await createTenant();
  const renamed = startWorker({
    SERVICE_NAME: 'acme',
    SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
  } as unknown as Partial<Env>);
  const browser = await signedIn(renamed, fresh.team, 'admin');
  expect(await textOf(await browser.get('/get-started'))).toContain('acme-api-key: &lt;API key&gt;');
  expect(await textOf(await browser.post('/get-started'))).toContain(`acme-api-key: ${fresh.apiKey}`);
});

it('shows the key on the page that gets people started only when an admin asks, and records that once', async () => {
  const fresh = await createTenant();
  const [admin, viewer] = [
    await signedIn(worker, fresh.team, 'admin'),
    await signedIn(worker, fresh.team, 'viewer'),
  ];
  const shown = async () => {
    const log = await listAudit(database(env.DB), fresh.team.id, { limit: 20 });
    return log.filter(({ action }) => action === 'api_key.shown').map(({ subject }) => subject);
  };
  for (const path of ['/', '/get-started', `/get-started?app=${fresh.application.id}`]) {
    expect(await (await admin.get(path)).text()).not.toContain(fresh.apiKey);
    expect(await textOf(await admin.get(path))).toContain('Show with the API key');
  }
  expect(await textOf(await viewer.get('/get-started'))).toContain(
    'service-api-key: &lt;API key: ask an admin&gt;',
  );
  expect(await textOf(await viewer.get('/get-started'))).not.toContain('Show with the API key');
  expect(await shown()).toEqual([]);

  const page = await textOf(await admin.post(`/get-started?app=${fresh.application.id}`));
  expect(page).toContain(`service-api-key: ${fresh.apiKey}`);
  expect(page).not.toContain('Show with the API key');
  expect((await viewer.post('/get-started')).status).toBe(403);
  expect(await shown()).toEqual([`Test game (${fresh.application.id})`]);
});

it('shows the figures of the API on every report page, and the same rows as CSV', async () => {
  const made = await withHistory();
  const browser = await signedIn(worker, made.team, 'viewer');
  const of = (path: string, more = '') => `${path}?app=${made.application.id}&${PERIOD}${more}`;
  const overview = await textOf(await browser.get(of('/')));
  for (const figure of ['$11.25', 'Installs 1', 'Days in UTC']) expect(overview).toContain(figure);
  expect(await textOf(await browser.get(of('/ads')))).toContain('$1,250.00');
  expect(await textOf(await browser.get(of('/retention')))).toContain('Day 1');
  expect(await textOf(await browser.get(of('/ltv')))).toContain('$11.25');
  const funnel = await textOf(await browser.get(of('/funnels', '&step=install&step=event%3Alevel%2C+one')));
  expect(funnel).toContain('level, one 1 100%');

  const csv = await browser.get(of('/breakdown', '&by=day&compare=none&format=csv'));
  const api = await worker.team(
    made,
    `/v1/reports/performance?application_id=${made.application.id}&${PERIOD}&group_by=day&format=csv`,
  );
  expect(csv.headers.get('Content-Type')).toContain('text/csv');
  expect(await csv.text()).toBe(await api.text());
  for (const path of ['/ads', '/retention', '/ltv', '/funnels', '/costs']) {
    const answer = await browser.get(of(path, '&format=csv'));
    expect(answer.headers.get('Content-Type')).toContain('text/csv');
  }
  expect((await browser.get(of('/breakdown', '&by=nonsense'))).status).toBe(400);
});

it('follows an event from received to counted', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'viewer');
  const creativeToken = await fetchToken(worker, made);
  const answer = await worker.post(made, '/webhook', {
    type: 'custom',
    created_at: new Date().toISOString(),
    creativeToken,
    payload: { event_name: 'followed' },
  });
  const { event_id }: { event_id: string } = await answer.json();
  const page = async () => textOf(await browser.get(`/debugger/event?id=${event_id}`));
  expect(await page()).toContain('This event is queued');
  await worker.deliver(worker.queue.take());
  await browser.get('/');
  expect(await page()).toContain('This event is counted');
  expect(await page()).toContain('organic');
  expect(await textOf(await browser.get(`/debugger?token=${creativeToken}`))).toContain('followed');
  await worker.post(made, '/webhook', envelope.ad(creativeToken, { dev: true }, { watch_time: -1 }));
  await worker.deliver(worker.queue.take());
  const shown = await textOf(await browser.get(`/debugger?token=${creativeToken}`));
  expect(shown).toContain('Test event: not counted');
  expect(shown).toContain('payload.watch_time must not be negative; ignored');
  expect(await textOf(await browser.get('/debugger?token=forged'))).toContain(
    'is not a token of this application',
  );
  expect(await textOf(await browser.get('/debugger?type=custom.ad'))).not.toContain('followed');
});

it('makes, changes and regenerates by the forms what the API then sees', async () => {
  const made = await owner.post('/settings/applications', {
    name: 'Second game',
    timezone: 'Asia/Tokyo',
    currency: 'JPY',
  });
  const id = /app=(app_[0-9a-f]{32})/.exec(made.headers.get('location') ?? '')?.[1] ?? '';
  const shown = await (await worker.team(tenant, `/v1/applications/${id}`)).json();
  expect(shown).toMatchObject({ name: 'Second game', timezone: 'Asia/Tokyo', currency: 'jpy' });
  const fields = {
    name: 'Second game',
    timezone: 'Asia/Tokyo',
    currency: 'jpy',
    ios_store_url: 'https://apps.apple.com/app/id1',
    attribution_window_hours: '24',
    probabilistic_window_hours: '0',
  };
  const wrong = await owner.post(`/settings/applications/${id}`, {
    ...fields,
    ios_store_url: 'http://x.test',
  });
  expect(wrong.status).toBe(400);
  expect(await wrong.text()).toContain('must be an https URL');
  expect((await owner.post(`/settings/applications/${id}`, fields)).status).toBe(303);
  expect(await (await worker.team(tenant, `/v1/applications/${id}`)).json()).toMatchObject({
    data_collection: false,
    ios_store_url: 'https://apps.apple.com/app/id1',
    android_store_url: null,
    attribution_window_hours: 24,
    probabilistic_window_hours: 0,
  });
  const keyOf = async (path: string, body = {}) =>
    /appkey_[\w-]+/.exec(await (await owner.post(`/settings/applications/${id}/${path}`, body)).text())?.[0];
  const before = await keyOf('key');
  const replaced = await owner.post(`/settings/applications/${id}/new-key`, { grace_hours: '0' });
  expect([replaced.status, replaced.headers.get('Location')]).toEqual([
    303,
    `/settings/applications/${id}?done=new_key`,
  ]);
  const after = await keyOf('key');
  expect(before).toBeDefined();
  expect(after).not.toBe(before);
  const status = (apiKey = '') =>
    worker.request('/check-data-collection-status', { headers: { 'service-api-key': apiKey } });
  expect((await status(after)).status).toBe(200);
  expect((await status(before)).status).toBe(401);
});

it('makes an access token that works until it is revoked, and shows it once', async () => {
  const page = await (await owner.post('/settings/tokens', { name: 'For the backend', days: '30' })).text();
  const teamToken = /teamtoken_[\w-]+/.exec(page)?.[0] ?? '';
  expect((await worker.team({ teamToken }, '/v1/applications')).status).toBe(200);
  expect(await (await owner.get('/settings/tokens')).text()).not.toContain(teamToken);
  const id = await env.DB.prepare(`SELECT id FROM access_tokens WHERE name = 'For the backend'`).first('id');
  expect((await owner.post(`/settings/tokens/${id}/revoke`)).status).toBe(303);
  expect(await textOf(await owner.get('/settings/tokens'))).toContain('revoked');
  forgetCredentials();
  expect((await worker.team({ teamToken }, '/v1/applications')).status).toBe(401);
});

it.each([
  [0, 1],
  [3, 4],
  [4, 4],
  [31.6, 40],
  [0.013, 0.02],
  [101, 200],
])('an axis for %d ends at %d', (value, top) => expect(niceTop(value)).toBeCloseTo(top, 9));

it.each([
  [2, 1, 1],
  [1, 2, -0.5],
  [1, 0, null],
  [null, 1, null],
])('from %d, %d before, the change is %d', (now, before, expected) =>
  expect(change(now, before)).toBe(expected),
);

it('sorts figures that do not exist last, either way', () => {
  const rows = [{ x: 1 }, { x: null }, { x: 3 }];
  expect(sortRows(rows, 'x').map(({ x }) => x)).toEqual([1, 3, null]);
  expect(sortRows(rows, '-x').map(({ x }) => x)).toEqual([3, 1, null]);
});

it('draws every day of the period that has begun, those without a row too', () => {
  const view = { from: '2026-03-01', to: '2026-03-09', today: '2026-03-04' };
  const rows = [
    { day: '2026-03-01', revenue: 2, ecpm: null },
    { day: '2026-03-03', revenue: 1, ecpm: 5 },
  ];
  expect(overDays(view, rows, (row) => row.revenue, 0)).toEqual({
    labels: ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'],
    values: [2, 0, 1, 0],
  });
  expect(overDays(view, rows, (row) => row.ecpm, null).values).toEqual([null, null, 5, null]);
  expect(overDays({ ...view, from: '2026-03-05' }, rows, () => 1, 0).labels).toEqual([]);
});

it.each([
  [0.254, '25.4%'],
  [-0.5, '50%'],
  [9.9, '990%'],
  [736.4, '737×'],
  [14_999, '15,000×'],
])('writes a change by %d as %s', (by, text) => expect(shareText(by)).toBe(text));

it('draws a prediction within its band', () => {
  const drawn = String(Range({ low: 1, value: 2, high: 4, top: 5 }));
  expect(drawn).toContain('class="band" x="20.00" width="60.00"');
  expect(drawn).toContain('x1="40.00" x2="40.00"');
});
