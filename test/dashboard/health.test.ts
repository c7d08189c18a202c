import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const ad = (creativeToken: string) => ({
  type: 'custom.ad',
  created_at: new Date().toISOString(),
  creativeToken,
  payload: { ad_id: 'main', source: 'banner', value: 0.5, currency: 'usd' },
});

const parkedOf = (applicationId: string) =>
  env.DB.prepare('SELECT id FROM parked_messages WHERE application_id = ?')
    .bind(applicationId)
    .all<{ id: string }>()
    .then(({ results }) => results.map(({ id }) => id));

async function impressions(browser: Browser): Promise<string | undefined> {
  const csv = await (await browser.get('/breakdown?by=day&format=csv')).text();
  const [head = '', row = ''] = csv.split('\r\n');
  return row.split(',')[head.split(',').indexOf('impressions')];
}

it('replays a parked message until it counts, once however often it is sent', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.post(tenant, '/webhook', ad(await fetchToken(worker, tenant)));
  const [message] = worker.queue.take();
  if (!message) throw new Error('nothing was sent');
  await worker.deliver([message], 'attribution-events-dead');
  const [id] = await parkedOf(tenant.application.id);
  const page = await (await browser.get('/status')).text();
  expect(page).toContain('could not be delivered to the log');

  expect((await browser.post(`/status/${id}/replay`)).status).toBe(303);
  expect(await parkedOf(tenant.application.id)).toEqual([]);
  const sent = worker.queue.take();
  expect(sent.map(({ body }) => body)).toEqual([message.body]);
  await worker.deliver(sent);
  await worker.deliver([message]);
  await worker.deliver(sent);
  expect(await impressions(browser)).toBe('1');
  expect((await browser.post(`/status/${id}/replay`)).status).toBe(404);
  expect(await (await browser.get('/settings/audit')).text()).toContain('parked_message.replayed');
});

it('keeps a message parked when the queue does not take it', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.deliver(
    [{ id: 'x', body: { v: 9, application_id: tenant.application.id } }],
    'attribution-events-dead',
  );
  const [id] = await parkedOf(tenant.application.id);
  worker.queue.failures = 10;
  expect((await browser.post(`/status/${id}/replay`)).status).toBe(500);
  worker.queue.failures = 0;
  expect(await parkedOf(tenant.application.id)).toEqual([id]);
  expect((await browser.post(`/status/${id}/discard`)).status).toBe(303);
  expect(await parkedOf(tenant.application.id)).toEqual([]);
});

it('shows what belongs to no team only while there is a single team', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.deliver([{ id: 'broken', body: 'broken beyond telling' }], 'attribution-events-dead');
  expect(await (await browser.get('/status')).text()).not.toContain('broken beyond telling');
  await env.DB.prepare('DELETE FROM teams WHERE id <> ?').bind(tenant.team.id).run();
  expect(await (await browser.get('/status')).text()).toContain('broken beyond telling');
});

it('resumes counting after a restore of the database, for an admin, and records who did', async () => {
  const tenant = await createTenant();
  const [admin, viewer] = [
    await signedIn(worker, tenant.team, 'admin'),
    await signedIn(worker, tenant.team, 'viewer'),
  ];
  const token = await fetchToken(worker, tenant);
  const count = async () => {
    await worker.post(tenant, '/webhook', ad(token));
    await worker.deliver(worker.queue.take());
    return impressions(admin);
  };
  expect(await count()).toBe('1');
  expect(await (await admin.get('/status')).text()).not.toContain('Resume counting');
  await env.DB.prepare('UPDATE counter_flushes SET sequence = sequence - 1 WHERE counter = ?')
    .bind(`${tenant.application.id}:0`)
    .run();
  expect(await count()).toBe('1');
  const stopped = await (await admin.get('/status')).text();
  expect(stopped).toContain('Counting has stopped');
  expect(await (await viewer.get('/status')).text()).toContain('Ask an admin of your team');
  expect((await viewer.post('/status/resume')).status).toBe(403);
  const [, path = ''] = /action="(\/status\/resume[^"]*)"/.exec(stopped) ?? [];
  const answer = await admin.post(path.replaceAll('&amp;', '&'));
  expect(answer.status).toBe(303);
  const resumed = await (await admin.get(answer.headers.get('Location') ?? '')).text();
  expect(resumed).toContain('Counting has resumed.');
  expect(resumed).not.toContain('Counting has stopped');
  expect(await impressions(admin)).toBe('2');
  expect(await (await admin.get('/settings/audit')).text()).toContain('counting.resumed');
});
