import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { counterOf } from '#counting';
import { readToken } from '#devices';
import { follow, IPHONE_AGENT, IPHONE_METRICS, measure, STORES } from '../helpers/clicks.ts';
import { startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import {
  APPLE_AD,
  APPLE_TOKEN,
  appleAnswers,
  attributionOf,
  creditsIn,
  deliverAll,
  fetchIphone,
  performanceBy,
  rawEvents,
  STORED_AD,
} from './apple-ads.ts';

const worker = startWorker();
const ON = { ...STORES, apple_ads: true };
const appleId = (id: number) => [{ network: 'apple_ads', id: String(id) }];

afterEach(() => {
  vi.restoreAllMocks();
  worker.queue.take();
});

/** Gives an item of the application an id at Apple Ads. */
async function give(tenant: Tenant, kind: 'creatives' | 'adsets' | 'campaigns', id: number): Promise<string> {
  const list = await worker.team(tenant, `/v1/${kind}?application_id=${tenant.application.id}`);
  const [item] = (await list.json<{ data: { id: string }[] }>()).data;
  const body = { external_ids: appleId(id) };
  const answer = await worker.team(tenant, `/v1/${kind}/${item?.id}`, { method: 'PATCH', body });
  expect(answer.status).toBe(200);
  return item?.id ?? '';
}

/** An application with a creative that has the id of Apple's ad. */
async function withAd(settings: object = ON) {
  const tenant = await createTenant(settings);
  const creative = await createCreative(worker, tenant);
  await give(tenant, 'creatives', APPLE_AD.adId);
  return { tenant, creative };
}

async function post(tenant: Tenant, token: string, name: string) {
  const body = {
    type: 'custom',
    created_at: new Date().toISOString(),
    creativeToken: token,
    payload: { event_name: name },
  };
  expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
}

const health = ({ application }: Tenant) => counterOf(env, application.id, 0).health();

describe('an install that Apple attributes', () => {
  it('is credited to the creative with the id of the ad', async () => {
    const { tenant, creative } = await withAd();
    const asked = appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    expect(asked).toEqual([]);
    expect(await performanceBy(worker, tenant, 'creative')).toEqual([]);
    expect(await deliverAll(worker, worker.queue.take())).toEqual([]);
    expect(asked).toEqual([{ token: APPLE_TOKEN, type: 'text/plain', method: 'POST' }]);
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'apple_ads',
      confidence: 1,
      creative_id: creative.id,
      click_id: null,
      network: 'apple_ads',
      apple_ads: { outcome: 'attributed', ...STORED_AD },
      replaced: { method: 'organic', creative_id: null, click_id: null },
      doubts: [],
    });
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: creative.id, installs: 1 },
    ]);
    expect(await performanceBy(worker, tenant, 'network')).toMatchObject([
      { network: 'apple_ads', installs: 1 },
    ]);
    expect(await rawEvents(tenant)).toEqual([
      { type: 'install', creative: creative.id, network: 'apple_ads', method: 'apple_ads' },
    ]);
  });

  it.each([
    ['adsets', APPLE_AD.adGroupId, 'Ad set'],
    ['campaigns', APPLE_AD.campaignId, 'Apple Ads'],
  ] as const)('is credited to a creative of its own in %s with the id', async (kind, id, adset) => {
    const tenant = await createTenant(ON);
    await createCreative(worker, tenant, { creative: 'Own', campaign: 'Campaign', adset: 'Ad set' });
    await give(tenant, kind, id);
    appleAnswers(APPLE_AD);
    const tokens = [await fetchIphone(worker, tenant), await fetchIphone(worker, tenant)];
    // Both at once create one creative.
    await deliverAll(worker, worker.queue.take());
    const found = await Promise.all(tokens.map((token) => attributionOf(worker, tenant, token)));
    const [creativeId] = found.map(({ creative_id }) => creative_id);
    expect(found.map(({ creative_id }) => creative_id)).toEqual([creativeId, creativeId]);
    const { data } = await (
      await worker.team(tenant, `/v1/creatives?application_id=${tenant.application.id}`)
    ).json<{ data: { id: string; name: string; campaign: string; adset: string }[] }>();
    expect(data).toHaveLength(2);
    expect(data.find((one) => one.id === creativeId)).toMatchObject({
      name: 'Apple Ads',
      campaign: 'Campaign',
      adset,
    });
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: creativeId, installs: 2 },
    ]);
  });

  it('counts for Apple Ads without a creative if nothing has an id of the ad', async () => {
    const tenant = await createTenant(ON);
    await createCreative(worker, tenant);
    appleAnswers({ attribution: true, campaignId: 1, conversionType: 'Redownload' });
    const token = await fetchIphone(worker, tenant);
    await deliverAll(worker, worker.queue.take());
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'apple_ads',
      creative_id: null,
      network: 'apple_ads',
      apple_ads: { outcome: 'attributed', campaign_id: '1', conversion_type: 'Redownload' },
    });
    expect(await performanceBy(worker, tenant, 'network')).toMatchObject([
      { network: 'apple_ads', installs: 1 },
    ]);
  });

  it('gives back the click that was guessed for it, which then leads to another device', async () => {
    const { tenant, creative } = await withAd();
    const clicked = await createCreative(worker, tenant, { creative: 'Clicked' });
    const address = '203.0.113.77';
    const { clickId, messages } = await follow(
      worker,
      `${clicked.path}?ttclid=abc`,
      IPHONE_AGENT,
      address,
      'DE',
    );
    await worker.deliver(messages);
    await worker.deliver((await measure(worker, clicked.path, clickId, { address })).messages);
    appleAnswers(APPLE_AD, { attribution: false });
    const token = await fetchIphone(worker, tenant, { ip: address, timezone: 'Europe/Berlin' });
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'probabilistic',
      creative_id: clicked.id,
      click_id: clickId,
    });
    const sent = worker.queue.take();
    await deliverAll(worker, sent);
    const device = await storedDevice(await claimsOf(token));
    expect(device?.attribution).toContain('"apple_ads"');
    expect(device?.attribution).not.toContain('ttclid');
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'apple_ads',
      creative_id: creative.id,
      click_id: null,
      click: null,
      country: 'DE',
      country_source: 'timezone',
      replaced: { method: 'probabilistic', creative_id: clicked.id, click_id: clickId },
    });
    const next = await fetchIphone(worker, tenant, { ip: address });
    await deliverAll(worker, worker.queue.take());
    // A late copy of the first message does not take the click from the second device.
    await deliverAll(worker, sent);
    expect(await attributionOf(worker, tenant, next)).toMatchObject({
      method: 'probabilistic',
      click_id: clickId,
      apple_ads: { outcome: 'not_attributed' },
    });
    const claim = await env.DB.prepare('SELECT device_id FROM clicks WHERE id = ?').bind(clickId).first();
    const claims = await readToken(next, env.TOKEN_SECRET);
    expect(claim).toEqual({ device_id: claims?.deviceId });
    const rows = await performanceBy(worker, tenant, 'creative');
    expect(rows.map(({ creative_id, installs }) => [creative_id, installs]).sort()).toEqual(
      [
        [creative.id, 1],
        [clicked.id, 1],
      ].sort(),
    );
  });
});

