import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetCredentials } from '#http';
import { newApiKey } from '#lib/credentials';
import { WatchedD1 } from '../helpers/d1.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

// What every ingestion endpoint does alike: credentials, the order of the checks and the envelope of errors.

let worker: TestWorker;
let tenant: Tenant;
let token: string;
beforeAll(async () => {
  tenant = await createTenant();
  token = await fetchToken(startWorker(), tenant);
});
beforeEach(() => {
  forgetCredentials();
  worker = startWorker();
});

const wrongKey = { success: false, error: 'Invalid or missing API key' };
const tooLarge = (kib: number) => ({ success: false, error: `The body is larger than ${kib} KiB` });
/** A 400 that names at least this field. */
const faultAt = (path: string) =>
  expect.objectContaining({
    success: false,
    details: expect.arrayContaining([{ path, message: expect.any(String) }]),
  });
const denied = { success: false, error: 'Access denied for this resource' };
const endpoints = [
  {
    path: '/fetch-token',
    method: 'POST',
    body: () => deviceMetrics(),
    success: { token: expect.stringMatching(/^[\w.-]{40,}$/) },
    unauthenticated: { error: 'API key is not valid' },
  },
  {
    path: '/verify-token',
    method: 'POST',
    body: () => ({ token }),
    success: { success: true, valid: true },
    unauthenticated: wrongKey,
  },
  {
    path: '/check-data-collection-status',
    method: 'GET',
    body: () => undefined,
    success: { success: true, enabled: true },
    unauthenticated: wrongKey,
  },
  {
    path: '/webhook',
    method: 'POST',
    body: () => envelope.ad(token),
    success: { success: true, message: 'Webhook Received', event_id: expect.stringMatching(/^evt_/) },
    unauthenticated: wrongKey,
  },
  {
    path: '/webhook/batch',
    method: 'POST',
    body: () => ({ events: [envelope.ad(token)] }),
    success: {
      success: true,
      accepted: 1,
      rejected: 0,
      results: [{ index: 0, event_id: expect.stringMatching(/^evt_/) }],
    },
    unauthenticated: wrongKey,
  },
];
const posts = endpoints.filter(({ method }) => method === 'POST');
const collecting = posts.filter(({ path }) => path !== '/verify-token');

function send(path: string, method: string, headers: Record<string, string>, body?: unknown, on = worker) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return on.request(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: text }),
  });
}
const key = (from = tenant) => ({ 'service-api-key': from.apiKey });

