import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { applications, database } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { newAccessToken } from '#lib/credentials';
import { decryptText } from '#lib/crypto';
import { newId } from '#lib/ids';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  tenant = await createTenant();
  stranger = await createTenant();
});

const defaults = {
  timezone: 'UTC',
  currency: 'usd',
  data_collection: true,
  ios_store_url: null,
  android_store_url: null,
  fallback_url: null,
  allowed_origins: [],
  apple_app_id_prefix: null,
  apple_bundle_id: null,
  android_fingerprints: [],
  attribution_window_hours: 168,
  probabilistic_window_hours: 24,
  view_window_hours: 24,
  fraud_rules: {
    click_after_install_began: { action: 'flag', threshold: null },
    fast_install: { action: 'flag', threshold: 10 },
    repeated_click: { action: 'flag', threshold: 1 },
    busy_address: { action: 'flag', threshold: 50 },
    different_click: { action: 'flag', threshold: 300 },
    click_flooding: { action: 'flag', threshold: 20 },
  },
  impression_template: null,
  meta_referrer_key_set: false,
  apple_ads: false,
  create_from_networks: false,
  google_push_account: null,
  revenuecat_authorization_set: false,
  store_fee: 0,
};

async function call(of: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(of, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('POST /v1/applications', () => {
  it('creates an application with defaults and shows its key once', async () => {
    const { status, body } = await call(tenant, 'POST', '/v1/applications', { name: ' Chess ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^app_[0-9a-f]{32}$/),
      name: 'Chess',
      ...defaults,
      created_at: expect.stringMatching(/Z$/),
      api_key: expect.stringMatching(/^appkey_[A-Za-z0-9_-]{43}$/),
    });
    const shown = await call(tenant, 'GET', `/v1/applications/${body.id}`);
    const { api_key, ...rest } = body;
    expect(shown.body).toEqual(rest);
    const headers = { 'service-api-key': String(api_key) };
    expect((await worker.request('/check-data-collection-status', { headers })).status).toBe(200);
  });

  it('stores the key hashed and encrypted, never in plain text', async () => {
    const { body } = await call(tenant, 'POST', '/v1/applications', { name: 'Go' });
    const rows = await env.DB.prepare('SELECT * FROM api_keys WHERE application_id = ?')
      .bind(body.id)
      .all<{ encrypted: string }>();
    expect(rows.results).toHaveLength(1);
    expect(JSON.stringify(rows.results)).not.toContain(String(body.api_key));
    expect(await decryptText(env.KEY_ENCRYPTION_SECRET, rows.results[0]?.encrypted ?? '')).toBe(body.api_key);
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, 'name is required'],
    [{ name: '' }, 'name is required'],
    [{ name: 'x'.repeat(256) }, 'name must be at most 255 characters'],
    [{ name: 'x', timezone: '+05:30' }, 'timezone must be an IANA time zone, such as Europe/Berlin'],
    [{ name: 'x', currency: 'zzz' }, 'currency must be a currency code (ISO 4217), such as eur'],
    [{ name: 'x', data_collection: 'no' }, 'data_collection must be true or false'],
    [{ name: 'x', apple_ads: 'on' }, 'apple_ads must be true or false'],
    [{ name: 'x', create_from_networks: 1 }, 'create_from_networks must be true or false'],
    [{ name: 'x', ios_store_url: 'http://example.com' }, 'ios_store_url must be an https URL'],
    [{ name: 'x', fallback_url: 'javascript:alert(1)' }, 'fallback_url must be an https URL'],
    ...[
      'https://a.test',
      ['*'],
      ['null'],
      ['a.test'],
      ['https://a.test/'],
      ['https://a.test/game'],
      ['https://A.test'],
      ['https://a.test:443'],
      ['https://user@a.test'],
      ['ftp://a.test'],
      ['https://*.a.test'],
      [`https://${'a'.repeat(300)}.test`],
      Array.from({ length: 21 }, (_, index) => `https://${index}.test`),
    ].map((allowed_origins): [Record<string, unknown>, string] => [
      { name: 'x', allowed_origins },
      'allowed_origins must be a list of at most 20 origins, such as https://play.example.com, without a path or a slash at the end',
    ]),
    ...['abcde12345', 'ABCDE1234', 'ABCDE12345.com.example'].map(
      (apple_app_id_prefix): [Record<string, unknown>, string] => [
        { name: 'x', apple_app_id_prefix },
        'apple_app_id_prefix must be 10 capital letters and digits, such as ABCDE12345',
      ],
    ),
    ...['', 'com..game', 'com.example/game'].map((apple_bundle_id): [Record<string, unknown>, string] => [
      { name: 'x', apple_bundle_id },
      'apple_bundle_id must be a bundle id, such as com.example.game',
    ]),
    [
      { name: 'x', android_fingerprints: ['91:D7'] },
      'android_fingerprints must be a list of at most 10 SHA-256 fingerprints, such as 91:D7:…, of 32 bytes each',
    ],
    [
      { name: 'x', fallback_url: `https://e.com/${'x'.repeat(2048)}` },
      'fallback_url must be at most 2048 characters',
    ],
    [
      { name: 'x', attribution_window_hours: 2161 },
      'attribution_window_hours must be a whole number from 1 to 2160',
    ],
    [
      { name: 'x', attribution_window_hours: 0 },
      'attribution_window_hours must be a whole number from 1 to 2160',
    ],
    [
      { name: 'x', probabilistic_window_hours: 1.5 },
      'probabilistic_window_hours must be a whole number from 0 to 2160',
    ],
    [{ name: 'x', view_window_hours: -1 }, 'view_window_hours must be a whole number from 0 to 2160'],
  ])('answers 400 to %j and names the fault', async (sent, message) => {
    const { status, body } = await call(tenant, 'POST', '/v1/applications', sent);
    expect(status).toBe(400);
    expect(body).toEqual({ message });
  });
});

describe('PATCH /v1/applications/:id', () => {
  it('changes only the fields that it names', async () => {
    const { application } = await createTenant();
    const of = await createTenant();
    const changes = {
      timezone: 'Asia/Tokyo',
      currency: 'JPY',
      android_store_url: 'https://play.google.com/store/apps/details?id=a.b',
    };
    const { status, body } = await call(of, 'PATCH', `/v1/applications/${of.application.id}`, changes);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...defaults, ...changes, currency: 'jpy', name: 'Test game' });
    expect((await call(of, 'PATCH', `/v1/applications/${of.application.id}`, {})).body).toEqual(body);
    expect(
      (await call(of, 'PATCH', `/v1/applications/${of.application.id}`, { android_store_url: null })).body,
    ).toMatchObject({ android_store_url: null });
    expect((await call(of, 'PATCH', `/v1/applications/${application.id}`, changes)).status).toBe(404);
  });

  it('names what is wrong', async () => {
    const { status, body } = await call(tenant, 'PATCH', `/v1/applications/${tenant.application.id}`, {
      name: '',
    });
    expect([status, body]).toEqual([400, { message: 'name is required' }]);
  });
});