describe('an answer that attributes nothing', () => {
  it.each([
    ['attribution: false', [{ attribution: false }], 'not_attributed', 0],
    ['404 twice, then true', [404, 404, APPLE_AD], 'attributed', 2],
    ['404 always', [404], 'unanswered', 3],
    ['400', [400], 'refused', 0],
    ['500', [500], 'unanswered', 3],
    ['a timeout', ['timeout' as const], 'unanswered', 3],
    ['an unknown answer', [{ hello: 1 }], 'unanswered', 3],
  ])('%s', async (_, answers, outcome, again) => {
    const { tenant, creative } = await withAd();
    const asked = appleAnswers(...answers);
    const token = await fetchIphone(worker, tenant);
    expect(await deliverAll(worker, worker.queue.take())).toEqual(Array(again).fill(5));
    expect(asked).toHaveLength(again + 1);
    const isAd = outcome === 'attributed';
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: isAd ? 'apple_ads' : 'organic',
      creative_id: isAd ? creative.id : null,
      network: isAd ? 'apple_ads' : null,
      apple_ads: { outcome },
    });
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: isAd ? creative.id : null, installs: 1 },
    ]);
  });
});

describe('Apple is not asked', () => {
  const notAsked = async (tenant: Tenant, token: string) => {
    expect(creditsIn(worker.queue.take())).toEqual([]);
    const attribution = await attributionOf(worker, tenant, token);
    expect(attribution).not.toHaveProperty('apple_ads');
    return attribution;
  };

  it('unless the application wants it', async () => {
    const { tenant } = await withAd(STORES);
    const asked = appleAnswers(APPLE_AD);
    await notAsked(tenant, await fetchIphone(worker, tenant));
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([{ installs: 1 }]);
    expect(asked).toEqual([]);
  });

  it('once the application does not want it any more', async () => {
    const { tenant } = await withAd();
    const asked = appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    const path = `/v1/applications/${tenant.application.id}`;
    await worker.team(tenant, path, { method: 'PATCH', body: { apple_ads: false } });
    await deliverAll(worker, worker.queue.take());
    expect(asked).toEqual([]);
    expect(await attributionOf(worker, tenant, token)).toMatchObject({ apple_ads: { outcome: 'not_asked' } });
  });

  it('about a test build, an Android phone, or a device without a token', async () => {
    const { tenant } = await withAd();
    await notAsked(tenant, await fetchIphone(worker, tenant, {}, true));
    const android = { device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16' };
    await notAsked(tenant, await fetchIphone(worker, tenant, android));
    await notAsked(tenant, await fetchToken(worker, tenant, { data: IPHONE_METRICS }));
  });

  it('about a device that names its click or its creative', async () => {
    const { tenant } = await withAd();
    const clicked = await createCreative(worker, tenant, { creative: 'Clicked' });
    const { publicId, messages } = await follow(worker, clicked.path, IPHONE_AGENT);
    await worker.deliver(messages);
    for (const [method, data] of [
      ['click_id', { click_id: publicId }],
      ['deep_link', { creative_token: clicked.token }],
      ['organic', { install_referrer: 'gclid=Cj0K' }],
    ] as const) {
      expect(await notAsked(tenant, await fetchIphone(worker, tenant, data))).toMatchObject({ method });
    }
  });

  it('about a known device again', async () => {
    const { tenant, creative } = await withAd();
    const asked = appleAnswers(APPLE_AD);
    await fetchIphone(worker, tenant, { device_id: 'one' });
    await deliverAll(worker, worker.queue.take());
    const again = await fetchIphone(worker, tenant, { device_id: 'one' });
    expect(creditsIn(worker.queue.take())).toEqual([]);
    expect(await readToken(again, env.TOKEN_SECRET)).toMatchObject({ creativeId: creative.id });
    expect(await readToken(again, env.TOKEN_SECRET)).not.toHaveProperty('creditOpen');
    expect(asked).toHaveLength(1);
  });
});

it('drops a token that is too long, and says so', async () => {
  const { tenant } = await withAd();
  const answer = await worker.post(tenant, '/fetch-token', {
    type: 'device-metrics',
    created_at: new Date().toISOString(),
    data: { ...IPHONE_METRICS, adservices_token: 'a'.repeat(8193) },
  });
  expect(answer.status).toBe(200);
  expect(creditsIn(worker.queue.take())).toEqual([]);
  const batch = await worker.post(tenant, '/fetch-token/batch', {
    devices: [
      {
        type: 'device-metrics',
        created_at: new Date().toISOString(),
        data: { ...IPHONE_METRICS, adservices_token: 'a'.repeat(8193) },
      },
    ],
  });
  expect(await batch.json()).toMatchObject({
    results: [{ warnings: [{ path: 'data.adservices_token' }] }],
  });
});

describe('events that are sent before Apple answers', () => {
  it('count once, under the creative of the ad', async () => {
    const { tenant, creative } = await withAd();
    appleAnswers(404, APPLE_AD);
    const token = await fetchIphone(worker, tenant, { device_id: 'one' });
    const createdBy = Date.now();
    const credits = worker.queue.take();
    await post(tenant, token, 'before');
    const events = worker.queue.take();
    await worker.deliver(events);
    await worker.deliver(events);
    expect(await performanceBy(worker, tenant, 'creative')).toEqual([]);
    const waiting = await health(tenant);
    expect(waiting.pending).toBe(2);
    expect(waiting.countedThrough).toBeLessThan(createdBy);
    expect(waiting.oldestPendingAt).toBeLessThanOrEqual(createdBy);
    const { event_id } = (
      await (
        await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}`)
      ).json<{
        data: { event_id: string }[];
      }>()
    ).data[0] ?? { event_id: null };
    expect(event_id).toBeNull();
    await deliverAll(worker, credits);
    // All of it once more, and an event that is sent with the old token after the answer.
    await deliverAll(worker, [...events, ...credits]);
    await post(tenant, token, 'after');
    await worker.deliver(worker.queue.take());
    const again = await fetchIphone(worker, tenant, { device_id: 'one' });
    await post(tenant, again, 'with a new token');
    await worker.deliver(worker.queue.take());
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: creative.id, installs: 1, events: 3 },
    ]);
    expect(await performanceBy(worker, tenant, 'network')).toMatchObject([
      { network: 'apple_ads', installs: 1, events: 3 },
    ]);
    const raw = await rawEvents(tenant);
    expect(raw).toHaveLength(4);
    expect(new Set(raw.map((event) => `${event.creative} ${event.network}`))).toEqual(
      new Set([`${creative.id} apple_ads`]),
    );
    expect(await health(tenant)).toMatchObject({ pending: 0 });
  });

  it('come in a batch with those of other devices', async () => {
    const { tenant, creative } = await withAd();
    appleAnswers(APPLE_AD);
    const open = await fetchIphone(worker, tenant);
    const other = await fetchToken(worker, tenant);
    const credits = worker.queue.take();
    const events = [open, other, open].map((creativeToken) => ({
      type: 'custom',
      created_at: new Date().toISOString(),
      creativeToken,
      payload: { event_name: 'x' },
    }));
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({ accepted: 3 });
    const sent = worker.queue.take();
    await deliverAll(worker, [...credits, ...sent]);
    const rows = await performanceBy(worker, tenant, 'creative');
    expect(rows.map(({ creative_id, events: count }) => [creative_id, count])).toEqual(
      expect.arrayContaining([
        [creative.id, 2],
        [null, 1],
      ]),
    );
  });

  it.each(['device_id', 'token'] as const)(
    'come from mediation by %s, and from stores',
    async (device_is) => {
      const authorization = 'Bearer rc_0123456789abcdef';
      const template = { amount: 'revenue', scale: 'unit', id: 'id', device: 'device', device_is };
      const { tenant, creative } = await withAd({
        ...ON,
        revenuecat_authorization: authorization,
      });
      const path = `/v1/applications/${tenant.application.id}`;
      const changed = await worker.team(tenant, path, {
        method: 'PATCH',
        body: { impression_template: { ...template, default_currency: 'usd' } },
      });
      expect(changed.status).toBe(200);
      const made = await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} });
      const { intake_secret: secret } = await made.json<{ intake_secret: string }>();
      appleAnswers(APPLE_AD);
      const token = await fetchIphone(worker, tenant, { device_id: 'user_1' });
      const credits = worker.queue.take();
      const query = new URLSearchParams({
        ...{ id: 'i1', revenue: '0.5', device: device_is === 'token' ? token : 'user_1' },
      });
      expect((await worker.request(`/impression/${secret}?${query}`)).status).toBe(200);
      const event = {
        ...{ id: 'rc1', type: 'INITIAL_PURCHASE', environment: 'PRODUCTION', period_type: 'NORMAL' },
        ...{ purchased_at_ms: Date.now(), transaction_id: 't1', product_id: 'gold', app_user_id: 'user_1' },
        ...{ price: 5, price_in_purchased_currency: 5, currency: 'USD' },
      };
      const told = await worker.request(`/stores/revenuecat/${secret}`, {
        method: 'POST',
        headers: { Authorization: authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify({ api_version: '1.0', event }),
      });
      expect(told.status).toBe(200);
      const sent = worker.queue.take();
      expect(sent).toHaveLength(2);
      await deliverAll(worker, sent);
      expect(await performanceBy(worker, tenant, 'creative')).toEqual([]);
      await deliverAll(worker, [...credits, ...sent]);
      const counted = { installs: 1, impressions: 1, purchases: 1 };
      for (const [group, value] of [
        ['creative', { creative_id: creative.id }],
        ['network', { network: 'apple_ads' }],
      ] as const) {
        expect(await performanceBy(worker, tenant, group)).toMatchObject([{ ...value, ...counted }]);
      }
      expect(await rawEvents(tenant)).toEqual(
        Array(3).fill(expect.objectContaining({ creative: creative.id, network: 'apple_ads' })),
      );
    },
  );

  it('show as queued, and their token is valid for the creative of the ad afterwards', async () => {
    const { tenant } = await withAd();
    appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    const credits = worker.queue.take();
    const body = { ...envelope.custom(token), created_at: new Date().toISOString() };
    const { event_id: id } = await (await worker.post(tenant, '/webhook', body)).json<{ event_id: string }>();
    await worker.deliver(worker.queue.take());
    expect(await counterOf(env, tenant.application.id, 0).eventStatus(id)).toMatchObject({
      status: 'queued',
      event: { id, event_name: expect.any(String) },
    });
    const verify = async () => (await worker.post(tenant, '/verify-token', { token })).json();
    expect(await verify()).toMatchObject({ creative: null });
    await deliverAll(worker, credits);
    expect(await verify()).toMatchObject({ creative: { name: 'Creative' } });
    await settleAll(tenant.application.id);
    expect(await counterOf(env, tenant.application.id, 0).eventStatus(id)).toMatchObject({
      status: 'counted',
    });
  });

  it('are not held up by Apple in the batch of the queue', async () => {
    const { tenant } = await withAd();
    appleAnswers(404);
    await fetchIphone(worker, tenant);
    const other = await fetchToken(worker, tenant);
    await post(tenant, other, 'other');
    const result = await worker.deliver(worker.queue.take());
    expect(result.retryMessages).toHaveLength(1);
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([{ installs: 1, events: 1 }]);
  });
});

describe('a message that is lost', () => {
  it('leaves the credit to the alarm, which settles it without Apple', async () => {
    const { tenant } = await withAd();
    const asked = appleAnswers(APPLE_AD);
    worker.queue.failOnly = (body) => creditsIn([{ id: '', body }]).length > 0;
    const token = await fetchIphone(worker, tenant);
    worker.queue.failOnly = () => false;
    expect(worker.queue.take()).toEqual([]);
    await post(tenant, token, 'before');
    await worker.deliver(worker.queue.take());
    const counter = startCounter(tenant.application.id);
    await counter.inside((own) => own.alarm());
    expect(await attributionOf(worker, tenant, token)).not.toHaveProperty('apple_ads');
    const armed = await counter.inside((_, { storage }) => storage.getAlarm());
    expect(armed).toBeLessThanOrEqual(Date.now() + 10 * 60_000);
    vi.useFakeTimers({ now: Date.now() + 10 * 60_000 + 1_000, toFake: ['Date'] });
    try {
      await counter.inside((own) => own.alarm());
    } finally {
      vi.useRealTimers();
    }
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'organic',
      apple_ads: { outcome: 'not_asked' },
    });
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: null, installs: 1, events: 1 },
    ]);
    expect(asked).toEqual([]);
  });

  it('is acknowledged once its application is deleted, without waking its counter', async () => {
    const { tenant } = await withAd();
    const asked = appleAnswers(APPLE_AD);
    await fetchIphone(worker, tenant);
    const path = `/v1/applications/${tenant.application.id}`;
    await worker.team(tenant, path, { method: 'DELETE', body: { name: 'Test game' } });
    const counters = new WatchedCounters();
    const { bindings } = startWorker({ COUNTERS: counters.asBinding() });
    expect(await deliverAll({ ...worker, bindings }, worker.queue.take())).toEqual([]);
    expect(asked).toEqual([]);
    expect(counters.calls).toEqual([]);
  });

  it('is acknowledged as a dead letter, and as one that nobody can read', async () => {
    const credit = { application_id: 'app_1', shard: 0, device_id: 'dev_1' };
    const dead = [{ id: 'a', body: { open_credit: credit } }];
    expect(await worker.deliver(dead, 'attribution-events-dead')).toMatchObject({ explicitAcks: ['a'] });
    const broken = [{ id: 'b', body: { open_credit: 1 } }];
    expect(await worker.deliver(broken)).toMatchObject({ explicitAcks: ['b'] });
  });
});
