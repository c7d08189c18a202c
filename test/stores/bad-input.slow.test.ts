import { env } from 'cloudflare:workers';
import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { database } from '#db';
import { IMPRESSION_PRESETS } from '#networks';
import { listPostbacks } from '#skan';
import { AAK_POSTBACK, SKAN_POSTBACKS } from '../../src/cli/simulation/apple-postbacks.ts';
import { PINNED } from '../../src/stores/apple-root.ts';
import { createCreative } from '../helpers/creatives.ts';
import { unlimited } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { EXPIRED_LEAF, INTERMEDIATE, LEAF, signAsApple, signNotification, TEST_ROOT } from './signer.ts';

// Everything that is not right, at every address that networks, mediation and stores call: it is answered, it is in the debugger, and no figure
// changes. The tests of each module have more of the same.

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

// The clock moves on for each test, so that each looks up its credentials anew.
const worker = startWorker(unlimited);
const MEGABYTE = 1024 * 1024;
const SKAN = '/.well-known/skadnetwork/report-attribution/';
const AAK = '/.well-known/appattribution/report-attribution/';
const FINE = SKAN_POSTBACKS['4.0 fine'];
/** The App Store ids in Apple's postbacks. */
const [SKAN_APP, AAK_APP] = ['525463029', '10738027756'];
const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const PUSH_ACCOUNT = 'push@game.iam.gserviceaccount.com';
const OTHER_LINK = 'AAAAAAAAAAAAAAAAAAAAAA';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };

let tenant: Tenant;
let secret: string;
/** The path of the creative's link, and its secret. */
let link: string;
let linkSecret: string;
let before: unknown;

const setApp = (app: string) =>
  env.DB.prepare('UPDATE applications SET ios_store_url = ?, app_store_id = ? WHERE id = ?')
    .bind(`https://apps.apple.com/us/app/game/id${app}`, app, tenant.application.id)
    .run();

async function figures() {
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const query = `application_id=${tenant.application.id}&from=2026-03-01&to=${day(Date.now() + 86_400_000)}`;
  const of = async (name: string, more: string) =>
    (
      await (
        await worker.team(tenant, `/v1/reports/${name}?${query}&${more}`)
      ).json<{ totals: Record<string, unknown> }>()
    ).totals;
  const { value_conflicts: _, ...skan } = await of('skan', 'group_by=network');
  return [await of('performance', 'group_by=month&currency=usd'), skan];
}

const post = (path: string, body: unknown, headers: HeadersInit = {}) =>
  worker.request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const get = (path: string, query: Record<string, string>) =>
  worker.request(`${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`);

