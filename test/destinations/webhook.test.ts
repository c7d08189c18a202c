import { describe, expect, it } from 'vitest';
import type { DestinationSetup } from '#networks/outbound';
import { webhook } from '../../src/destinations/webhook.ts';
import { newWebhookSecret, signWebhook } from '../../src/destinations/webhook-signature.ts';
import { outboundEvent, requestOf } from './events.ts';

// github.com/standard-webhooks/standard-webhooks, libraries/go/webhook_test.go and libraries/csharp WebhookTest.cs
const PUBLISHED = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  seconds: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

it('signs the published example as published', async () => {
  const { secret, id, seconds, body, signature } = PUBLISHED;
  expect(await signWebhook({ id, body, secrets: [secret] }, seconds * 1000 + 999)).toEqual({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  });
});

it.each([
  ['id', { id: `${PUBLISHED.id}x` }],
  ['body', { body: PUBLISHED.body.replace('4', '5') }],
  ['time', { seconds: PUBLISHED.seconds + 1 }],
  ['secret', { secret: PUBLISHED.secret.replace('M', 'N') }],
])('signs the published example otherwise with another %s', async (_, change) => {
  const { secret, id, seconds, body, signature } = { ...PUBLISHED, ...change };
  const signed = await signWebhook({ id, body, secrets: [secret] }, seconds * 1000);
  expect(signed['webhook-signature']).not.toBe(signature);
});

describe('a webhook', () => {
  const setup = (secrets: readonly string[], settings: Record<string, string> = {}): DestinationSetup => ({
    settings: { url: 'https://example.com/hook', ...settings },
    credentials: {},
    secrets,
    isTest: false,
  });

  it('has the same id and body at every attempt, and the time of the attempt', async () => {
    const secret = newWebhookSecret();
    const at = (now: number) => requestOf(webhook.prepare(outboundEvent(), setup([secret]), now));
    const [first, second] = [await at(1_800_000_000_000), await at(1_800_000_300_000)];
    expect(second.body).toBe(first.body);
    expect(second.headers['webhook-id']).toBe(outboundEvent().id);
    expect([first, second].map(({ headers }) => headers['webhook-timestamp'])).toEqual([
      '1800000000',
      '1800000300',
    ]);
  });

  it('names its event, when it happened and what is known of it', async () => {
    const { method, headers, body } = await requestOf(
      webhook.prepare(outboundEvent(), setup([newWebhookSecret()]), Date.now()),
    );
    expect([method, headers['Content-Type']]).toEqual(['POST', 'application/json']);
    expect(JSON.parse(body ?? '')).toEqual({
      type: 'purchase',
      timestamp: '2026-03-27T12:00:00.250Z',
      data: {
        event_id: outboundEvent().id,
        application: { id: 'app_1', name: 'Puzzle', store_id: 'com.example.puzzle' },
        device: {
          id: 'dev_1',
          os: 'android',
          os_version: '16',
          app_version: '1.2.3',
          country: 'DE',
          time_zone: 'Europe/Berlin',
          advertising_id: 'cdda802e-fb9c-47ad-9866-0794d394c912',
          vendor_id: null,
        },
        value: 4.99,
        currency: 'eur',
        purchase: { transaction_id: 'GPA.3345-1122', product_id: 'gems_500' },
        ad: null,
        properties: {},
        attribution: {
          network: 'meta',
          campaign: { id: 'cmp_1', name: 'Spring' },
          adset: { id: 'ads_1', name: 'Broad' },
          creative: { id: 'crt_1', name: 'Cat video' },
          method: 'click_id',
          clicked_at: '2026-03-27T11:00:00.000Z',
          click: { fbclid: 'abc', campaign_id: '42' },
        },
        consent: { lat: null, att_status: null, ad_user_data: null },
      },
    });
  });

  it('has the parameters of a custom event that its settings name, and no other', async () => {
    const event = outboundEvent({
      type: 'custom:level_up',
      value: null,
      properties: { level: '7', email: 'ann@example.com', toString: 'x' },
    });
    const read = async (properties: Record<string, string>) =>
      JSON.parse((await requestOf(webhook.prepare(event, setup([], properties), 0))).body ?? '').data;
    expect((await read({})).properties).toEqual({});
    expect((await read({ properties: ' level, constructor ,missing' })).properties).toEqual({ level: '7' });
    expect(await read({})).toMatchObject({ value: null, currency: null });
  });

  it('says that it is a test', async () => {
    const prepared = webhook.prepare(outboundEvent(), { ...setup([]), isTest: true }, 0);
    expect(JSON.parse((await requestOf(prepared)).body ?? '').data.test).toBe(true);
  });

  it('has large amounts exactly', async () => {
    const event = outboundEvent({ value: { nanos: 999_999_999_999_999_999n, currency: 'jpy' } });
    const { data } = JSON.parse((await requestOf(webhook.prepare(event, setup([]), 0))).body ?? '');
    expect(data).toMatchObject({ value: 1_000_000_000, value_exact: '999999999.999999999', currency: 'jpy' });
  });

  it('shows no key in the query of its URL', async () => {
    const url = 'https://example.com/hook?token=hunter2';
    const request = await requestOf(webhook.prepare(outboundEvent(), setup([], { url }), 0));
    expect(request.url).toBe(url);
    expect(JSON.stringify(request.shown)).not.toContain('hunter2');
    expect(webhook.describe({ settings: { url }, credentials: {} })).toBe('https://example.com/hook?…');
  });
});