describe.each(endpoints)('$method $path', ({ path, method, body, success, unauthenticated }) => {
  it('answers 200 to a valid key, whatever the case of the header name', async () => {
    for (const headers of [key(), { 'SERVICE-API-KEY': tenant.apiKey }]) {
      const answer = await send(path, method, headers as Record<string, string>, body());
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining(success)]);
    }
  });

  it.each([
    ['a missing key', {}],
    ['an unknown key', { 'service-api-key': newApiKey() }],
    ['an empty key', { 'service-api-key': '' }],
    ['an endless key', { 'service-api-key': 'x'.repeat(5000) }],
  ])('answers 401 to %s', async (_, headers) => {
    const answer = await send(path, method, headers as Record<string, string>, body());
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual(unauthenticated);
    expect(answer.headers.get('Link')).toBe(
      `</docs#${method.toLowerCase()}${path.replaceAll('/', '-')}>; rel="help"`,
    );
  });

  it('answers 401 to a team token instead of the key', async () => {
    const answer = await send(path, method, { 'service-api-key': tenant.teamToken }, body());
    expect([answer.status, await answer.json()]).toEqual([401, unauthenticated]);
  });

  it('returns a request id, the caller’s own if there is one, and no CORS header', async () => {
    const answer = await send(
      path,
      method,
      { ...key(), 'X-Request-Id': 'abc-1', Origin: 'https://evil.test' },
      body(),
    );
    expect(answer.headers.get('X-Request-Id')).toBe('abc-1');
    expect((await send(path, method, key(), body())).headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    for (const hostile of ['a b', '<script>', 'x'.repeat(256)]) {
      const made = await send(path, method, { ...key(), 'X-Request-Id': hostile }, body());
      expect(made.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('returns the security headers', async () => {
    const { status, headers } = await send(path, method, key(), body());
    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Content-Security-Policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000');
  });

  it('answers 405 with Allow to other methods', async () => {
    const answer = await send(path, 'DELETE', key());
    expect(answer.status).toBe(405);
    expect(answer.headers.get('Allow')).toBe(method === 'GET' ? 'GET, HEAD' : method);
    expect(await answer.json()).toEqual({ success: false, error: 'Method not allowed' });
  });

  it('answers 429 with Retry-After only beyond the limit', async () => {
    const limit = watchedLimit(() => true);
    const limited = startWorker({ API_KEY_LIMIT: limit.binding });
    const answer = await send(path, method, key(), body(), limited);
    expect(limit.keys).toEqual([tenant.application.id]);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('Retry-After')).toBe('10');
    expect(await answer.json()).toEqual({ success: false, error: 'Too many requests' });
  });

  it('answers 500 without any detail when the database fails', async () => {
    const broken = new Proxy(env.DB, {
      get: () => () => {
        throw new Error('D1_ERROR: secret sql at appkey_123');
      },
    });
    const answer = await send(path, method, key(), body(), startWorker({ DB: broken }));
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({ success: false, error: 'Unexpected error' });
  });
});

describe.each(posts)('POST $path', ({ path, body, success, unauthenticated }) => {
  it.each([
    ['text that is no JSON', '{"type":'],
    ['nothing but white space', '  '],
    ['a list', '[]'],
    ['a number', '12'],
    ['null', 'null'],
    ['a text', '"x"'],
  ])('answers 400 to a body of %s', async (_, text) => {
    const answer = await send(path, 'POST', key(), text);
    expect(answer.status).toBe(400);
    const { details }: { details: { path: string; message: string }[] } = await answer.json();
    expect(details.length).toBeGreaterThan(0);
    expect(details.every(({ message }) => message.length > 0)).toBe(true);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'answers 400 to the content type %j',
    async (type) => {
      const answer = await send(path, 'POST', { ...key(), 'Content-Type': type }, body());
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        details: [{ message: 'The Content-Type must be application/json' }],
      });
    },
  );

  it('accepts a content type with a charset', async () => {
    const headers = { ...key(), 'Content-Type': 'application/json; charset=utf-8' };
    const answer = await send(path, 'POST', headers, body());
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining(success)]);
  });

  it('checks the size before the key', async () => {
    const answer = await send(path, 'POST', {}, 'x'.repeat(1024 * 1024 + 1));
    const bytes = path === '/webhook/batch' ? 1024 : 64;
    expect([answer.status, await answer.json()]).toEqual([413, tooLarge(bytes)]);
  });

  it('checks the key before the body', async () => {
    const answer = await send(path, 'POST', {}, 'no json');
    expect([answer.status, await answer.json()]).toEqual([401, unauthenticated]);
  });
});

describe('an application whose data collection is switched off', () => {
  it.each(collecting)('gets 403 from $path before its body is read', async ({ path }) => {
    const off = await createTenant({ data_collection: false });
    const answer = await send(path, 'POST', key(off), 'no json');
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual(denied);
  });

  it('is reported by the status endpoint', async () => {
    const off = await createTenant({ data_collection: false });
    const answer = await send('/check-data-collection-status', 'GET', key(off));
    expect(await answer.json()).toMatchObject({ success: true, enabled: false });
  });
});

describe('limits of the body', () => {
  it('uses the declared length, or counts the chunks of a chunked body', async () => {
    const answerTo = async (headers: Record<string, string>, body: string) => {
      const answer = await send('/webhook', 'POST', { ...key(), ...headers }, body);
      return [answer.status, await answer.json()];
    };
    const refused = [413, tooLarge(64)];
    expect(await answerTo({ 'Content-Length': String(64 * 1024 + 1) }, '{}')).toEqual(refused);
    expect(await answerTo({ 'Content-Length': '2' }, '{}')).toEqual([400, faultAt('type')]);
    const chunked = { 'Content-Length': '2', 'Transfer-Encoding': 'chunked' };
    expect(await answerTo(chunked, '{}')).toEqual([400, faultAt('type')]);
    expect(await answerTo(chunked, 'x'.repeat(64 * 1024 + 1))).toEqual(refused);
  });

  it.each([
    ['/fetch-token', 200, { token: expect.any(String) }],
    ['/verify-token', 400, expect.objectContaining({ error: 'Token is required' })],
    ['/webhook', 400, faultAt('type')],
  ])('%s accepts at most 64 KiB', async (path, status, taken) => {
    const padded = (size: number) => {
      const text = JSON.stringify({ ...deviceMetrics(), pad: '' });
      return text.replace('"pad":""', `"pad":"${'x'.repeat(size - text.length)}"`);
    };
    const full = await send(path, 'POST', key(), padded(64 * 1024));
    expect([full.status, await full.json()]).toEqual([status, taken]);
    const over = await send(path, 'POST', key(), padded(64 * 1024 + 1));
    expect([over.status, await over.json()]).toEqual([413, tooLarge(64)]);
  });
});

