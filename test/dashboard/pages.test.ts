import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { forgetCredentials } from '#http';
import { niceTop } from '../../src/dashboard/charts/geometry.ts';
import { Range } from '../../src/dashboard/charts/shapes.tsx';
import { sizeText } from '../../src/dashboard/tables/compared.tsx';
import { sortRows } from '../../src/dashboard/tables/metrics.ts';
import { envelope } from '../helpers/envelopes.ts';
import { Page, pageOf } from '../helpers/page.ts';
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

/** The URLs and keys of the calls that get people started. */
const callsIn = (page: Page) => {
  const calls = page.one('.copyable code').text;
  return {
    urls: calls.match(/https:\/\/[\w./-]+/g),
    keys: calls.match(/[\w-]+-api-key: [^']+/g),
  };
};

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

it('shows how to send the first event until there is one, with the calls of this deployment', async () => {
  const card = (await pageOf(await owner.get('/'))).card('Send the first event of Test game');
  expect(callsIn(card)).toEqual({
    urls: ['https://ingest.test/fetch-token', 'https://ingest.test/webhook'],
    keys: Array(2).fill('service-api-key: <API key>'),
  });
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
  const started = (await pageOf(await owner.get('/'))).cards;
  expect(started).toContain('This period');
  expect(started).not.toContain('Send the first event of Test game');
});

it('names the header of a deployment with another service name', async () => {
  const fresh = await createTenant();
  const renamed = startWorker({
    SERVICE_NAME: 'acme',
    SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
  } as unknown as Partial<Env>);
  const browser = await signedIn(renamed, fresh.team, 'admin');
  const keys = async (answer: Promise<Response>) => callsIn(await pageOf(await answer)).keys;
  expect(await keys(browser.get('/get-started'))).toEqual(Array(2).fill('acme-api-key: <API key>'));
  expect(await keys(browser.submit('/get-started'))).toEqual(Array(2).fill(`acme-api-key: ${fresh.apiKey}`));
});

it('shows the key in the first calls only when an admin asks, and records that once', async () => {
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
    const html = await (await admin.get(path)).text();
    expect(html).not.toContain(fresh.apiKey);
    const page = new Page(html);
    expect(callsIn(page).keys).toEqual(Array(2).fill('service-api-key: <API key>'));
    expect(page.buttons).toContain('Show with the API key');
  }
  const seen = await pageOf(await viewer.get('/get-started'));
  expect(callsIn(seen).keys).toEqual(Array(2).fill('service-api-key: <API key: ask an admin>'));
  expect(seen.buttons).not.toContain('Show with the API key');
  expect(await shown()).toEqual([]);

  const page = await pageOf(await admin.submit(`/get-started?app=${fresh.application.id}`));
  expect(callsIn(page).keys).toEqual(Array(2).fill(`service-api-key: ${fresh.apiKey}`));
  expect(page.buttons).not.toContain('Show with the API key');
  expect((await viewer.post('/get-started')).status).toBe(403);
  expect(await shown()).toEqual([`Test game (${fresh.application.id})`]);
});

it('shows the figures of the API on every report page, and the same rows as CSV', async () => {
  const made = await withHistory();
  const browser = await signedIn(worker, made.team, 'viewer');
  const of = (path: string, more = '') => `${path}?app=${made.application.id}&${PERIOD}${more}`;
  const open = async (path: string, more = '') => pageOf(await browser.get(of(path, more)));
  expect((await open('/')).figures).toEqual({
    Revenue: '$11.25 ▲ $11.25 more $0.00 before',
    Installs: '1 ▲ 1 more 0 before',
    DAU: '0.3',
    ARPDAU: '$5.63',
    Spend: '$0.00 $0.00 before',
    'ROAS day 7': '–',
    Profit: '$11.25 ▲ $11.25 more $0.00 before',
  });
  expect(
    (await open('/ads')).cells('Ad figures by ad network', 'Ad network', 'Ad revenue', 'Impressions', 'eCPM'),
  ).toEqual([['AdMob', '$1.25 ▲ $1.25 more than $0.00', '1', '$1,250.00']]);
  expect((await open('/retention')).table('Retention by cohort and day since acquisition').rows).toEqual([
    ['2 Mar – 7 Mar', '1', '100%', '100%', '0%', '0%', '0%', '0%', '0%', '0%', '0%', '0%', '0%'],
  ]);
  expect((await open('/ltv')).table('Lifetime value by cohort and day since acquisition').rows).toEqual([
    [
      '1 Mar – 7 Mar',
      '1',
      '–',
      '$0.00',
      '$11.25',
      '$11.25',
      '$11.25',
      '$11.25',
      '$11.25',
      '$11.25',
      '$11.25',
      '$11.25',
    ],
  ]);
  const funnel = await open('/funnels', '&step=install&step=event%3Alevel%2C+one');
  expect(funnel.table('Devices that reach each step').rows).toEqual([
    ['Install', '', '1', '100%', '–', '–', '–'],
    ['level, one', '', '1', '100%', '–', '100%', '1 d'],
  ]);

  const csv = await browser.get(of('/breakdown', '&by=day&compare=none&format=csv'));
  const api = await worker.team(
    made,
    `/v1/reports/performance?application_id=${made.application.id}&${PERIOD}&group_by=day&format=csv`,
  );
  expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
  expect(await csv.text()).toBe(await api.text());
  for (const path of ['/ads', '/retention', '/ltv', '/funnels', '/costs']) {
    const answer = await browser.get(of(path, '&format=csv'));
    expect([path, answer.headers.get('Content-Type')]).toEqual([path, 'text/csv; charset=utf-8']);
  }
  expect((await browser.get(of('/breakdown', '&by=nonsense'))).status).toBe(400);
});

it('says on the page of a refund that its purchase is not known', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'viewer');
  const creativeToken = await fetchToken(worker, made);
  const send = async (status: string) => {
    const payload = { item_id: 'pack', value: 4.99, currency: 'usd', status, tr_id: 'GPA.1' };
    const body = { type: 'custom.purchase', created_at: new Date().toISOString(), creativeToken, payload };
    const answer = await worker.post(made, '/webhook', body);
    await worker.deliver(worker.queue.take());
    return ((await answer.json()) as { event_id: string }).event_id;
  };
  const refund = await send('refunded');
  const notices = async () =>
    (await pageOf(await browser.get(`/debugger/event?id=${refund}`))).texts('#live .notice');
  expect(await notices()).toEqual([expect.stringMatching(/^No purchase with this tr_id is known yet/)]);
  await send('completed');
  await browser.get('/');
  expect(await notices()).toEqual([]);
});