const apple = (body: unknown, path = secret) => post(`/stores/apple/${path}`, body);
const notify = (...sent: Parameters<typeof signNotification>) => apple(signNotification(...sent));

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
function googleToken(more: object = {}) {
  const now = Math.floor(Date.now() / 1000);
  const aud = `https://ingest.test/stores/google/${secret}`;
  const claims = { iss: 'https://accounts.google.com', aud, email: PUSH_ACCOUNT, email_verified: true };
  const signed = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode({ ...claims, iat: now, exp: now + 3600, ...more })}`;
  return `${signed}.${createSign('sha256').update(signed).sign(privateKey).toString('base64url')}`;
}
const google = (data: object, token = googleToken()) => {
  const content = { packageName: 'com.example.game', eventTimeMillis: '1772532000000', ...data };
  const message = {
    messageId: crypto.randomUUID(),
    data: Buffer.from(JSON.stringify(content)).toString('base64'),
  };
  return post(
    `/stores/google/${secret}`,
    { message, subscription: 's' },
    { Authorization: `Bearer ${token}` },
  );
};

const EVENT = {
  ...{ id: 'rc1', type: 'INITIAL_PURCHASE', environment: 'PRODUCTION', period_type: 'NORMAL' },
  ...{ purchased_at_ms: Date.parse('2026-03-02T10:00:00Z'), transaction_id: 'GPA.1', product_id: 'gold' },
  ...{ price: 5.41, price_in_purchased_currency: 4.99, currency: 'USD', app_user_id: 'user_1' },
};
const revenuecat = (more: object = {}, authorization = AUTHORIZATION) =>
  post(`/stores/revenuecat/${secret}`, { event: { ...EVENT, ...more } }, { Authorization: authorization });

const impression = (query: Record<string, string>, path = secret) => get(`/impression/${path}`, query);
const serverSide = (query: Record<string, string>, s2s = linkSecret) => get(link, { s2s, ...query });
const wrong = () => `${secret.slice(0, -10)}AAAAAAAAAA`;
const large = () => JSON.stringify({ version: '4.0', event: 'x', signedPayload: 'x'.repeat(MEGABYTE) });

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(PINNED, 'root', 'get').mockReturnValue(TEST_ROOT);
  answerFetch(async () => Response.json({ keys: [jwk] }));
  tenant = await createTenant({
    apple_bundle_id: 'com.example.game',
    android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
    google_push_account: PUSH_ACCOUNT,
    revenuecat_authorization: AUTHORIZATION,
    impression_template: IMPRESSION_PRESETS.max.template,
  });
  const path = `/v1/applications/${tenant.application.id}/intake-secret`;
  const answer = await worker.team(tenant, path, { method: 'POST', body: {} });
  secret = (await answer.json<{ intake_secret: string }>()).intake_secret;
  const { id } = await createCreative(worker, tenant);
  const links = await worker.team(tenant, `/v1/creatives/${id}/links`);
  const { server_links } = await links.json<{ server_links: { click: string } }>();
  const { pathname, searchParams } = new URL(server_links.click);
  [link, linkSecret] = [pathname, searchParams.get('s2s') ?? ''];

  // What is right, to be repeated: it stays as it is.
  await setApp(SKAN_APP);
  const sent = [
    await post(SKAN, FINE),
    await notify(
      'ONE_TIME_CHARGE',
      { transactionId: 'a1', originalTransactionId: 'a1' },
      { notificationUUID: 'n1' },
    ),
    await revenuecat(),
    await impression({ id: 'e1', revenue: '0.5' }),
    await serverSide({ event: 'impression', id: 'n-1', time: String(Date.now()) }),
    await serverSide({}),
  ];
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
  before = await figures();
  expect(before).toMatchObject([
    {
      purchases: 2,
      purchase_revenue: 14.98,
      impressions: 1,
      ad_revenue: 0.5,
      clicks: 1,
      ad_impressions_bought: 1,
    },
    { postbacks: 1 },
  ]);
});
afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
// An isolate writes the rejections of each 10 s at once, and then together.
beforeEach(() => {
  vi.setSystemTime(Date.now() + 60_000);
});

type Case = [
  what: string,
  send: () => Response | Promise<Response>,
  status: number,
  /** What the debugger says of it. */
  why: RegExp,
];

const REFUSED = 'Rejected requests by error and endpoint';

async function debuggerOf() {
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  return pageOf(await viewer.get(`/debugger?app=${tenant.application.id}`));
}

async function expectRefused(send: Case[1], status: number, endpoint: string, why: RegExp) {
  const answer = await send();
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ success: false });
  const page = await debuggerOf();
  expect(page.cells(REFUSED, 'Endpoint', 'Status', 'Why')).toContainEqual([
    endpoint,
    String(status),
    expect.stringMatching(why),
  ]);
  expect(page.text).not.toContain(secret);
  expect(await figures()).toEqual(before);
}

describe('SKAdNetwork', () => {
  it.each<Case>([
    ['a field changed', () => post(SKAN, { ...FINE, redownload: true }), 400, /signature is not Apple's/],
    [
      'no signature',
      () => post(SKAN, { ...FINE, 'attribution-signature': undefined }),
      400,
      /attribution-signature/,
    ],
    [
      'a signature that is none',
      () => post(SKAN, { ...FINE, 'attribution-signature': '!' }),
      400,
      /signature/,
    ],
    ['another app', () => post(SKAN, { ...FINE, 'app-id': 1 }), 400, /signature is not Apple's/],
    [
      'version 2.0',
      () => post(SKAN, { ...FINE, version: '2.0' }),
      400,
      /version 2.0 is signed with a P-192 key/,
    ],
    ['an unknown version', () => post(SKAN, { ...FINE, version: '9.0' }), 400, /version must be one of/],
    [
      'an id beyond 2^53',
      () => post(SKAN, JSON.stringify(FINE).replace('525463029', '9007199254740993')),
      400,
      /signature is not Apple's/,
    ],
    ['no JSON', () => post(SKAN, '{'), 400, /not valid JSON/],
    ['1 MB', () => post(SKAN, large()), 413, /^The body is larger than/],
  ])('refuses %s', (_, send, status, why) => expectRefused(send, status, `POST ${SKAN}`, why));

  it('counts a replay once, and flags one with another value', async () => {
    for (const copy of [FINE, { ...FINE, 'conversion-value': 1 }])
      expect((await post(SKAN, copy)).status).toBe(200);
    const [row] = (await debuggerOf()).cells('Newest postbacks of Apple', 'Framework', 'Verification');
    expect(row).toEqual([
      'SKAdNetwork 4.0',
      'Verified, counted; arrived 2 more times; 1 of them with other values, which do not count',
    ]);
    expect(await figures()).toEqual(before);
  });
});

describe('a genuine postback of an app that no application has', () => {
  const kept = (app: string) =>
    `Verified, not counted: no application has the App Store id ${app}. It is kept for 30 days, and counted once one has`;
  it.each([
    ['SKAdNetwork', SKAN, SKAN_POSTBACKS['4.0 coarse'], 'SKAdNetwork 4.0', kept(SKAN_APP)],
    [
      'AdAttributionKit',
      AAK,
      AAK_POSTBACK,
      'AdAttributionKit',
      'Verified with a key for development: in no report',
    ],
  ])('of %s is shown and not counted', async (_, path, body, framework, verification) => {
    await setApp('1');
    expect((await post(path, body)).status).toBe(200);
    const rows = (await debuggerOf()).cells('Newest postbacks of Apple', 'Framework', 'Verification');
    expect(rows).toContainEqual([framework, verification]);
    await setApp(SKAN_APP);
    expect(await figures()).toEqual(before);
    await env.DB.prepare(`DELETE FROM skan_postbacks WHERE application_id = ''`).run();
  });

  it('is shown to nobody in a deployment of several teams', async () => {
    await setApp('1');
    await post(SKAN, SKAN_POSTBACKS['4.0 coarse']);
    const other = await createTenant();
    expect(await listPostbacks(database(env.DB), tenant.application.id)).toHaveLength(1);
    await env.DB.batch([
      env.DB.prepare('DELETE FROM applications WHERE team_id = ?').bind(other.team.id),
      env.DB.prepare('DELETE FROM teams WHERE id = ?').bind(other.team.id),
      env.DB.prepare(`DELETE FROM skan_postbacks WHERE application_id = ''`),
    ]);
    await setApp(SKAN_APP);
  });
});

describe('what a network forwards', () => {
  it.each<Case>([
    ['a wrong key', () => post(`${SKAN}?key=${wrong()}`, FINE), 401, /Unknown or replaced intake secret/],
    ['a changed field', () => post(`${SKAN}?key=${secret}`, { ...FINE, redownload: true }), 400, /signature/],
  ])('is refused with %s', (_, send, status, why) => expectRefused(send, status, `POST ${SKAN}`, why));

  it('is refused if it is of another app', async () => {
    await expectRefused(
      () => post(`${AAK}?key=${secret}`, AAK_POSTBACK),
      400,
      `POST ${AAK}`,
      /postback is of another app/,
    );
  });
});

describe('AdAttributionKit', () => {
  const jws = AAK_POSTBACK['jws-string'];
  const withHeader = (header: object) => [encode(header), ...jws.split('.').slice(1)].join('.');
  it.each<Case>([
    [
      'a forged signature',
      () => post(AAK, { 'jws-string': `${jws.slice(0, -6)}AAAAAA` }),
      400,
      /signature is not/,
    ],
    [
      'an unknown key',
      () => post(AAK, { 'jws-string': withHeader({ kid: 'apple-cas-identifier/9', alg: 'ES256' }) }),
      400,
      /not signed with one of Apple's keys/,
    ],
    [
      'another algorithm',
      () => post(AAK, { 'jws-string': withHeader({ kid: 'none', alg: 'none' }) }),
      400,
      /must be a JWS that is signed with ES256/,
    ],
    ['no JWS', () => post(AAK, { 'jws-string': 'hello' }), 400, /jws-string/],
    ['no JSON', () => post(AAK, ''), 400, /not valid JSON/],
    ['1 MB', () => post(AAK, large()), 413, /^The body is larger than/],
  ])('refuses %s', (_, send, status, why) => expectRefused(send, status, `POST ${AAK}`, why));

  it('has a postback of a key for development in no report', async () => {
    await setApp(AAK_APP);
    expect((await post(AAK, AAK_POSTBACK)).status).toBe(200);
    await setApp(SKAN_APP);
    const rows = (await debuggerOf()).cells('Newest postbacks of Apple', 'Framework', 'Verification');
    expect(rows).toContainEqual(['AdAttributionKit', 'Verified with a key for development: in no report']);
    expect(await figures()).toEqual(before);
  });

  it('counts a replay once, and flags one with another value', async () => {
    await setApp(AAK_APP);
    for (const copy of [AAK_POSTBACK, { ...AAK_POSTBACK, 'conversion-value': 1 }])
      expect((await post(AAK, copy)).status).toBe(200);
    await setApp(SKAN_APP);
    const rows = (await debuggerOf()).cells('Newest postbacks of Apple', 'Framework', 'Verification');
    expect(rows).toContainEqual([
      'AdAttributionKit',
      expect.stringMatching(
        /^Verified with a key for development: in no report; .*; 1 of them with other values, which do not count$/,
      ),
    ]);
    expect(await figures()).toEqual(before);
  });
});

describe('the App Store', () => {
  const signed = (chain: string[]) => signNotification('SUBSCRIBED', {}, { chain });
  it.each<Case>([
    ['an unknown secret', () => apple({}, wrong()), 401, /Unknown or replaced intake secret/],
    [
      'a wrong signature',
      () =>
        apple({
          signedPayload: signNotification('SUBSCRIBED', {}).signedPayload.replace(/.{8}$/, 'AAAAAAAA'),
        }),
      400,
      /signature/,
    ],
    ['another root', () => apple(signed([LEAF, TEST_ROOT, TEST_ROOT])), 400, /do not lead/],
    ['the wrong leaf', () => apple(signed([INTERMEDIATE, INTERMEDIATE, TEST_ROOT])), 400, /do not lead/],
    ['an expired certificate', () => apple(signed([EXPIRED_LEAF, INTERMEDIATE, TEST_ROOT])), 400, /expired/],
    ['no x5c', () => apple(signed([])), 400, /x5c/],
    ['another app', () => notify('SUBSCRIBED', { bundleId: 'com.other' }), 400, /another app/],
    ['1 MB', () => apple(large()), 413, /^The body is larger than/],
    ['no JSON', () => apple('{'), 400, /not valid JSON/],
  ])('refuses %s', (_, send, status, why) => expectRefused(send, status, 'POST /stores/apple/:secret', why));
});

describe('Google Play', () => {
  const TEST = { testNotification: { version: '1.0' } };
  it.each<Case>([
    [
      'an unknown secret',
      () => post(`/stores/google/${wrong()}`, {}, { Authorization: `Bearer ${googleToken()}` }),
      401,
      /Unknown or replaced intake secret/,
    ],
    ['another account', () => google(TEST, googleToken({ email: 'x@y.com' })), 401, /google_push_account/],
    [
      'another audience',
      () => google(TEST, googleToken({ aud: 'https://other.test' })),
      401,
      /google_push_account/,
    ],
    ['an expired token', () => google(TEST, googleToken({ exp: 1_700_000_000 })), 401, /has expired/],
    ['no token', () => google(TEST, ''), 401, /google_push_account/],
    [
      '1 MB',
      () => post(`/stores/google/${secret}`, large(), { Authorization: `Bearer ${googleToken()}` }),
      413,
      /^The body is larger than/,
    ],
  ])('refuses %s', (_, send, status, why) => expectRefused(send, status, 'POST /stores/google/:secret', why));
});

describe('RevenueCat', () => {
  it.each<Case>([
    [
      'an unknown secret',
      () => post(`/stores/revenuecat/${wrong()}`, {}, { Authorization: AUTHORIZATION }),
      401,
      /Unknown or replaced intake secret/,
    ],
    ['another Authorization value', () => revenuecat({}, 'Bearer no'), 401, /Authorization/],
    ['no Authorization value', () => revenuecat({}, ''), 401, /Authorization/],
    ['no event', () => revenuecat({ id: undefined, type: undefined }), 400, /is not an event of RevenueCat/],
    [
      '1 MB',
      () => post(`/stores/revenuecat/${secret}`, large(), { Authorization: AUTHORIZATION }),
      413,
      /^The body is larger than/,
    ],
  ])('refuses %s', (_, send, status, why) =>
    expectRefused(send, status, 'POST /stores/revenuecat/:secret', why),
  );
});

it.each(['apple', 'google', 'revenuecat'])('refuses a GET of the address for %s', async (store) => {
  const send = () => get(`/stores/${store}/${secret}`, {});
  await expectRefused(send, 405, `GET /stores/${store}/:secret`, /^Method not allowed$/);
  expect((await send()).headers.get('Allow')).toBe('POST');
});

describe('what stores verify and does not count', () => {
  type Told = [what: string, send: () => Response | Promise<Response>, type: string, why: RegExp];
  const sandbox = { data: { environment: 'Sandbox' } };
  it.each<Told>([
    ['an unknown type of the App Store', () => notify('SOMETHING_NEW', {}), 'SOMETHING_NEW', /no payment/],
    ['the sandbox', () => notify('REFUND', { environment: 'Sandbox' }, sandbox), 'REFUND', /sandbox/],
    [
      'a foreign app of Google Play',
      () => google({ packageName: 'com.other', testNotification: {} }),
      'of another app, or unreadable',
      /another app/,
    ],
    ['an unknown type of Google Play', () => google({ somethingNew: {} }), 'unknown', /no payment/],
    [
      'a refund that Google Play asks about',
      () =>
        google({
          pendingRefundReviewNotification: { pendingRefundToken: 't', orderId: 'GPA.1', refundReason: 1 },
        }),
      'pendingRefundReviewNotification',
      /no payment/,
    ],
    [
      'an unknown type of RevenueCat',
      () => revenuecat({ id: 'rc2', type: 'NEW_TYPE' }),
      'NEW_TYPE',
      /no payment/,
    ],
    [
      'the sandbox of RevenueCat',
      () => revenuecat({ id: 'rc3', environment: 'SANDBOX' }),
      'INITIAL_PURCHASE',
      /sandbox/,
    ],
  ])('shows %s', async (_, send, type, why) => {
    const answer = await send();
    expect(answer.status).toBe(200);
    const told = await answer.json<{ event_id: string | null; reason: string }>();
    expect(told).toMatchObject({ event_id: null, reason: expect.stringMatching(why) });
    const rows = (await debuggerOf()).cells(
      'Newest notifications of stores',
      'Type',
      'Verification',
      'Event',
    );
    expect(rows).toContainEqual([type, `Verified, not counted: ${told.reason}`, '–']);
    expect(await figures()).toEqual(before);
  });

  it.each<[string, () => Response | Promise<Response>, () => Response | Promise<Response>]>([
    [
      'the App Store',
      () =>
        notify(
          'ONE_TIME_CHARGE',
          { transactionId: 'a1', originalTransactionId: 'a1' },
          { notificationUUID: 'n1' },
        ),
      () =>
        notify(
          'ONE_TIME_CHARGE',
          { transactionId: 'a1', originalTransactionId: 'a1', price: 99_000 },
          { notificationUUID: 'n1' },
        ),
    ],
    ['RevenueCat', () => revenuecat(), () => revenuecat({ price_in_purchased_currency: 499 })],
  ])('counts a replay of %s once, and flags one with another value', async (_, replay, changed) => {
    for (const send of [replay, changed]) expect((await send()).status).toBe(200);
    const verified = (await debuggerOf()).cells('Newest notifications of stores', 'Verification').flat();
    expect(verified).toContain(
      'Verified, sent to be counted; arrived 2 more times; 1 of them with other values, which do not count',
    );
    expect(await figures()).toEqual(before);
  });

  it('keeps an id beyond 2^53', async () => {
    const text = JSON.stringify({ event: { ...EVENT, id: 'rc9', type: 'NEW_TYPE', transaction_id: 0 } });
    const body = text.replace('"transaction_id":0', '"transaction_id":"9007199254740993"');
    await post(`/stores/revenuecat/${secret}`, body, { Authorization: AUTHORIZATION });
    const data = { bundleId: 'com.example.game', environment: 'Production', appAppleId: 0 };
    const payload = JSON.stringify({ notificationType: 'TEST', notificationUUID: 'big', data });
    const sent = signAsApple(payload.replace('"appAppleId":0', `"appAppleId":9007199254740993`));
    await expectRefused(
      () => apple({ signedPayload: sent }),
      400,
      'POST /stores/apple/:secret',
      /another app/,
    );
    const ids = (await debuggerOf()).cells('Newest notifications of stores', 'Transaction').flat();
    expect(ids).toContain('9007199254740993');
  });
});

describe('impression callbacks', () => {
  const sent = { id: 'e2', revenue: '1' };
  it.each<Case>([
    ['an unknown secret', () => impression(sent, wrong()), 401, /Unknown or replaced intake secret/],
    [
      'no amount where the template says',
      () => impression({ id: 'e2', amount: '1' }),
      400,
      /revenue is required/,
    ],
    [
      'a macro that was not replaced',
      () => impression({ ...sent, revenue: '{REVENUE}' }),
      400,
      /revenue is required/,
    ],
    [
      'an amount that is none',
      () => impression({ ...sent, revenue: '1,5' }),
      400,
      /revenue must be a number/,
    ],
    ['an amount that is too large', () => impression({ ...sent, revenue: '1e30' }), 400, /revenue /],
    ['no id', () => impression({ revenue: '1' }), 400, /id is required/],
  ])('refuse %s', (_, send, status, why) => expectRefused(send, status, 'GET /impression/:secret', why));

  it('are GET requests: a body of 1 MB has no place to go', async () => {
    await expectRefused(
      () => post(`/impression/${secret}`, large()),
      405,
      'POST /impression/:secret',
      /^Method not allowed$/,
    );
    const answer = await post(`/impression/${secret}`, large());
    expect(answer.headers.get('Allow')).toBe('GET, HEAD');
    expect((await post(`/impression/${wrong()}`, large())).status).toBe(401);
  });

  it('count a replay once, whatever its value, and flag one with another value', async () => {
    await impression({ id: 'e9', revenue: '0.5' });
    before = await figures();
    for (const revenue of ['0.5', '99']) expect((await impression({ id: 'e9', revenue })).status).toBe(200);
    expect(await figures()).toEqual(before);
    const page = await debuggerOf();
    const shown = page
      .cells('Newest events', 'What', 'Status')
      .filter(([what]) => /0\.50|99/.test(what ?? ''));
    expect(shown.slice(0, 2)).toEqual([
      [expect.stringMatching(/99.*Another amount than the first time: .*0\.50.* counts/), 'Duplicate'],
      [expect.stringMatching(/0\.50(?!.*Another amount)/), 'Duplicate'],
    ]);
  });
});

describe('clicks and impressions of servers', () => {
  it.each<Case>([
    ['a wrong secret', () => serverSide({}, 'wrong'), 401, /s2s is not the secret of this link/],
    ['an unknown event', () => serverSide({ event: 'view' }), 400, /event must be one of/],
    ['an address that is none', () => serverSide({ ip: '{ip}' }), 400, /ip must be the IP address/],
    [
      'a time of long ago',
      () => serverSide({ time: '1700000000' }),
      400,
      /time must be a time of the last 28 days/,
    ],
    ['an id of 257 characters', () => serverSide({ id: 'x'.repeat(257) }), 400, /id must be at most 256/],
  ])('refuse %s', (_, send, status, why) => expectRefused(send, status, 'GET /t/:token', why));

  it('refuse a wrong secret with a body of 1 MB', () =>
    expectRefused(() => post(`${link}?s2s=wrong`, large()), 401, 'POST /t/:token', /s2s is not the secret/));

  it('know no other link', async () => {
    const answer = await get(link.replace(/[^/]+$/, OTHER_LINK), { s2s: linkSecret });
    expect([answer.status, await answer.json()]).toEqual([404, { success: false, error: 'Link not found' }]);
    expect(await figures()).toEqual(before);
  });

  it('are counted whatever their body is, which is not read', async () => {
    const counted = await post(`${link}?s2s=${linkSecret}&event=impression&id=n-2`, large());
    expect([counted.status, await counted.json()]).toMatchObject([200, { counted: true }]);
    worker.queue.take();
  });
});