describe('other paths', () => {
  it.each(['/nope', '/webhook/', '/webhook/batch/x', '/favicon.txt'])('%s is a 404 in JSON', async (path) => {
    const answer = await send(path, 'POST', key(), {});
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ success: false, error: 'Not found' });
  });

  it('answers with `message` under /v1', async () => {
    const answer = await send('/v1/nope', 'GET', {});
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ message: 'Not found' });
  });
});

describe('SERVICE_NAME', () => {
  it('renames both headers', async () => {
    const acme = startWorker({ SERVICE_NAME: 'acme' });
    const path = '/check-data-collection-status';
    const answerTo = async (where: string, headers: Record<string, string>) => {
      const answer = await send(where, 'GET', headers, undefined, acme);
      return [answer.status, await answer.json()];
    };
    const enabled = expect.objectContaining({ success: true, enabled: true });
    expect(await answerTo(path, { 'acme-api-key': tenant.apiKey })).toEqual([200, enabled]);
    expect(await answerTo(path, key())).toEqual([401, wrongKey]);
    const list = '/v1/applications';
    const own = expect.objectContaining({ data: [expect.objectContaining({ id: tenant.application.id })] });
    expect(await answerTo(list, { 'Acme-Token': tenant.teamToken })).toEqual([200, own]);
    const wrongToken = { message: 'Incorrect authentication token' };
    expect(await answerTo(list, { 'Service-Token': tenant.teamToken })).toEqual([401, wrongToken]);
  });

  it('must be valid in a header name, or every request fails', async () => {
    const answer = await send(
      '/check-data-collection-status',
      'GET',
      key(),
      undefined,
      startWorker({ SERVICE_NAME: 'a b' }),
    );
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { success: false, error: 'Unexpected error' },
    ]);
  });
});

describe('guessing keys', () => {
  it('is limited by address before the database is queried, while a known key keeps working', async () => {
    expect((await send('/webhook', 'POST', key(), envelope.ad(token))).status).toBe(200);
    const watched = new WatchedD1(env.DB);
    const limit = watchedLimit(() => true);
    const limited = startWorker({ UNKNOWN_CREDENTIAL_LIMIT: limit.binding, DB: watched.asBinding() });
    const headers = { 'service-api-key': newApiKey(), 'cf-connecting-ip': '192.0.2.7' };
    const answer = await send('/webhook', 'POST', headers, {}, limited);
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '10']);
    expect(await answer.json()).toEqual({ success: false, error: 'Too many requests' });
    expect((await send('/webhook', 'POST', key(), envelope.ad(token), limited)).status).toBe(200);
    expect(limit.keys).toEqual(['192.0.2.7']);
    expect(watched.log.filter((sql) => sql.includes('api_keys'))).toEqual([]);
  });

  it.each([
    ['another prefix', (apiKey: string) => apiKey.replace('appkey_', 'apikey_')],
    ['a character too few', (apiKey: string) => apiKey.slice(0, -1)],
    ['a character too many', (apiKey: string) => `${apiKey}A`],
    ['a character outside the alphabet', (apiKey: string) => `${apiKey.slice(0, 20)}.${apiKey.slice(21)}`],
    ['a last character that no 32 bytes end with', (apiKey: string) => `${apiKey.slice(0, -1)}B`],
    ['the prefix of a team token', (apiKey: string) => apiKey.replace('appkey_', 'teamtoken_')],
  ])('with %s uses neither the database nor a limit', async (_, spoil) => {
    const watched = new WatchedD1(env.DB);
    const [guesses, requests] = [watchedLimit(), watchedLimit()];
    const strict = startWorker({
      UNKNOWN_CREDENTIAL_LIMIT: guesses.binding,
      API_KEY_LIMIT: requests.binding,
      DB: watched.asBinding(),
    });
    const headers = { 'service-api-key': spoil(tenant.apiKey) };
    const answer = await send('/check-data-collection-status', 'GET', headers, undefined, strict);
    expect([answer.status, await answer.json()]).toEqual([401, wrongKey]);
    expect([...guesses.keys, ...requests.keys]).toEqual([]);
    expect(watched.log.filter((sql) => sql.includes('api_keys'))).toEqual([]);
  });
});
