import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { clicks, database } from '#db';
import { ANDROID_AGENT, follow, IPHONE_AGENT, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it.each([
  ['an Android', ANDROID_AGENT, 'Install referrer'],
  ['an iPhone', IPHONE_AGENT, 'Click id'],
])('leads from the click of %s to an install and its revenue', async (_, agent, method) => {
  const made = await createTenant(STORES);
  const browser = await signedIn(worker, made.team, 'admin');
  const { id, path } = await createCreative(worker, made, { creative: 'Cat', campaign: 'Spring' });
  const open = async () => pageOf(await browser.get(`/creatives/${id}?compare=none`));
  expect((await open()).one('#test-install').text.trim()).toBe('');
  const { messages } = await follow(worker, path, agent, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  expect((await open()).one('#test-install pre').text).toContain('service-api-key: <API key>');

  const shown = await pageOf(await browser.submit(`/creatives/${id}/key`));
  const calls = shown.one('#test-install [data-copy]').getAttribute('data-copy') ?? '';
  expect(calls).toContain(`-H 'service-api-key: ${made.apiKey}'`);
  const bodies = [...calls.matchAll(/-d '(\{.*\})'/g)].map(([, body = '']) => body);
  const [device = '', event = ''] = bodies;
  const answer = await worker.post(made, '/fetch-token', JSON.parse(device));
  const { token } = (await answer.json()) as { token: string };
  const sent = await worker.post(made, '/webhook', JSON.parse(event.replace("'$TOKEN'", token)));
  expect(sent.status).toBe(200);
  await worker.deliver(worker.queue.take());
  expect((await open()).figures).toMatchObject({ Clicks: '1', Installs: '1', Revenue: '$4.99' });
  const [click] = await database(env.DB)
    .select({ deviceId: clicks.deviceId })
    .from(clicks)
    .where(eq(clicks.creativeId, id));
  const attributed = await pageOf(await browser.get(`/debugger/device?device_id=${click?.deviceId}`));
  expect(attributed.card('Attribution').text).toContain(method);
  expect((await open()).text).not.toContain(made.apiKey);
});

it('shows the API key for a test install to admins only', async () => {
  const made = await createTenant(STORES);
  const viewer = await signedIn(worker, made.team, 'viewer');
  const { id, path } = await createCreative(worker, made, { creative: 'Cat' });
  const { messages } = await follow(worker, path, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  expect((await viewer.post(`/creatives/${id}/key`)).status).toBe(403);
  const page = await pageOf(await viewer.get(`/creatives/${id}`));
  expect(page.one('#test-install pre').text).toContain('<API key: ask an admin>');
  expect(page.buttons).not.toContain('Show with the API key');
});

it('is where the checklist leads once there is a creative, and stays until a click arrived', async () => {
  const made = await createTenant(STORES);
  const browser = await signedIn(worker, made.team, 'admin');
  const step = async () => (await pageOf(await browser.get('/get-started'))).links.get('Test its link');
  expect(await step()).toBe(`/creatives?app=${made.application.id}`);
  await createCreative(worker, made, { creative: 'Older' });
  const { id, path } = await createCreative(worker, made, { creative: 'Newer' });
  expect(await step()).toBe(`/creatives/${id}?app=${made.application.id}#test`);
  const { messages } = await follow(worker, path, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  expect(await step()).toBeUndefined();
});
