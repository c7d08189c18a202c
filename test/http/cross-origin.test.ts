import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetCredentials, INGESTION_PATHS } from '#http';
import { ingestionEndpoints } from '#ingestion/routes';
import { WatchedD1 } from '../helpers/d1.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
let origin: string;
beforeEach(async () => {
  forgetCredentials();
  // Origins of a deployment count together, so each test has its own.
  origin = `https://${crypto.randomUUID()}.example.com`;
  tenant = await createTenant({ allowed_origins: ['https://other.example.com', origin] });
});
afterEach(() => {
  vi.useRealTimers();
});

const preflight = (path: string, from: string, of: TestWorker = worker) =>
  of.request(path, {
    method: 'OPTIONS',
    headers: {
      Origin: from,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type,service-api-key',
    },
  });
const corsOf = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control')).sort();
const allowedOf = ({ headers }: Response) => headers.get('Access-Control-Allow-Origin');

it('knows every ingestion endpoint', () => {
  const paths = ingestionEndpoints.map(({ path }) => path);
  expect([...INGESTION_PATHS].sort()).toEqual([...new Set(paths)].sort());
});

describe('a preflight request', () => {
  it.each([...INGESTION_PATHS])('to %s is answered for an allowed origin', async (path) => {
    const answer = await preflight(path, origin);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers':
        'service-api-key, Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Request-Id',
      vary: 'Origin',
    });
    expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  });

  it.each([
    ['another origin', 'https://evil.test'],
    ['an origin that contains an allowed one', 'ORIGIN.evil.test'],
    ['another port', 'ORIGIN:8443'],
    ['no origin of its own', 'null'],
  ])('of %s is refused', async (_, from) => {
    const answer = await preflight('/webhook', from.replace('ORIGIN', origin));
    expect([answer.status, corsOf(answer), answer.headers.get('Vary')]).toEqual([405, [], 'Origin']);
  });

  it('of another scheme is refused', async () => {
    expect((await preflight('/webhook', origin.replace('https:', 'http:'))).status).toBe(405);
  });

  it.each([
    '/v1/applications',
    '/v1/creatives',
    '/v1/reports/performance',
    '/t/AAAAAAAAAAAAAAAAAAAAAA',
    '/health',
  ])('to %s is refused from any origin', async (path) => {
    const answer = await preflight(path, origin);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(corsOf(answer)).toEqual([]);
  });

  it('that asks for nothing is an OPTIONS request like any other', async () => {
    const answer = await worker.request('/webhook', { method: 'OPTIONS', headers: { Origin: origin } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('Access-Control-Allow-Methods')).toBeNull();
  });

  it('reads the database once a minute at most, whatever origins are invented', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const watched = new WatchedD1(env.DB);
    const service = startWorker({ DB: watched.asBinding() });
    for (let index = 0; index < 20; index++)
      await preflight('/webhook', `https://${index}.evil.test`, service);
    expect((await preflight('/webhook', origin, service)).status).toBe(204);
    expect(watched.statements).toBe(1);
    await env.DB.prepare(`UPDATE applications SET allowed_origins = '[]' WHERE id = ?`)
      .bind(tenant.application.id)
      .run();
    vi.advanceTimersByTime(60_000);
    expect((await preflight('/webhook', origin, service)).status).toBe(405);
    expect(watched.statements).toBe(2);
  });
});

describe('the answer to a page', () => {
  const ask = (path: string, init: RequestInit = {}, from = origin) =>
    worker.request(path, {
      ...init,
      headers: {
        Origin: from,
        'service-api-key': tenant.apiKey,
        'Content-Type': 'application/json',
        ...init.headers,
      },
    });
  const post = (path: string, body: unknown, more: RequestInit = {}, from = origin) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), ...more }, from);

  it('can be read by the origins of its application, on every endpoint', async () => {
    const token = await fetchToken(worker, tenant);
    const answers = await Promise.all([
      post('/fetch-token', deviceMetrics()),
      post('/fetch-token/batch', { devices: [deviceMetrics()] }),
      post('/verify-token', { token }),
      post('/webhook', envelope.ad(token)),
      post('/webhook/batch', { events: [envelope.ad(token)] }),
      ask('/check-data-collection-status'),
      ask('/auth'),
    ]);
    for (const answer of answers) {
      expect([answer.status, allowedOf(answer), answer.headers.get('Vary')]).toEqual([200, origin, 'Origin']);
      expect(answer.headers.get('Access-Control-Expose-Headers')).toBe(
        'X-Request-Id, X-Deep-Link, X-Warnings, Retry-After',
      );
    }
  });

  it('can be read if it is an error', async () => {
    const statuses: [number, Response][] = [
      [400, await post('/webhook', {})],
      [401, await post('/webhook', {}, { headers: { 'service-api-key': 'x' } })],
      [413, await post('/webhook', { ignored: 'x'.repeat(70_000) })],
      [415, await post('/webhook', {}, { headers: { 'Content-Encoding': 'br' } })],
    ];
    for (const [status, answer] of statuses) {
      expect([answer.status, allowedOf(answer), answer.headers.get('Vary')]).toEqual([
        status,
        origin,
        'Origin',
      ]);
    }
  });

  it('cannot be read by the origin of another application, though its preflight request is answered', async () => {
    const foreign = `https://${crypto.randomUUID()}.example.com`;
    await createTenant({ allowed_origins: [foreign] });
    forgetCredentials();
    expect((await preflight('/webhook', foreign)).status).toBe(204);
    const answer = await ask('/check-data-collection-status', {}, foreign);
    expect([answer.status, corsOf(answer), answer.headers.get('Vary')]).toEqual([200, [], 'Origin']);
    const unknown = await ask('/auth', { headers: { 'service-api-key': 'x' } }, 'https://evil.test');
    expect([unknown.status, corsOf(unknown), unknown.headers.get('Vary')]).toEqual([401, [], 'Origin']);
  });

  it('costs no statement of its own', async () => {
    const watched = new WatchedD1(env.DB);
    const service = startWorker({ DB: watched.asBinding() });
    const headers = { Origin: origin, 'service-api-key': tenant.apiKey };
    for (let index = 0; index < 3; index++) {
      expect(allowedOf(await service.request('/auth', { headers }))).toBe(origin);
    }
    expect(watched.statements).toBe(1);
  });

  it('of the team API cannot be read from any origin', async () => {
    const answer = await worker.request('/v1/applications', {
      headers: { Origin: origin, 'Service-Token': tenant.teamToken },
    });
    expect([answer.status, corsOf(answer)]).toEqual([200, []]);
  });

  it('says that it depends on the origin even without one', async () => {
    const answer = await worker.request('/auth', { headers: { 'service-api-key': tenant.apiKey } });
    expect(answer.headers.get('Vary')).toBe('Origin');
  });
});
