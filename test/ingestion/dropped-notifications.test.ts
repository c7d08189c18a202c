import { env } from 'cloudflare:workers';
import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listRejections } from '#ingestion';
import { SKAN_POSTBACKS } from '../../src/cli/simulation/apple-postbacks.ts';
import { PINNED } from '../../src/stores/apple-root.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { signNotification, TEST_ROOT } from '../stores/signer.ts';

// No 200 without a word where a store's notification counts nothing or less than it tells, and no refused postback that nobody sees.

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();

const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const PUSHES = 'push@game.iam.gserviceaccount.com';
/** The App Store id in Apple's SKAdNetwork postbacks, which its notifications here have too. */
const APP_STORE_ID = 525463029;

type Form = Record<string, unknown>;
type Answer = {
  event_id: string | null;
  reason: string | null;
  warnings?: { path: string; message: string }[];
};

let tenant: Tenant;
let secret: string;
let minutes = 0;
beforeEach(async () => {
  // An isolate writes the rejections of each 10 s at once, and then together.
  vi.setSystemTime(Date.now() + 60_000 * ++minutes);
  vi.spyOn(PINNED, 'root', 'get').mockReturnValue(TEST_ROOT);
  tenant = await createTenant({
    apple_bundle_id: 'com.example.game',
    ios_store_url: `https://apps.apple.com/us/app/chess/id${APP_STORE_ID}`,
    android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
    google_push_account: PUSHES,
    revenuecat_authorization: AUTHORIZATION,
  });
  const path = `/v1/applications/${tenant.application.id}/intake-secret`;
  const made = await worker.team(tenant, path, { method: 'POST', body: {} });
  ({ intake_secret: secret } = await made.json<{ intake_secret: string }>());
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await env.DB.exec('UPDATE applications SET ios_store_url = NULL, app_store_id = NULL');
});

