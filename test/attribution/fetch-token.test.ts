import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Attribution } from '#attribution';
import {
  ANDROID_AGENT,
  ANDROID_METRICS,
  follow,
  IPHONE_AGENT,
  IPHONE_METRICS,
  measure,
  STORES,
} from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { claimsOf, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { clicksIn, fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const HOUR = 3_600_000;

/** What a device was credited to, as its token and its counter say. */
async function fetchAttribution(tenant: Tenant, data: Record<string, unknown>) {
  const token = await fetchToken(worker, tenant, { data });
  const claims = await claimsOf(token);
  const { creativeId } = claims;
  const device = await storedDevice(claims);
  const stored: Attribution = JSON.parse(device?.attribution ?? '{}');
  expect(device?.creativeId).toBe(creativeId);
  expect(stored.creative_id).toBe(creativeId);
  return { creativeId, token, ...stored };
}

async function clickOf(path: string, agent: string, address?: string) {
  const { clickId, messages } = await follow(worker, path, agent, address);
  await worker.deliver(messages);
  return clickId;
}

async function measuredClick(path: string, address?: string) {
  const { clickId, publicId, messages } = await follow(worker, path, IPHONE_AGENT, address);
  const measured = await measure(worker, path, publicId, address ? { address } : {});
  expect(measured.status).toBe(204);
  await worker.deliver([...messages, ...measured.messages]);
  return clickId;
}

/** Makes a click older, as if it had been made then. */
async function age(tenant: Tenant, clickId: string, ms: number) {
  const at = Date.now() - ms;
  const older = `clk_${at.toString(16).padStart(12, '0')}${clickId.slice(16)}`;
  await env.DB.prepare('UPDATE clicks SET id = ?, clicked_at = ? WHERE application_id = ? AND id = ?')
    .bind(older, at, tenant.application.id, clickId)
    .run();
  return older;
}

it.each([
  ['install_referrer', (id: string) => ({ install_referrer: `click_id=${id}&utm_source=ad` }), 'referrer'],
  ['an encoded install_referrer', (id: string) => ({ install_referrer: `click_id%3D${id}` }), 'referrer'],
  ['click_id', (id: string) => ({ click_id: id }), 'click_id'],
])('credits the click that %s names', async (_, data, method) => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const clickId = await clickOf(creative.path, ANDROID_AGENT);
  const outcome = await fetchAttribution(tenant, { ...data(clickId), timezone: 'Asia/Tokyo' });
  expect(outcome).toMatchObject({ creativeId: creative.id, method, confidence: 1, click_id: clickId });
  const verified = await worker.post(tenant, '/verify-token', { token: outcome.token });
  expect(await verified.json()).toMatchObject({
    creative: {
      name: 'Creative',
      campaign: creative.answer.campaign.name,
      adset: creative.answer.adset.name,
    },
  });
});

it('credits a phone whose click is still in the queue', async () => {
  const [tenant, other] = [await createTenant(STORES), await createTenant(STORES)];
  const creative = await createCreative(worker, tenant);
  const { clickId, publicId, messages } = await follow(worker, creative.path, ANDROID_AGENT);
  expect((await fetchAttribution(other, { click_id: publicId })).method).toBe('organic');
  const forged = `${publicId.slice(0, -1)}${publicId.endsWith('A') ? 'B' : 'A'}`;
  expect((await fetchAttribution(tenant, { click_id: forged })).method).toBe('organic');
  expect((await fetchAttribution(tenant, { click_id: clickId })).method).toBe('organic');
  const outcome = await fetchAttribution(tenant, { install_referrer: `click_id=${publicId}` });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'referrer', click_id: clickId });
  await worker.deliver(messages);
  expect((await fetchAttribution(tenant, { click_id: clickId })).method).toBe('click_id');
});

it('credits the creative of a deep link, archived or not', async () => {
  const tenant = await createTenant();
  const creative = await createCreative(worker, tenant);
  await worker.team(tenant, `/v1/creatives/${creative.id}`, { method: 'PATCH', body: { archived: true } });
  const outcome = await fetchAttribution(tenant, { creative_token: creative.token });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'deep_link', click_id: null });
});