it('follows an event until it is counted', async () => {
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
  const page = async () => pageOf(await browser.get(`/debugger/event?id=${event_id}`));
  expect((await page()).texts('#live p')).toEqual([
    'Stored and waiting to be counted. This page updates automatically.',
  ]);
  expect((await page()).cards).toEqual(['This event is queued']);
  await worker.deliver(worker.queue.take());
  await browser.get('/');
  expect((await page()).texts('#live p')).toEqual(['It is included in reports.']);
  expect((await page()).card('Attribution').texts('p')).toEqual([
    'Organic, confidence 100%. No click was named, and none was similar enough to this device.',
    'Country: unknown',
    'There were no candidate clicks.',
  ]);
  const listed = async (query: string) =>
    (await pageOf(await browser.get(`/debugger?${query}`))).cells('Newest events', 'Type', 'What');
  expect(await listed(`token=${creativeToken}`)).toEqual([
    ['Custom event', 'followed'],
    ['Install', 'Organic'],
  ]);
  await worker.post(made, '/webhook', envelope.ad(creativeToken, { dev: true }, { watch_time: -1 }));
  await worker.deliver(worker.queue.take());
  expect(await listed(`token=${creativeToken}`)).toEqual([
    [
      'Ad impression',
      '$0.002 · Banner · AdMob · main Test event: not counted payload.watch_time must not be negative; ignored',
    ],
    ['Custom event', 'followed'],
    ['Install', 'Organic'],
  ]);
  const forged = await pageOf(await browser.get('/debugger?token=forged'));
  expect([forged.notices, forged.faults]).toEqual([
    [],
    { token: 'Device token is not a token of this application' },
  ]);
  expect(await listed('type=custom.ad')).toEqual([
    [
      'Ad impression',
      '$0.002 · Banner · AdMob · main Test event: not counted payload.watch_time must not be negative; ignored',
    ],
  ]);
});