async function tell(store: string, body: unknown, authorization?: string): Promise<Answer> {
  const answer = await worker.request(`/stores/${store}/${secret}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
    body: JSON.stringify(body),
  });
  const told = await answer.json<Answer>();
  expect(answer.status, JSON.stringify(told)).toBe(200);
  return told;
}

const tellRevenueCat = (event: Form) =>
  tell('revenuecat', { api_version: '1.0', event: { ...REVENUECAT_EVENT, ...event } }, AUTHORIZATION);

const REVENUECAT_EVENT = {
  ...{ id: 'n1', type: 'INITIAL_PURCHASE', environment: 'PRODUCTION', app_user_id: 'user_1' },
  ...{ transaction_id: 't1', currency: 'EUR', price: 5.41, price_in_purchased_currency: 4.99 },
};

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A push with a token that Google could have signed. `data`: base64. */
function pushOfGoogle(data: string): Promise<Answer> {
  answerFetch(async () =>
    Response.json({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }],
    }),
  );
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    ...{ iss: 'https://accounts.google.com', aud: `https://ingest.test/stores/google/${secret}` },
    ...{ email: PUSHES, email_verified: true, iat: now, exp: now + 3600 },
  };
  const signed = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode(claims)}`;
  const signature = createSign('sha256').update(signed).sign(privateKey).toString('base64url');
  return tell('google', { message: { messageId: 'm1', data } }, `Bearer ${signed}.${signature}`);
}

const tellGoogle = (more: Form) =>
  pushOfGoogle(Buffer.from(JSON.stringify({ packageName: 'com.example.game', ...more })).toString('base64'));

const tellApple = (type: string, transaction: Form | null = {}, data: Form = {}) =>
  tell('apple', signNotification(type, transaction, { data }));

const SANDBOX = { environment: 'Sandbox' };

/** What a store tells that counts nothing, and the reason in the answer. */
const NOT_COUNTED: readonly (readonly [what: string, send: () => Promise<Answer>, reason: RegExp])[] = [
  ['RevenueCat: the sandbox', () => tellRevenueCat({ environment: 'SANDBOX' }), /sandbox/],
  ['RevenueCat: no environment', () => tellRevenueCat({ environment: null }), /sandbox/],
  ['RevenueCat: no payment', () => tellRevenueCat({ type: 'EXPIRATION' }), /no payment/],
  ['RevenueCat: an unknown type', () => tellRevenueCat({ type: 'SOMETHING_NEW' }), /no payment/],
  ['RevenueCat: a shared purchase', () => tellRevenueCat({ is_family_share: true }), /no payment/],
  [
    'RevenueCat: less than nothing',
    () => tellRevenueCat({ price: -5, price_in_purchased_currency: -5 }),
    /no payment/,
  ],
  ['RevenueCat: a placeholder', () => tellRevenueCat({ transaction_id: 'null' }), /no transaction/],
  ['RevenueCat: no transaction', () => tellRevenueCat({ transaction_id: null }), /no payment/],
  [
    'RevenueCat: no price',
    () => tellRevenueCat({ price: null, price_in_purchased_currency: null }),
    /no amount/,
  ],
  [
    'RevenueCat: too much',
    () => tellRevenueCat({ price: 1e9, price_in_purchased_currency: 1e9 }),
    /too large/,
  ],
  ['Apple: an unknown type', () => tellApple('SOMETHING_NEW'), /no payment/],
  ['Apple: no transaction', () => tellApple('SUBSCRIBED', null), /no payment/],
  ['Apple: a test', () => tellApple('TEST', null, SANDBOX), /sandbox/],
  ['Apple: the sandbox', () => tellApple('SUBSCRIBED', SANDBOX, SANDBOX), /sandbox/],
  [
    'Apple: no environment',
    () => tellApple('SUBSCRIBED', { environment: null }, { environment: null }),
    /sandbox/,
  ],
  ['Apple: no price', () => tellApple('ONE_TIME_CHARGE', { price: null }), /no amount/],
  ['Apple: no currency', () => tellApple('DID_RENEW', { currency: null }), /no currency/],
  ['Apple: too much', () => tellApple('DID_RENEW', { price: 9_007_199_254_740_991 }), /too large/],
  ['Google: unreadable', () => pushOfGoogle('AAAA'), /unreadable/],
  ['Google: no base64', () => pushOfGoogle('not base64!'), /unreadable/],
  ['Google: no order', () => tellGoogle({ voidedPurchaseNotification: {} }), /unreadable/],
  [
    'Google: another package',
    () => tellGoogle({ packageName: 'com.other', testNotification: {} }),
    /another app/,
  ],
  ['Google: an unknown type', () => tellGoogle({ somethingNew: {} }), /no payment/],
  [
    'Google: a payment',
    () => tellGoogle({ subscriptionNotification: { notificationType: 4 } }),
    /no payment/,
  ],
  ['Google: a test', () => tellGoogle({ testNotification: { version: '1.0' } }), /sandbox/],
  [
    'Google: a part of a refund',
    () => tellGoogle({ voidedPurchaseNotification: { orderId: 'GPA.1', refundType: 2 } }),
    /no amount/,
  ],
];

it.each(NOT_COUNTED)('%s', async (_, send, reason) => {
  expect(await send()).toMatchObject({ event_id: null, reason: expect.stringMatching(reason) });
});

const ZEROS = '00000000-0000-0000-0000-000000000000';
const FUTURE = Date.parse('2100-01-01T00:00:00Z');

/** What is counted, but not as it was told. */
const REPLACED: readonly (readonly [what: string, send: () => Promise<Answer>, path: string])[] = [
  ['Apple: nobody’s account', () => tellApple('SUBSCRIBED', { appAccountToken: ZEROS }), 'appAccountToken'],
  ['Apple: the future', () => tellApple('SUBSCRIBED', { purchaseDate: FUTURE }), ''],
  ['Apple: 1970', () => tellApple('DID_RENEW', { purchaseDate: 1 }), ''],
  ['RevenueCat: nobody', () => tellRevenueCat({ app_user_id: '[object Object]' }), 'event.app_user_id'],
  [
    'RevenueCat: nobody before',
    () => tellRevenueCat({ original_app_user_id: 'undefined' }),
    'event.original_app_user_id',
  ],
  [
    'RevenueCat: no first payment',
    () => tellRevenueCat({ original_transaction_id: 'null' }),
    'event.original_transaction_id',
  ],
  ['RevenueCat: the future', () => tellRevenueCat({ purchased_at_ms: FUTURE }), ''],
  [
    'Google: the future',
    () => tellGoogle({ eventTimeMillis: FUTURE, voidedPurchaseNotification: { orderId: 'GPA.1' } }),
    '',
  ],
];

it.each(REPLACED)('%s', async (_, send, path) => {
  const { event_id, warnings } = await send();
  expect(event_id).not.toBeNull();
  expect(warnings).toEqual([{ path, message: expect.stringMatching(/\w/) }]);
  const [event = ''] = worker.queue.take().map(({ body }) => String(body).split('\n')[1]);
  expect(JSON.parse(event)).toMatchObject({ id: event_id, warnings });
});

it('says that a further copy which tells something else is not counted', async () => {
  const { event_id } = await tellRevenueCat({});
  expect(await tellRevenueCat({})).toEqual(expect.not.objectContaining({ warnings: expect.anything() }));
  expect(await tellRevenueCat({ price_in_purchased_currency: 9.99 })).toMatchObject({
    event_id,
    warnings: [{ path: '', message: 'tells something else than its first copy, which stands' }],
  });
});

describe('a refused postback is in the debugger of its app', () => {
  const SKAN = '/.well-known/skadnetwork/report-attribution/';
  const AAK = '/.well-known/appattribution/report-attribution/';
  const own = { ...SKAN_POSTBACKS['4.0 fine'], 'app-id': APP_STORE_ID };
  const aak = (payload: Form, header: Form = { alg: 'ES256', kid: 'unknown' }) => ({
    'jws-string': [header, { 'advertised-item-identifier': APP_STORE_ID, ...payload }, {}]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.'),
  });

  it.each([
    ['an unknown version', SKAN, { ...own, version: '5.0' }, /version must be one of/],
    ['a version that cannot be verified', SKAN, { ...own, version: '2.0' }, /P-192/],
    ['no version', SKAN, { 'app-id': APP_STORE_ID }, /P-192/],
    ['a forged signature', SKAN, { ...own, 'transaction-id': 'other' }, /signature/],
    ['a value beyond 63', SKAN, { ...own, 'conversion-value': 64 }, /conversion-value/],
    ['a key that is not Apple’s', AAK, aak({}), /Apple's keys/],
    ['another algorithm', AAK, aak({}, { alg: 'none', kid: 'x' }), /ES256/],
    ['a country that is none', AAK, { ...aak({}), 'country-code': 'Atlantis' }, /country-code/],
  ])('%s', async (_, path, body, error) => {
    const answer = await worker.request(path, { method: 'POST', body: JSON.stringify(body) });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(error)]);
    expect(await listRejections(env.DB, tenant.application.id)).toMatchObject([
      { status: 400, error: expect.stringMatching(error) },
    ]);
  });
});