it('credits by measurement and address, and explains how', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const clickId = await measuredClick(creative.path);
  const outcome = await fetchAttribution(tenant, { ...IPHONE_METRICS, ip: '203.0.113.9' });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'probabilistic', confidence: 0.99 });
  expect(outcome.candidates).toEqual([
    {
      click_id: clickId,
      creative_id: creative.id,
      clicked_at: expect.any(Number),
      score: 18.5,
      probability: expect.any(Number),
      facts: { ip: 8, timezone: 2.5, os_version: 3, screen: 3.5, density: 1.5 },
    },
  ]);
});

it('credits by measurement alone', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  await measuredClick(creative.path);
  const outcome = await fetchAttribution(tenant, { ...IPHONE_METRICS, timezone: 'Europe/Berlin' });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'probabilistic' });
  expect(outcome.confidence).toBeGreaterThan(0.8);
});

it('credits an Android phone by user agent and address', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  await clickOf(creative.path, ANDROID_AGENT, '2001:db8:1:2::3');
  const outcome = await fetchAttribution(tenant, { ...ANDROID_METRICS, ip: '2001:db8:1:2:ffff::9' });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'probabilistic' });
});

it('treats a measurement that arrives before its click, or twice, as one click', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const { clickId, publicId, messages } = await follow(worker, creative.path, IPHONE_AGENT);
  const measured = await measure(worker, creative.path, publicId);
  await worker.deliver(measured.messages);
  await worker.deliver(messages);
  await worker.deliver([...messages, ...measured.messages]);
  const { results } = await env.DB.prepare('SELECT * FROM clicks WHERE application_id = ?')
    .bind(tenant.application.id)
    .all();
  expect(results).toEqual([
    expect.objectContaining({
      id: clickId,
      os_version: '17.4',
      timezone: 'Europe/Berlin',
      screen_width: 393,
    }),
  ]);
  expect((await fetchAttribution(tenant, IPHONE_METRICS)).creativeId).toBe(creative.id);
});

it('recognises an iPad, whose browser claims to be a Mac, by its touch screen', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const agent =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15';
  const { publicId, messages } = await follow(worker, creative.path, agent);
  const measures = { screen_width: 820, screen_height: 1180, pixel_ratio: 2 };
  const measured = await measure(worker, creative.path, publicId, { agent, measures });
  await worker.deliver([...measured.messages, ...messages]);
  const outcome = await fetchAttribution(tenant, {
    ...IPHONE_METRICS,
    os_system: 'iPadOS 17.4',
    window_width: 1640,
    window_height: 2360,
    dpi: 264,
    ip: '203.0.113.9',
  });
  expect(outcome).toMatchObject({ creativeId: creative.id, method: 'probabilistic' });
});

it.each([
  [{ install_referrer: 'utm_source=google-play&utm_medium=organic' }],
  [{ install_referrer: '%E0%A4%A' }],
  [{ click_id: 'clk_00000000000000000000000000000000' }],
  [{ click_id: "' OR 1=1 --" }],
  [{ creative_token: 'unknown' }],
  [{ ip: 'not an address' }],
  [{ install_referrer: '', click_id: null, creative_token: ' ', ip: null }],
])('is organic with %j', async (data) => {
  const tenant = await createTenant(STORES);
  const outcome = await fetchAttribution(tenant, data);
  expect(outcome).toMatchObject({ creativeId: null, method: 'organic', confidence: 1, candidates: [] });
});

it('reads the first 4,096 characters of a referrer, in whole pairs', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const clickId = await clickOf(creative.path, ANDROID_AGENT);
  const referrer = `click_id=${clickId}&gclid=`;
  const outcome = await fetchAttribution(tenant, { install_referrer: referrer.padEnd(4096, 'x') });
  expect(outcome.creativeId).toBe(creative.id);
  const longer = await fetchAttribution(tenant, { install_referrer: referrer.padEnd(4097, 'x') });
  expect([longer.method, longer.creativeId]).toEqual(['referrer', creative.id]);
  const behind = `utm_content=${'x'.repeat(4096)}&click_id=${clickId}`;
  expect((await fetchAttribution(tenant, { install_referrer: behind })).method).toBe('organic');
});