it('creates, changes and gives a new key to an application that the API then shows', async () => {
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
    view_window_hours: '12',
  };
  const wrong = await owner.post(`/settings/applications/${id}`, {
    ...fields,
    ios_store_url: 'http://x.test',
  });
  expect(wrong.status).toBe(400);
  expect((await pageOf(wrong)).faults).toEqual({ ios_store_url: 'App Store URL must be an https URL' });
  const tooLong = await owner.post(`/settings/applications/${id}`, {
    ...fields,
    view_window_hours: '2161',
  });
  expect((await pageOf(tooLong)).faults).toEqual({
    view_window_hours: 'The view-through window must be a whole number from 0 to 2160',
  });
  expect((await owner.post(`/settings/applications/${id}`, fields)).status).toBe(303);
  expect(await (await worker.team(tenant, `/v1/applications/${id}`)).json()).toMatchObject({
    data_collection: false,
    ios_store_url: 'https://apps.apple.com/app/id1',
    android_store_url: null,
    attribution_window_hours: 24,
    probabilistic_window_hours: 0,
    view_window_hours: 12,
  });
  const shownKey = async () =>
    (await pageOf(await owner.submit(`/settings/applications/${id}/key`))).one('#key code').text;
  const before = await shownKey();
  const replaced = await owner.post(`/settings/applications/${id}/new-key`, { grace_hours: '0' });
  expect([replaced.status, replaced.headers.get('Location')]).toEqual([
    303,
    `/settings/applications/${id}?done=new_key`,
  ]);
  const after = await shownKey();
  expect(before).toMatch(/^appkey_[\w-]+$/);
  expect(after).not.toBe(before);
  const status = (apiKey = '') =>
    worker.request('/check-data-collection-status', { headers: { 'service-api-key': apiKey } });
  expect((await status(after)).status).toBe(200);
  expect((await status(before)).status).toBe(401);
});

it('creates an access token that works until it is revoked, and shows it once', async () => {
  const page = await pageOf(await owner.submit('/settings/tokens', { name: 'For the backend', days: '30' }));
  const teamToken = page.one('.notice code').text;
  expect((await worker.team({ teamToken }, '/v1/applications')).status).toBe(200);
  expect(await (await owner.get('/settings/tokens')).text()).not.toContain(teamToken);
  const id = await env.DB.prepare(`SELECT id FROM access_tokens WHERE name = 'For the backend'`).first('id');
  expect((await owner.post(`/settings/tokens/${id}/revoke`)).status).toBe(303);
  const listed = await pageOf(await owner.get('/settings/tokens'));
  expect(listed.cells('Access tokens', 'Name', 'State', 'Actions')).toEqual([
    ['For the backend', 'Revoked', '–'],
    // Nobody on the dashboard created it, so it would outlive everyone's role.
    ['test', 'Active', 'Take over Revoke'],
  ]);
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
])('ends the axis for %d at %d', (value, top) => expect(niceTop(value)).toBeCloseTo(top, 9));

it.each([
  [0, 4],
  [1, 4],
  [5, 8],
  [9, 12],
  [31, 40],
  [101, 200],
  [900, 1_000],
])('ends the axis for %d things at %d, with whole numbers at its lines', (value, top) =>
  expect(niceTop(value, true)).toBe(top),
);

it('sorts missing figures last in both directions', () => {
  const rows = [{ x: 1 }, { x: null }, { x: 3 }];
  expect(sortRows(rows, 'x').map(({ x }) => x)).toEqual([1, 3, null]);
  expect(sortRows(rows, '-x').map(({ x }) => x)).toEqual([3, 1, null]);
});

it.each([
  [0.254, '25.4%'],
  [-0.5, '50.0%'],
  [-1, '100%'],
  [0, '0%'],
  [1.957, '196%'],
  [9.9, '990%'],
  [736.4, '737×'],
  [14_999, '15,000×'],
])('writes a change by %d as %s', (by, text) =>
  expect(sizeText('revenue', { in: 'share', by }, 'usd')).toBe(text),
);

it('draws a prediction within its band', () => {
  const drawn = new Page(String(Range({ low: 1, value: 2, high: 4, top: 5 })));
  const band = drawn.one('.band');
  const line = drawn.one('line');
  expect(['x', 'width'].map((name) => band.getAttribute(name))).toEqual(['20.00', '60.00']);
  expect(['x1', 'x2'].map((name) => line.getAttribute(name))).toEqual(['40.00', '40.00']);
});