it('creates at most 100 applications per team', async () => {
  const of = await createTenant();
  const rows = Array.from({ length: 98 }, (_, index) => ({
    id: newId('app'),
    teamId: of.team.id,
    name: `Game ${index}`,
    createdAt: index,
  }));
  const db = database(env.DB);
  for (const part of chunksOf(rows, 5)) await db.insert(applications).values(part);
  expect((await call(of, 'POST', '/v1/applications', { name: 'The last' })).status).toBe(201);
  const refused = await call(of, 'POST', '/v1/applications', { name: 'One more' });
  expect([refused.status, refused.body]).toEqual([409, { message: 'A team has at most 100 applications' }]);
  expect((await call(tenant, 'POST', '/v1/applications', { name: 'Another team’s' })).status).toBe(201);
});

describe('GET /v1/applications', () => {
  it('lists only the team’s applications, page by page', async () => {
    const of = await createTenant();
    const names = ['b', 'c', 'd'];
    for (const name of names) await call(of, 'POST', '/v1/applications', { name });
    const seen: unknown[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await call(of, 'GET', `/v1/applications?limit=2&cursor=${cursor}`);
      seen.push(...(body.data as { name: string }[]).map(({ name }) => name));
      if (body.next_cursor === null) break;
      cursor = String(body.next_cursor);
    }
    expect(seen).toEqual(['Test game', ...names]);
    // A page that is not full is the last.
    expect((await call(of, 'GET', '/v1/applications?limit=5')).body.next_cursor).toBeNull();
  });

  it.each([
    ['limit=0', 'limit must be a whole number from 1 to 200'],
    ['limit=201', 'limit must be a whole number from 1 to 200'],
    ['limit=x', 'limit must be a whole number from 1 to 200'],
    [`cursor=${'x'.repeat(129)}`, 'cursor must be a cursor returned by a previous request'],
  ])('answers 400 to ?%s', async (query, message) => {
    const { status, body } = await call(tenant, 'GET', `/v1/applications?${query}`);
    expect([status, body]).toEqual([400, { message }]);
  });
});

