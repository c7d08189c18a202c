import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { sendNotices, watchAlerts } from '#alerts';
import { listAudit } from '#audit';
import { database } from '#db';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

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

const textOf = async (answer: Response) =>
  (await answer.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const actions = async () =>
  (await listAudit(database(env.DB), tenant.team.id, { limit: 20 })).map(({ action }) => action);

it('adds, shows and removes an alert, and records both', async () => {
  expect(await textOf(await admin.get('/alerts'))).toContain('No alerts yet');
  expect((await admin.post('/alerts', { kind: 'cpi_above', threshold: '2.5' })).status).toBe(303);
  const page = await (await admin.get('/alerts')).text();
  expect(page).toContain('CPI is above €2.50');
  expect(page).toContain('Not checked yet');
  await watchAlerts(env, Date.now());
  expect(await textOf(await viewer.get('/alerts'))).toContain('CPI of the last seven days is not known.');
  expect(await textOf(await viewer.get('/alerts'))).not.toContain('New alert');

  const [, id = ''] = /\/alerts\/(alr_[0-9a-f]+)\/remove/.exec(page) ?? [];
  expect((await viewer.post(`/alerts/${id}/remove`)).status).toBe(403);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.post(`/alerts/${id}/remove`)).status).toBe(404);
  expect((await admin.post(`/alerts/${id}/remove`)).status).toBe(303);
  expect(await textOf(await admin.get('/alerts'))).toContain('No alerts yet');
  expect((await actions()).slice(0, 2)).toEqual(['alert.removed', 'alert.created']);
});

it.each([
  [{ kind: 'cpi_above', threshold: '-1' }, 'must be above 0'],
  [{ kind: 'cpi_above', threshold: 'a lot' }, 'must be a number'],
  [{ kind: 'no_events', threshold: '721' }, 'must be at most 720'],
  [{ kind: 'weather', threshold: '1' }, 'must be one of revenue_change'],
])('refuses the alert %o beside its field', async (fields, fault) => {
  const answer = await admin.post('/alerts', fields);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(fault)]);
});

it('adds a channel whose address only its host tells, sends a test, and shows why it failed', async () => {
  const made = await admin.post('/alerts/channels', {
    channel_kind: 'webhook',
    target: HOOK,
    digest: 'weekly',
  });
  expect(made.status).toBe(303);
  const page = await (await viewer.get('/alerts')).text();
  expect(page).toContain('hooks.example.com/…cret');
  expect(page).not.toContain(HOOK);
  const [, id = ''] =
    /\/channels\/(chn_[0-9a-f]+)\/test/.exec(await (await admin.get('/alerts')).text()) ?? [];
  expect((await admin.post(`/alerts/channels/${id}/test`)).status).toBe(303);
  await env.DB.prepare('UPDATE channels SET target = ? WHERE id = ?').bind('https://10.0.0.1/x', id).run();
  await sendNotices(env, Date.now());
  expect(await textOf(await admin.get('/alerts'))).toContain(
    'the address must not be a private or local address',
  );
  expect((await viewer.post(`/alerts/channels/${id}/remove`)).status).toBe(403);
  expect((await admin.post(`/alerts/channels/${id}/remove`)).status).toBe(303);
  expect(await textOf(await admin.get('/alerts'))).toContain('No channels yet');
  expect((await actions()).slice(0, 2)).toEqual(['channel.removed', 'channel.created']);
});

it.each([
  [{ channel_kind: 'webhook', target: 'http://example.com', digest: 'never' }, 'must be an https URL'],
  [{ channel_kind: 'webhook', target: 'https://127.0.0.1/', digest: 'never' }, 'must not be a private'],
  [{ channel_kind: 'webhook', target: HOOK, digest: 'hourly' }, 'must be one of never, daily, weekly'],
  [{ channel_kind: 'mail', target: 'nobody', digest: 'never' }, 'must be an email address'],
  [{ channel_kind: 'mail', target: 'boss@team.test', digest: 'never' }, 'this deployment cannot send email'],
])('refuses the channel %o beside its field', async (fields, fault) => {
  const answer = await admin.post('/alerts/channels', fields);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(fault)]);
});
