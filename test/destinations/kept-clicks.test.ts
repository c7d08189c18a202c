import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { pruneClicks } from '#attribution';
import { type Counter, countersOf } from '#counting';
import { ANDROID_AGENT, ANDROID_METRICS, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { setUp } from '../helpers/destination.ts';
import { envelope } from '../helpers/envelopes.ts';
import { claimsOf, storedDevice } from '../helpers/stored.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const DAY = 86_400_000;

const clicksWith = (id: string) =>
  env.DB.prepare('SELECT count(*) AS n FROM clicks WHERE id = ?').bind(id).first('n');

it('passes on the click ids of a purchase after the click is deleted, and nothing that must not leave', async () => {
  const { tenant, receiver, object } = await setUp({ events: ['purchase'] });
  const creative = await createCreative(worker, tenant);
  const query =
    'fbclid=IwAR0&site=42&gaid=cdda802e-fb9c-47ad-9866-0794d394c912&user_ip=203.0.113.9&x=2001:db8::1';
  const { clickId, messages } = await follow(worker, `${creative.path}?${query}`, ANDROID_AGENT);
  await worker.deliver(messages);
  const at = { created_at: new Date().toISOString() };
  const token = await fetchToken(worker, tenant, { ...at, data: { ...ANDROID_METRICS, click_id: clickId } });
  const { attribution = '' } = (await storedDevice(await claimsOf(token))) ?? {};
  expect(JSON.parse(attribution)).toMatchObject({ click_id: clickId, method: 'click_id' });
  expect(JSON.parse(attribution).click_params).toEqual({ fbclid: 'IwAR0', site: '42' });
  expect(await clicksWith(clickId)).toBe(1);
  await pruneClicks(env.DB, Date.now() + 100 * DAY);
  expect(await clicksWith(clickId)).toBe(0);
  const answer = await worker.post(tenant, '/webhook', envelope.purchase(token, at, { value: 4.99 }));
  expect(answer.status).toBe(200);
  await worker.deliver(worker.queue.take());
  for (const counter of countersOf(env, tenant.application.id, 1)) {
    await runInDurableObject(counter, async (own: Counter) => {
      await own.settle();
      await own.alarm();
      await own.fed();
    });
  }
  await object.work();
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.attribution)).toMatchObject([
    { method: 'click_id', click: { fbclid: 'IwAR0', site: '42' } },
  ]);
});
