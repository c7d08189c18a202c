import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database, reencryptKeys } from '#db';
import { forgetCredentials } from '#http';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { performanceBy } from './apple-ads.ts';
import { META_REFERRER } from './meta-vector.ts';

const worker = startWorker();
const { referrer, key } = META_REFERRER;
const AD = '23854855793500700';
const META_AD = {
  campaign_id: '23854855793350700',
  campaign: 'Test Campaign',
  adset_id: '23854855793420700',
  adset: 'AdSet1',
  ad_id: AD,
  ad: 'Ad1',
};

async function put(tenant: Tenant, creativeId: string, ids: { network: string; id: string }[]) {
  const path = `/v1/creatives/${creativeId}`;
  const answer = await worker.team(tenant, path, { method: 'PATCH', body: { external_ids: ids } });
  return { status: answer.status, body: await answer.json() };
}

/** An application with Meta's key, and a creative that has the ids. */
async function withAd(ids: string[], settings: object = { meta_referrer_key: key }) {
  const tenant = await createTenant({ ...STORES, ...settings });
  const creative = await createCreative(worker, tenant);
  const external = ids.map((id) => ({ network: 'meta', id }));
  expect(await put(tenant, creative.id, external)).toMatchObject({ status: 200 });
  return { tenant, creative };
}

async function attributionOf(tenant: Tenant, data: Record<string, unknown>) {
  const token = await fetchToken(worker, tenant, { data });
  await settleAll(tenant.application.id);
  const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
  return answer.json<Record<string, unknown>>();
}

it.each([
  ['the ad', AD],
  ['the other id of the ad', '23854864161090700'],
])('attributes an install to the creative with the id of %s', async (_, id) => {
  const { tenant, creative } = await withAd([id, '1']);
  const { tenant: other } = await withAd([AD]);
  expect(await attributionOf(tenant, { install_referrer: referrer })).toMatchObject({
    method: 'meta_referrer',
    confidence: 1,
    creative_id: creative.id,
    click_id: null,
    meta_ad: META_AD,
  });
  expect((await attributionOf(other, { install_referrer: referrer })).creative_id).not.toBe(creative.id);
});

it('counts for Meta and says which ad it was if no creative has its id', async () => {
  const { tenant } = await withAd(['1']);
  expect(await attributionOf(tenant, { install_referrer: referrer })).toMatchObject({
    method: 'meta_referrer',
    confidence: 1,
    creative_id: null,
    network: 'meta',
    meta_ad: META_AD,
  });
  expect(await performanceBy(worker, tenant, 'network')).toMatchObject([{ network: 'meta', installs: 1 }]);
});

it('guesses no click and no impression for an install that Meta’s referrer proves', async () => {
  const { tenant } = await withAd(['1']);
  const { id, path } = await createCreative(worker, tenant, { creative: 'TikTok' });
  const address = '203.0.113.61';
  const { messages } = await follow(worker, `${path}?network=tiktok`, ANDROID_AGENT, address);
  await worker.deliver(messages);
  const links = await worker.team(tenant, `/v1/creatives/${id}/links`);
  const { server_links } = await links.json<{ server_links: { impression: string } }>();
  const told = new URLSearchParams({ ip: address, ua: ANDROID_AGENT });
  const { pathname, search } = new URL(`${server_links.impression}&${told}`);
  expect((await worker.request(pathname + search)).status).toBe(200);
  await worker.deliver(worker.queue.take());
  const device = { ...ANDROID_METRICS, ip: address };
  expect(await attributionOf(tenant, { ...device, install_referrer: referrer })).toMatchObject({
    method: 'meta_referrer',
    creative_id: null,
    click_id: null,
    network: 'meta',
    candidates: [],
  });
  // The click would have been similar enough.
  expect(await attributionOf(tenant, device)).toMatchObject({ method: 'probabilistic', creative_id: id });
});

it.each([
  ['another key', { meta_referrer_key: '0'.repeat(64) }, referrer],
  ['no key', {}, referrer],
  ['a referrer of no ad', { meta_referrer_key: key }, 'utm_source=apps.facebook.com&utm_campaign=fb4a'],
  ['a changed referrer', { meta_referrer_key: key }, referrer.replace('data%22%3A%228', 'data%22%3A%229')],
])('leaves an install with %s alone', async (_, settings, install_referrer) => {
  const { tenant } = await withAd([AD], settings);
  const answer = await attributionOf(tenant, { install_referrer });
  expect(answer).toMatchObject({ method: 'organic', creative_id: null });
  expect(answer).not.toHaveProperty('meta_ad');
});

it('prefers a named click, and is preferred to a deep link', async () => {
  const { tenant, creative } = await withAd([AD]);
  const clicked = await createCreative(worker, tenant, { creative: 'Clicked' });
  const { publicId, messages } = await follow(worker, clicked.path, ANDROID_AGENT);
  await worker.deliver(messages);
  const both = { install_referrer: `click_id=${publicId}&${referrer}` };
  expect(await attributionOf(tenant, both)).toMatchObject({ method: 'referrer', creative_id: clicked.id });
  const deep = { install_referrer: referrer, creative_token: clicked.token };
  expect(await attributionOf(tenant, deep)).toMatchObject({
    method: 'meta_referrer',
    creative_id: creative.id,
  });
});

it('counts the install for the creative', async () => {
  const { tenant, creative } = await withAd([AD]);
  const today = new Date().toISOString().slice(0, 10);
  await fetchToken(worker, tenant, { data: { install_referrer: referrer } });
  await settleAll(tenant.application.id);
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${today}&to=${today}&group_by=creative`;
  const { data }: { data: { creative_id: string; installs: number }[] } = await (
    await worker.team(tenant, path)
  ).json();
  expect(data).toMatchObject([{ creative_id: creative.id, installs: 1 }]);
});

it('stores the key encrypted, never shows it, and keeps it while the secret is rotated', async () => {
  const { tenant, creative } = await withAd([AD], {});
  const path = `/v1/applications/${tenant.application.id}`;
  const patch = async (meta_referrer_key: unknown) => {
    const answer = await worker.team(tenant, path, { method: 'PATCH', body: { meta_referrer_key } });
    return { status: answer.status, text: await answer.text() };
  };
  const refusal = 'meta_referrer_key must be 64 hexadecimal digits';
  expect(await patch('abc')).toEqual({ status: 400, text: JSON.stringify({ message: refusal }) });
  const set = await patch(key);
  expect(set).toMatchObject({ status: 200, text: expect.stringContaining('"meta_referrer_key_set":true') });
  const stored = await env.DB.prepare('SELECT meta_referrer_key FROM applications WHERE id = ?')
    .bind(tenant.application.id)
    .first<string>('meta_referrer_key');
  expect(stored).toMatch(/^[\w-]{60,}$/);
  expect(`${set.text} ${stored}`).not.toContain(key);

  const former = env.KEY_ENCRYPTION_SECRET;
  const rotated = `a-newer-secret-0123456789abcdef0123 ${former}`;
  await reencryptKeys(database(env.DB), rotated);
  forgetCredentials();
  const later = startWorker({ KEY_ENCRYPTION_SECRET: 'a-newer-secret-0123456789abcdef0123' });
  const token = await fetchToken(later, tenant, { data: { install_referrer: referrer } });
  await reencryptKeys(database(env.DB), `${former} a-newer-secret-0123456789abcdef0123`);
  const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
  expect(await answer.json()).toMatchObject({ method: 'meta_referrer', creative_id: creative.id });

  expect(await patch(null)).toMatchObject({ text: expect.stringContaining('"meta_referrer_key_set":false') });
});