describe('POST /v1/applications/:id/api-key', () => {
  it('replaces the key at once or after a grace period', async () => {
    const { status, body } = await call(tenant, 'POST', `/v1/applications/${tenant.application.id}/api-key`, {
      grace_hours: 24,
    });
    expect(status).toBe(201);
    expect(body).toEqual({ api_key: expect.stringMatching(/^appkey_/) });
    expect(body.api_key).not.toBe(tenant.apiKey);
    for (const key of [tenant.apiKey, String(body.api_key)]) {
      const answer = await worker.request('/check-data-collection-status', {
        headers: { 'service-api-key': key },
      });
      expect(answer.status).toBe(200);
    }
  });

  it.each([-1, 73, '1'])('answers 400 to a grace period of %j', async (grace_hours) => {
    const { status, body } = await call(tenant, 'POST', `/v1/applications/${tenant.application.id}/api-key`, {
      grace_hours,
    });
    expect([status, body]).toEqual([400, { message: 'grace_hours must be a number from 0 to 72' }]);
  });

  it('leaves the grace periods of earlier keys unchanged', async () => {
    const of = await createTenant();
    const replace = async (grace_hours: number) =>
      (await call(of, 'POST', `/v1/applications/${of.application.id}/api-key`, { grace_hours })).body;
    const before = Date.now();
    await replace(1);
    await replace(48);
    const rows = await env.DB.prepare(
      'SELECT created_at, expires_at FROM api_keys WHERE application_id = ? ORDER BY coalesce(expires_at, 9e15)',
    )
      .bind(of.application.id)
      .all<{ expires_at: number | null }>();
    const hours = rows.results.map(({ expires_at }) =>
      expires_at === null ? null : Math.floor((expires_at - before) / 3_600_000),
    );
    expect(hours).toEqual([1, 48, null]);
  });

  it('needs no body', async () => {
    const headers = { 'Service-Token': tenant.teamToken };
    const path = `/v1/applications/${tenant.application.id}/api-key`;
    expect((await worker.request(path, { method: 'POST', headers })).status).toBe(201);
  });
});

const routes = [
  { method: 'GET', path: '', success: 200, shows: { name: 'Test game' } },
  { method: 'PATCH', path: '', body: { name: 'stolen' }, success: 200, shows: { name: 'stolen' } },
  {
    method: 'POST',
    path: '/api-key',
    body: {},
    success: 201,
    shows: { api_key: expect.stringMatching(/^appkey_/) },
  },
];

describe.each(routes)('$method /v1/applications/:id$path', ({ method, path, body, success, shows }) => {
  it('is a 404 to another team, as if it did not exist', async () => {
    const theirs = await call(stranger, method, `/v1/applications/${tenant.application.id}${path}`, body);
    const none = await call(stranger, method, `/v1/applications/app_${'0'.repeat(32)}${path}`, body);
    expect(theirs).toEqual({ status: 404, body: { message: 'Application not found' } });
    expect(none).toEqual(theirs);
    // The same call by the application's own team succeeds.
    const own = await createTenant();
    const answer = await call(own, method, `/v1/applications/${own.application.id}${path}`, body);
    expect(answer).toEqual({ status: success, body: expect.objectContaining(shows) });
  });

  it('is a 401 without a token, or with the key of an application', async () => {
    for (const credential of ['', 'teamtoken_unknown', newAccessToken(), tenant.apiKey]) {
      const answer = await worker.request(`/v1/applications/${tenant.application.id}${path}`, {
        method,
        headers: { 'Service-Token': credential, 'Content-Type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { message: 'Incorrect authentication token' },
      ]);
    }
  });
});
