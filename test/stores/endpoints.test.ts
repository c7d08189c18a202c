import { env } from 'cloudflare:workers';
import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listRejections } from '#ingestion';
import { PINNED } from '../../src/stores/apple-root.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { EXPIRED_LEAF, INTERMEDIATE, LEAF, signAsApple, signNotification, TEST_ROOT } from './signer.ts';

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();
const SETTINGS = {
  apple_bundle_id: 'com.example.game',
  android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
  google_push_account: 'push@game.iam.gserviceaccount.com',
  revenuecat_authorization: 'Bearer rc_0123456789abcdef',
};
let tenant: Tenant & { secret: string };

async function withSecret(settings: object = SETTINGS) {
  const own = await createTenant(settings);
  const path = `/v1/applications/${own.application.id}/intake-secret`;
  const answer = await worker.team(own, path, { method: 'POST', body: {} });
  expect(answer.status).toBe(201);
  const { intake_secret: secret } = await answer.json<{ intake_secret: string }>();
  return { ...own, secret };
}

// The chain is checked in the Workers runtime, with the root of these tests in the place of Apple's.
let minutes = 0;
beforeEach(async () => {
  // An isolate writes the rejections of each 10 s at once, and then together.
  vi.setSystemTime(Date.now() + 60_000 * ++minutes);
  vi.spyOn(PINNED, 'root', 'get').mockReturnValue(TEST_ROOT);
  tenant = await withSecret();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function post(store: string, body: unknown, headers: HeadersInit = {}, secret = tenant.secret) {
  const answer = await worker.request(`/stores/${store}/${secret}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
}
const apple = (...sent: Parameters<typeof signNotification>) => post('apple', signNotification(...sent));

async function figures(applicationId = tenant.application.id) {
  await worker.deliver(worker.queue.take());
  await settleAll(applicationId);
  const row = await env.DB.prepare(
    `SELECT sum(purchases) AS purchases, sum(purchase_revenue) / 1e9 AS revenue, sum(returned_revenue) / 1e9 AS returned,
       sum(refunds) AS refunds, sum(trials) AS trials, sum(renewals) AS renewals
     FROM rollup_daily WHERE application_id = ?`,
  )
    .bind(applicationId)
    .first<Record<string, number>>();
  return Object.values(row ?? {}).map(Number);
}
const NOTHING = [0, 0, 0, 0, 0, 0];
const kept = async () =>
  (
    await env.DB.prepare('SELECT * FROM store_notifications WHERE application_id = ? ORDER BY rowid')
      .bind(tenant.application.id)
      .all<Record<string, unknown>>()
  ).results;
const rejected = () => listRejections(env.DB, tenant.application.id);

describe('the App Store', () => {
  it('counts payments, renewals, trials, refunds and reversals, each once', async () => {
    const notificationUUID = crypto.randomUUID();
    const first = signNotification('SUBSCRIBED', {}, { notificationUUID });
    const received = await post('apple', first);
    expect(received).toEqual({
      status: 200,
      body: {
        ...{ success: true, message: 'Notification received', reason: null },
        event_id: expect.stringMatching(/^evt_/),
      },
    });
    expect(await post('apple', first)).toEqual(received);
    await apple('DID_RENEW', { transactionId: '2', price: 4990, transactionReason: 'RENEWAL' });
    await apple('SUBSCRIBED', {
      transactionId: '3',
      originalTransactionId: '3',
      offerDiscountType: 'FREE_TRIAL',
    });
    await apple('REFUND', {
      revocationDate: Date.parse('2026-03-04T10:00:00Z'),
      revocationPercentage: 50_000,
    });
    expect(await figures()).toEqual([2, 14.98, 4.995, 1, 1, 1]);
    await apple('REFUND_REVERSED', {});
    expect(await figures()).toEqual([2, 14.98, 0, 1, 1, 1]);
    expect((await kept())[0]).toMatchObject({ type: 'SUBSCRIBED', repeats: 1, conflicts: 0, reason: null });
  });

  it.each([
    ['an unknown type', 'SOMETHING_NEW', {}, {}, /no payment/],
    [
      'the sandbox',
      'SUBSCRIBED',
      { environment: 'Sandbox' },
      { data: { environment: 'Sandbox' } },
      /sandbox/,
    ],
    ['a shared purchase', 'SUBSCRIBED', { inAppOwnershipType: 'FAMILY_SHARED' }, {}, /no payment/],
    ['no price', 'ONE_TIME_CHARGE', { price: undefined }, {}, /no amount/],
  ])('keeps %s, and counts nothing for it', async (_, type, transaction, more, reason) => {
    const { status, body } = await apple(type, transaction, more);
    expect([status, body.event_id]).toEqual([200, null]);
    expect(body.reason).toMatch(reason);
    expect(await kept()).toEqual([expect.objectContaining({ event_id: null, reason: body.reason })]);
    expect(await figures()).toEqual(NOTHING);
  });

  it.each([
    [
      'a forged signature',
      () => signNotification('SUBSCRIBED', {}).signedPayload.replace(/.{8}$/, 'AAAAAAAA'),
      /signature/,
    ],
    [
      'another root',
      () => signNotification('SUBSCRIBED', {}, { chain: [LEAF, TEST_ROOT, TEST_ROOT] }).signedPayload,
      /do not lead/,
    ],
    [
      'an expired certificate',
      () =>
        signNotification('SUBSCRIBED', {}, { chain: [EXPIRED_LEAF, INTERMEDIATE, TEST_ROOT] }).signedPayload,
      /expired/,
    ],
    ['no x5c', () => signNotification('SUBSCRIBED', {}, { chain: [] }).signedPayload, /x5c/],
    ['no JWS', () => 'hello', /not a JWS/],
    [
      'another app',
      () => signNotification('SUBSCRIBED', { bundleId: 'com.other' }).signedPayload,
      /another app/,
    ],
    [
      'a forged transaction',
      () =>
        signAsApple({
          ...{ notificationType: 'SUBSCRIBED', notificationUUID: 'n1' },
          data: { bundleId: 'com.example.game', environment: 'Production', signedTransactionInfo: 'a.b.c' },
        }),
      /not a JWS/,
    ],
  ])('refuses %s, and shows it in the debugger', async (_, sign, error) => {
    const { status, body } = await post('apple', { signedPayload: sign() });
    expect([status, body.success]).toEqual([400, false]);
    expect(body.error).toMatch(error);
    expect(await rejected()).toMatchObject([
      { endpoint: 'POST /stores/apple/:secret', status: 400, error: expect.stringMatching(error) },
    ]);
    expect(JSON.stringify(await rejected())).not.toContain(tenant.secret);
    expect(await kept()).toEqual([]);
    expect(await figures()).toEqual(NOTHING);
  });

  it('counts a payment for the device whose id is the app’s token for the account, in any case', async () => {
    const appAccountToken = '7e3fb204-2ab0-4a8d-9f39-3f1a9c2d5e11';
    await worker.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00Z',
      data: {
        ...{
          device_name: 'iPhone',
          device_model: 'iPhone 16',
          os_system: 'iOS 26.0',
          timezone: 'Europe/Berlin',
        },
        // As Swift's `uuidString` has it.
        device_id: appAccountToken.toUpperCase(),
      },
    });
    await apple('ONE_TIME_CHARGE', { transactionId: '7', originalTransactionId: '7', appAccountToken });
    expect(await figures()).toEqual([1, 9.99, 0, 0, 0, 0]);
    const cohorts = env.DB.prepare('SELECT acquired_day FROM cohort_revenue WHERE application_id = ?');
    expect(await cohorts.bind(tenant.application.id).first('acquired_day')).toBe('2026-03-01');
  });

  it('reads ids beyond 2^53 exactly', async () => {
    const data = { ...{ bundleId: 'com.example.game', environment: 'Production' } };
    const transaction = `{"transactionId":"9007199254740993","originalTransactionId":"9007199254740993","bundleId":"com.example.game",
      "price":1000,"currency":"USD","environment":"Production","purchaseDate":1772445600000}`;
    const payload = JSON.stringify({
      ...{ notificationType: 'ONE_TIME_CHARGE', notificationUUID: 'big' },
      data: { ...data, appAppleId: 0, signedTransactionInfo: signAsApple(transaction) },
    }).replace('"appAppleId":0', '"appAppleId":9007199254740993');
    expect(await post('apple', { signedPayload: signAsApple(payload) })).toMatchObject({ status: 200 });
    expect(await kept()).toMatchObject([{ transaction_id: '9007199254740993' }]);
    expect((await figures())[1]).toBe(1);
  });

  it('needs the bundle id, and says so', async () => {
    const other = await withSecret({});
    const answer = await post('apple', signNotification('SUBSCRIBED', {}), {}, other.secret);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('apple_bundle_id') },
    });
  });
});

describe('every store', () => {
  it.each(['apple', 'google', 'revenuecat'])('refuses a wrong secret: %s', async (store) => {
    const wrong = `${tenant.secret.slice(0, -10)}AAAAAAAAAA`;
    for (const secret of [wrong, 'hello', 'intake_']) {
      expect(await post(store, {}, {}, secret)).toEqual({
        status: 401,
        body: { success: false, error: 'Unknown or replaced intake secret' },
      });
    }
    expect(await figures()).toEqual(NOTHING);
  });

  it('accepts the former secret for as long as was asked, and no longer', async () => {
    const path = `/v1/applications/${tenant.application.id}/intake-secret`;
    await worker.team(tenant, path, { method: 'POST', body: { grace_hours: 1 } });
    expect((await post('apple', signNotification('TEST', null))).status).toBe(200);
    await worker.team(tenant, path, { method: 'POST', body: {} });
    vi.setSystemTime(Date.now() + 3_700_000);
    expect((await post('apple', signNotification('TEST', null))).status).toBe(401);
  });

  it.each([
    ['a body of 1 MB', JSON.stringify({ signedPayload: 'x'.repeat(1_000_000) }), 413],
    ['a body that is not JSON', '{', 400],
    ['an empty body', '', 400],
    ['a list', '[]', 400],
    ['a number', '1', 400],
  ])('refuses %s, and shows it in the debugger', async (_, body, status) => {
    expect((await post('apple', body)).status).toBe(status);
    const headers = { Authorization: SETTINGS.revenuecat_authorization };
    expect((await post('revenuecat', body, headers)).status).toBe(status);
    expect((await rejected()).map((row) => [row.endpoint, row.status]).sort()).toEqual([
      ['POST /stores/apple/:secret', status],
      ['POST /stores/revenuecat/:secret', status],
    ]);
    expect(await figures()).toEqual(NOTHING);
  });

  it('refuses notifications while data collection is off', async () => {
    await worker.team(tenant, `/v1/applications/${tenant.application.id}`, {
      method: 'PATCH',
      body: { data_collection: false },
    });
    expect((await apple('SUBSCRIBED', {})).status).toBe(403);
  });

  it('lets the store send again what the queue did not accept, and counts it once', async () => {
    const sent = signNotification('SUBSCRIBED', {});
    worker.queue.failures = 3;
    expect((await post('apple', sent)).status).toBe(500);
    expect((await post('apple', sent)).status).toBe(200);
    expect((await post('apple', sent)).status).toBe(200);
    expect(await figures()).toEqual([1, 9.99, 0, 0, 0, 0]);
  });
});

const EVENT = {
  ...{ id: 'rc1', type: 'INITIAL_PURCHASE', environment: 'PRODUCTION', period_type: 'NORMAL' },
  ...{ purchased_at_ms: Date.parse('2026-03-02T10:00:00Z'), transaction_id: 'GPA.1', product_id: 'gold' },
  ...{ price: 5.41, price_in_purchased_currency: 4.99, currency: 'EUR', app_user_id: 'user_1' },
};
const revenuecat = (more: object = {}, authorization = SETTINGS.revenuecat_authorization) =>
  post('revenuecat', { api_version: '1.0', event: { ...EVENT, ...more } }, { Authorization: authorization });

describe('RevenueCat', () => {
  it('counts a payment for the device that its customer is known by', async () => {
    await worker.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00Z',
      data: {
        ...{
          device_name: 'Pixel',
          device_model: 'Pixel 9',
          os_system: 'Android 16',
          timezone: 'Europe/Berlin',
        },
        ...{ device_id: 'user_1', country: 'de' },
      },
    });
    expect(await revenuecat()).toMatchObject({ status: 200, body: { reason: null } });
    expect(await figures()).toEqual([1, 4.99, 0, 0, 0, 0]);
    const cohort = await env.DB.prepare(
      'SELECT acquired_day, day, currency FROM cohort_revenue WHERE application_id = ?',
    )
      .bind(tenant.application.id)
      .all();
    expect(cohort.results).toEqual([{ acquired_day: '2026-03-01', day: '2026-03-02', currency: 'eur' }]);
  });

  it('refuses another Authorization value', async () => {
    for (const value of ['', 'Bearer rc_0123456789abcdeg']) {
      expect(await revenuecat({}, value)).toMatchObject({ status: 401 });
    }
    expect(await rejected()).toMatchObject([
      { status: 401, error: expect.stringContaining('Authorization') },
    ]);
    expect(await figures()).toEqual(NOTHING);
  });

  it('keeps the first copy of an event whose value changes when it is sent again', async () => {
    expect((await revenuecat()).status).toBe(200);
    expect((await revenuecat({ price_in_purchased_currency: 499 })).status).toBe(200);
    expect((await revenuecat()).status).toBe(200);
    expect(await figures()).toEqual([1, 4.99, 0, 0, 0, 0]);
    expect(await kept()).toMatchObject([{ repeats: 2, conflicts: 1 }]);
  });

  it('counts the events of the sandbox and of unknown types nowhere', async () => {
    await revenuecat({ id: 'a', environment: 'SANDBOX' });
    await revenuecat({ id: 'b', type: 'NEW_TYPE' });
    expect((await kept()).map(({ reason }) => reason)).toEqual([
      'is of the sandbox',
      'tells of no payment or refund with an amount',
    ]);
    expect(await figures()).toEqual(NOTHING);
  });

  it('takes back what customer support refunded', async () => {
    await revenuecat();
    const refund = { type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT', price: -5.41 };
    await revenuecat({ id: 'rc2', ...refund, price_in_purchased_currency: -4.99 });
    expect(await figures()).toEqual([1, 4.99, 4.99, 1, 0, 0]);
  });
});

describe('Google Play', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };
  let asked = 0;
  beforeEach(() => {
    answerFetch(async () => {
      asked++;
      return Response.json({ keys: [jwk] });
    });
  });
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  function token(more: object = {}) {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: 'https://accounts.google.com', aud: `https://ingest.test/stores/google/${tenant.secret}` },
      ...{ email: SETTINGS.google_push_account, email_verified: true, iat: now, exp: now + 3600, ...more },
    };
    const signed = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode(claims)}`;
    return `${signed}.${createSign('sha256').update(signed).sign(privateKey).toString('base64url')}`;
  }
  const push = (messageId: string, data: object, authorization = `Bearer ${token()}`) => {
    const content = {
      version: '1.0',
      packageName: 'com.example.game',
      eventTimeMillis: '1772532000000',
      ...data,
    };
    const message = { messageId, data: Buffer.from(JSON.stringify(content)).toString('base64') };
    return post('google', { message, subscription: 's' }, { Authorization: authorization });
  };
  const VOIDED = {
    voidedPurchaseNotification: { orderId: 'GPA.1', purchaseToken: 't', productType: 2, refundType: 1 },
  };

  it('takes back the payment with the order’s id, once', async () => {
    await revenuecat();
    expect(await push('m1', VOIDED)).toMatchObject({ status: 200, body: { reason: null } });
    await push('m1', VOIDED);
    expect(await figures()).toEqual([1, 4.99, 4.99, 1, 0, 0]);
  });

  it('asks for Google’s keys once', async () => {
    asked = 0;
    for (const id of ['m1', 'm2', 'm3']) await push(id, { testNotification: { version: '1.0' } });
    expect(asked).toBeLessThanOrEqual(1);
  });

  it.each([
    ['another account', () => token({ email: 'other@game.iam.gserviceaccount.com' })],
    ['another audience', () => token({ aud: 'https://ingest.test/stores/google/other' })],
    ['no token', () => ''],
  ])('refuses %s', async (_, sign) => {
    expect(await push('m1', VOIDED, `Bearer ${sign()}`)).toMatchObject({ status: 401 });
    expect(await rejected()).toMatchObject([
      { status: 401, error: expect.stringContaining('google_push_account') },
    ]);
    expect(await kept()).toEqual([]);
  });

  it.each([
    ['of another app', { packageName: 'com.other', ...VOIDED }],
    ['without an amount', { subscriptionNotification: { notificationType: 2, purchaseToken: 't' } }],
    [
      'of a part of several items',
      { voidedPurchaseNotification: { ...VOIDED.voidedPurchaseNotification, refundType: 2 } },
    ],
    ['of an unknown type', { somethingNew: {} }],
  ])('acknowledges what can never count, or Pub/Sub would send it again: %s', async (_, data) => {
    await revenuecat();
    const { status, body } = await push('m1', data);
    expect([status, body.event_id]).toEqual([200, null]);
    expect(await kept()).toMatchObject([{}, { store: 'google', event_id: null, reason: body.reason }]);
    expect(await figures()).toEqual([1, 4.99, 0, 0, 0, 0]);
  });
});