it('respects the attribution windows of the application', async () => {
  const tenant = await createTenant({
    ...STORES,
    attribution_window_hours: 2,
    probabilistic_window_hours: 1,
  });
  const creative = await createCreative(worker, tenant);
  const fresh = await measuredClick(creative.path);
  const old = await age(tenant, fresh, HOUR + 60_000);
  const metrics = { ...IPHONE_METRICS, ip: '203.0.113.9' };
  expect((await fetchAttribution(tenant, metrics)).method).toBe('organic');
  expect((await fetchAttribution(tenant, { ...metrics, click_id: old })).method).toBe('click_id');
  const older = await age(tenant, old, 2 * HOUR + 60_000);
  expect((await fetchAttribution(tenant, { ...metrics, click_id: older })).method).toBe('organic');
});

it('makes no probabilistic match and stores no address if the application has switched it off', async () => {
  const tenant = await createTenant({ ...STORES, probabilistic_window_hours: 0 });
  const creative = await createCreative(worker, tenant);
  await measuredClick(creative.path);
  expect((await fetchAttribution(tenant, { ...IPHONE_METRICS, ip: '203.0.113.9' })).method).toBe('organic');
  const row = await env.DB.prepare('SELECT ip_hash FROM clicks WHERE application_id = ?')
    .bind(tenant.application.id)
    .first();
  expect(row).toEqual({ ip_hash: null });
});

it('matches a click probabilistically to one device only, newest first', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const clickId = await measuredClick(creative.path);
  const first = await fetchAttribution(tenant, { ...IPHONE_METRICS, ip: '203.0.113.9' });
  expect(first.click_id).toBe(clickId);
  const second = await fetchAttribution(tenant, { ...IPHONE_METRICS, ip: '203.0.113.9' });
  expect(second.method).toBe('organic');
});

it('matches a click probabilistically to one of many simultaneous devices', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const clicks = [
    await measuredClick(creative.path, '203.0.113.9'),
    await measuredClick(creative.path, '203.0.113.200'),
  ];
  const devices = Array.from({ length: 12 }, (_, index) => ({
    ...IPHONE_METRICS,
    ip: index % 2 === 0 ? '203.0.113.9' : '203.0.113.200',
  }));
  const outcomes = await Promise.all(devices.map((data) => fetchAttribution(tenant, data)));
  const credited = outcomes.flatMap(({ click_id }) => click_id ?? []);
  expect(credited.toSorted()).toEqual(clicks.toSorted());
});

it('keeps the attribution of a known device', async () => {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const organic = await claimsOf(await fetchToken(worker, tenant, { data: { device_id: 'player 1' } }));
  const click_id = await clickOf(creative.path, ANDROID_AGENT);
  const again = await claimsOf(
    await fetchToken(worker, tenant, { data: { device_id: 'player 1', click_id } }),
  );
  expect([again.deviceId, again.creativeId]).toEqual([organic.deviceId, null]);
  const data = { device_id: 'player 2', click_id };
  const credited = await Promise.all(
    [1, 2, 3].map(async () => claimsOf(await fetchToken(worker, tenant, { data }))),
  );
  expect(new Set(credited.map(({ deviceId }) => deviceId)).size).toBe(1);
  expect(credited.map(({ creativeId }) => creativeId)).toEqual([creative.id, creative.id, creative.id]);
  const row = await env.DB.prepare('SELECT device_id FROM clicks WHERE id = ?').bind(click_id).first();
  expect(row).toEqual({ device_id: credited[0]?.deviceId });
});

it('credits nothing of another application or team', async () => {
  const [mine, other] = [await createTenant(STORES), await createTenant(STORES)];
  const creative = await createCreative(worker, other);
  const click_id = await measuredClick(creative.path);
  const hints = { ...IPHONE_METRICS, ip: '203.0.113.9' };
  for (const data of [
    hints,
    { ...hints, click_id },
    { ...hints, install_referrer: `click_id=${click_id}` },
    { ...hints, creative_token: creative.token },
  ]) {
    expect(await fetchAttribution(mine, data)).toMatchObject({ method: 'organic', candidates: [] });
  }
});

it('hashes one address differently in every application', async () => {
  const paths = await Promise.all(
    [1, 2].map(async () => (await createCreative(worker, await createTenant(STORES))).path),
  );
  const hashes: string[] = [];
  for (const path of paths) {
    const [message] = (await follow(worker, path, ANDROID_AGENT)).messages;
    const clicks = message ? clicksIn(message.body) : [];
    hashes.push(...clicks.map(({ ip_hash }) => ip_hash ?? ''));
  }
  expect(new Set(hashes).size).toBe(2);
});
