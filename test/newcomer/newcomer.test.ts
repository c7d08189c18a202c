import { beforeAll, expect, it } from 'vitest';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';
import { DIMENSION_EDITS } from '../catalogue/with-dimensions.ts';
import { KIND_EDITS } from '../catalogue/with-subscription.ts';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { ADDED, CHANGES } from './changes.ts';

// The Worker is built with the changes of `changes.ts`, and everything else has to follow.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant(STORES);
  const answer = await worker.post(tenant, '/fetch-token', {
    ...{ type: 'device-metrics', created_at: '2026-03-01T10:00:00Z', build: 'first' },
    data: { device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16', timezone: 'UTC' },
  });
  const { token } = await answer.json<{ token: string }>();
  await worker.post(
    tenant,
    '/webhook',
    envelope.ad(token, { created_at: '2026-03-02 10:00:00', build: 'second' }),
  );
  await worker.deliver(worker.queue.take());
});

async function ask(path: string) {
  const period = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team(tenant, `${path}${path.includes('?') ? '&' : '?'}${period}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer;
}

it.each([
  ['metric', 2],
  ['field of an answer', 2],
  ['property of events', 3],
  ['page', 2],
  ['match method', 2],
  ['click filter', 2],
] as const)('a %s takes at most %d files', (name, bar) => {
  const changed = new Set(CHANGES[name].map(({ file }) => file)).size;
  expect(changed + (ADDED[name] ?? 0)).toBeLessThanOrEqual(bar);
});

// Those that `new-kind` and `new-dimension` are built with. The file of the kind is one more.
it.each([
  ['kind of event with a measure', KIND_EDITS, 1, 3],
  ['dimension of events', DIMENSION_EDITS.filter(({ file }) => !file.includes('/devices/')), 0, 1],
  ['dimension of devices', DIMENSION_EDITS, 0, 2],
])('a %s takes the files that it is said to', (_, edits, added, files) => {
  expect(new Set(edits.map(({ file }) => file)).size + added).toBe(files);
});

it('has a new metric in reports, CSV and documentation', async () => {
  const { totals } = await (await ask('/v1/reports/performance')).json<{ totals: Record<string, unknown> }>();
  expect(totals).toHaveProperty('impressions_per_session');
  const [header] = (await (await ask('/v1/reports/performance?format=csv')).text()).split('\r\n');
  expect(header).toContain(',impressions_per_session,');
  expect(JSON.stringify(await openApiDocument('Service', ENDPOINTS))).toContain('Ads shown per session');
});

it('has new fields of an answer in JSON, CSV, its headers and documentation', async () => {
  const path = '/v1/reports/funnel?steps=install,ad';
  const { data, last_step } = await (await ask(path)).json<{
    data: Record<string, unknown>[];
    last_step: string;
  }>();
  expect([data.map(({ step_number }) => step_number), last_step]).toEqual([[1, 2], 'ad']);
  const csv = await ask(`${path}&format=csv`);
  expect(csv.headers.get('X-Last-Step')).toBe('ad');
  expect((await csv.text()).split('\r\n')[0]).toContain('step,step_number,devices');
  const document = JSON.stringify(await openApiDocument('Service', ENDPOINTS));
  expect(document).toContain('step,step_number,devices');
  expect(document).toContain('The last step.');
});

it('keeps a new property of events, of those that clients send and of the install', async () => {
  const { data } = await (await ask('/v1/events')).json<{
    data: { type: string; device?: { build?: string } }[];
  }>();
  expect(Object.fromEntries(data.map(({ type, device }) => [type, device?.build]))).toEqual({
    install: 'first',
    'custom.ad': 'second',
  });
});

it('has a new page in the navigation, behind the sign-in, and among those that can be saved', async () => {
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  expect((await worker.request('/greeting')).headers.get('location')).toBe('/login?next=%2Fgreeting');
  const page = await pageOf(await viewer.get('/greeting'));
  expect(page.one('h1').text).toBe('Greeting');
  expect(page.one('nav a[aria-current="page"] .label').text).toBe('Greeting');
  expect(page.one('main').text).toContain(`Hello, ${tenant.application.name}`);
  expect((await viewer.submit('/views', { address: '/greeting', name: 'Mine' })).status).toBe(200);
  const found = await pageOf(await viewer.get('/search?q=greet'));
  expect(found.one('.found a').text).toContain('Greeting');
});

/** The explanation of a device's attribution, and the card that shows it. */
async function explained(data: Record<string, unknown>) {
  const token = await fetchToken(worker, tenant, { data });
  const explanation = await (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json<{
    device_id: string;
    method: string;
    creative_id: string | null;
    refused_clicks: unknown[];
  }>();
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const path = `/debugger/device?app=${tenant.application.id}&device_id=${explanation.device_id}`;
  const page = await pageOf(await viewer.get(path));
  return { explanation, sentences: page.card('Attribution').texts('p') };
}

it('attributes by a new match method, and tells it', async () => {
  const { id, path } = await createCreative(worker, tenant);
  const token = path.split('/').at(-1);
  const { explanation, sentences } = await explained({ install_referrer: `utm_content=${token}` });
  expect(explanation).toMatchObject({ method: 'utm_content', creative_id: id });
  expect(sentences[0]).toBe(
    'UTM content, creative Creative, confidence 100%. The install referrer named the creative as its content.',
  );
  expect(JSON.stringify(await openApiDocument('Service', ENDPOINTS))).toContain('"utm_content"');
  const events = `/v1/events?application_id=${tenant.application.id}&type=install`;
  const { data } = await (await worker.team(tenant, events)).json<{ data: unknown[] }>();
  expect(data).toContainEqual(expect.objectContaining({ attribution_method: 'utm_content' }));
});

it.each([
  ['named', '203.0.113.1'],
  ['similar', '203.0.113.2'],
])('refuses a %s click by a new filter, and tells why', async (kind, ip) => {
  const { id, path } = await createCreative(worker, tenant);
  const { clickId, publicId, messages } = await follow(worker, `${path}?network=shady`, ANDROID_AGENT, ip);
  await worker.deliver(messages);
  const phone = { device_model: 'Pixel 8', os_system: 'Android 14', ip };
  const { explanation, sentences } = await explained(kind === 'named' ? { click_id: publicId } : phone);
  expect(explanation).toMatchObject({
    method: 'organic',
    refused_clicks: [
      {
        click_id: clickId,
        creative_id: id,
        filter: 'refused_network',
        reason: 'its network is refused',
      },
    ],
  });
  expect(sentences.at(-2)).toMatch(
    /^A click of creative Creative \d+ (s|minutes?|hours?|days?) (before|after) the install was not counted because its network is refused\.$/,
  );
});
