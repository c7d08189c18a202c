import { beforeAll, expect, it } from 'vitest';
import { openApiDocument } from '../../src/docs/document.ts';
import { envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { ADDED, CHANGES } from './changes.ts';

// The Worker is built with the changes of `changes.ts`, and everything else has to follow.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
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
] as const)('a %s takes at most %d files', (name, bar) => {
  const changed = new Set(CHANGES[name].map(({ file }) => file)).size;
  expect(changed + (ADDED[name] ?? 0)).toBeLessThanOrEqual(bar);
});

it('has a new metric in reports, CSV and documentation', async () => {
  const { totals } = await (await ask('/v1/reports/performance')).json<{ totals: Record<string, unknown> }>();
  expect(totals).toHaveProperty('impressions_per_session');
  const [header] = (await (await ask('/v1/reports/performance?format=csv')).text()).split('\r\n');
  expect(header).toContain(',impressions_per_session,');
  expect(JSON.stringify(await openApiDocument('Service'))).toContain('Ads shown per session');
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
  const document = JSON.stringify(await openApiDocument('Service'));
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
