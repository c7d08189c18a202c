import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AppEnv } from '#http';
import { listRejections, pruneRejections } from '#ingestion';
import { noteRejectedItems } from '../../src/ingestion/rejections.ts';
import { service } from '../../src/service.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();

afterEach(() => {
  vi.useRealTimers();
});

const purchase = (creativeToken: string, payload: object = {}) => ({
  type: 'custom.purchase',
  created_at: '2026-03-01 10:00:00',
  creativeToken,
  payload: { item_id: 'a', item_name: 'A', value: 1, currency: 'usd', status: 'completed', ...payload },
});

it('counts rejections by error and endpoint, and keeps the invalid values of the last one', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  await worker.post(tenant, '/webhook', purchase(token, { value: -1 }));
  await worker.post(tenant, '/webhook', purchase(token, { value: -2, item_name: 'Personal data' }));
  await worker.post(tenant, '/webhook/batch', { events: [purchase(token, { value: -3 }), purchase(token)] });
  const rows = await listRejections(env.DB, tenant.application.id);
  expect(rows.map(({ endpoint, status, error, count }) => ({ endpoint, status, error, count }))).toEqual(
    expect.arrayContaining([
      { endpoint: 'POST /webhook', status: 400, error: 'payload.value must not be negative', count: 2 },
      { endpoint: 'POST /webhook/batch', status: 400, error: 'payload.value must not be negative', count: 1 },
    ]),
  );
  const single = rows.find(({ endpoint }) => endpoint === 'POST /webhook');
  expect(single?.sample).toMatchObject({
    type: 'custom.purchase',
    values: [{ path: 'payload.value', value: '-2' }],
  });
  expect(JSON.stringify(rows)).not.toContain('Personal data');
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(JSON.stringify(rows)).not.toContain(tenant.apiKey);
});

it('never keeps a token or key, valid or not', async () => {
  const tenant = await createTenant();
  await worker.post(tenant, '/webhook', purchase('forged-token-of-someone'));
  await worker.post({ apiKey: 'wrong-key-of-someone' }, '/webhook', purchase('x'));
  const { results } = await env.DB.prepare('SELECT * FROM rejections').all();
  expect(results.length).toBeGreaterThan(0);
  expect(JSON.stringify(results)).not.toContain('of-someone');
});

it('shows no rejections of another application', async () => {
  const [mine, theirs] = [await createTenant(), await createTenant()];
  await worker.post(theirs, '/webhook', { type: 'custom' });
  expect(await listRejections(env.DB, mine.application.id)).toEqual([]);
  expect(await listRejections(env.DB, theirs.application.id)).toHaveLength(1);
});

it('adds no statement to an accepted request', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  await worker.post(tenant, '/webhook', purchase(token));
  const db = new WatchedD1(env.DB);
  const watched = startWorker({ DB: db.asBinding() });
  expect((await watched.post(tenant, '/webhook', purchase(token))).status).toBe(200);
  expect(db.statements).toBe(0);
});

it('answers the same when the rejection cannot be stored', async () => {
  const tenant = await createTenant();
  const db = new WatchedD1(env.DB);
  db.failOn(/into "rejections"/, 'D1_ERROR: overloaded', { times: 5 });
  const failing = startWorker({ DB: db.asBinding() });
  const answer = await failing.post(tenant, '/webhook', { type: 'custom' });
  expect(answer.status).toBe(400);
  expect(await listRejections(env.DB, tenant.application.id)).toEqual([]);
});

it('shows values of own properties only, whatever their names', async () => {
  const tenant = await createTenant();
  const creativeToken = await fetchToken(worker, tenant);
  const good = envelope.ad(creativeToken);
  const bodies = ['constructor', '__proto__', 'toString', 'hasOwnProperty'].map((name) =>
    JSON.parse(
      `{"type":"custom","created_at":"x","creativeToken":"${creativeToken}","payload":{"event_name":"","${name}":[]}}`,
    ),
  );
  const answer = await worker.post(tenant, '/webhook/batch', { events: [good, ...bodies] });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ accepted: 1, rejected: 4 });
  const [row] = await listRejections(env.DB, tenant.application.id);
  expect(row?.sample.values).toEqual([
    { path: 'created_at', value: '"x"' },
    { path: 'payload.event_name', value: '""' },
  ]);
});

it('hides the addresses, ids and keys of a refused item', async () => {
  const tenant = await createTenant();
  const hidden = { ip: '203.0.113.9', device_id: 'person-1', event_key: 'key-1', creative_token: 'token-1' };
  const paths = Object.keys(hidden).map((name) => `data.${name}`);
  const details = [...paths, 'data.shipping'].map((path) => ({ path, message: 'is invalid' }));
  const ctx = createExecutionContext();
  const app = new Hono<AppEnv>().post('/webhook/batch', (c) => {
    c.set('application', tenant.application);
    noteRejectedItems(c, [{ data: { ...hidden, shipping: 'ship' } }], [{ index: 0, error: 'x', details }]);
    return c.body(null);
  });
  await app.request('/webhook/batch', { method: 'POST' }, worker.bindings, ctx);
  await waitOnExecutionContext(ctx);
  const [row] = await listRejections(env.DB, tenant.application.id);
  expect(row?.sample.values).toEqual([
    ...paths.map((path) => ({ path, value: 'hidden' })),
    { path: 'data.shipping', value: '"ship"' },
  ]);
});

it('never turns an accepted batch into an error', async () => {
  const tenant = await createTenant();
  const creativeToken = await fetchToken(worker, tenant);
  const ctx = createExecutionContext();
  const waitUntil = vi.spyOn(ctx, 'waitUntil').mockImplementation(() => {
    throw new Error('broken on purpose');
  });
  const answer = await service.request(
    '/webhook/batch',
    {
      method: 'POST',
      headers: { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ events: [envelope.ad(creativeToken), {}] }),
    },
    worker.bindings,
    ctx,
  );
  expect(waitUntil).toHaveBeenCalled();
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ accepted: 1, rejected: 1 });
});

describe('a flood of refused requests', () => {
  const WINDOW_MS = 10_000;
  let windows = 0;

  /** A worker at the start of a window; `writes` are those to the table of refused requests, `noted` how many it has of an application. */
  function startWindow() {
    const db = new WatchedD1(env.DB);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * ++windows * WINDOW_MS });
    return {
      flooded: startWorker({ DB: db.asBinding() }),
      writes: () => db.log.filter((sql) => /insert into "rejections"/i.test(sql)).length,
      noted: async (applicationId: string) =>
        env.DB.prepare('SELECT coalesce(sum(count), 0) AS n FROM rejections WHERE application_id = ?')
          .bind(applicationId)
          .first<number>('n'),
      /** Lets the window end. */
      wait: () => vi.setSystemTime(Date.now() + WINDOW_MS),
    };
  }

  it('is written a few times in ten seconds, and counted in full', async () => {
    const tenant = await createTenant();
    const { flooded, writes, noted, wait } = startWindow();
    const refuse = async () =>
      expect((await flooded.post(tenant, '/webhook', { type: 'custom' })).status).toBe(400);
    for (let request = 0; request < 30; request++) await refuse();
    expect(writes()).toBe(11);
    wait();
    await refuse();
    expect(writes()).toBe(12);
    expect(await noted(tenant.application.id)).toBe(31);
  });

  it('is written after the clock was set back', async () => {
    const tenant = await createTenant();
    const { flooded, writes } = startWindow();
    const refuse = () => flooded.post(tenant, '/webhook', { type: 'custom' });
    for (let request = 0; request < 12; request++) await refuse();
    await flooded.post({ apiKey: 'wrong' }, '/webhook', {});
    expect(writes()).toBe(12);
    vi.setSystemTime(Date.now() - 3_600_000);
    await refuse();
    await flooded.post({ apiKey: 'wrong' }, '/webhook', {});
    expect(writes()).toBe(14);
  });

  it('is written once in ten seconds if no key is valid, and counted in full', async () => {
    const { flooded, writes, noted, wait } = startWindow();
    const before = (await noted('')) ?? 0;
    const refuse = async () =>
      expect((await flooded.post({ apiKey: 'wrong' }, '/webhook', {})).status).toBe(401);
    for (let request = 0; request < 5; request++) await refuse();
    expect(writes()).toBe(1);
    wait();
    await refuse();
    expect(writes()).toBe(2);
    expect(await noted('')).toBe(before + 6);
  });
});

it('keeps only the newest kinds of each application, and none of long ago', async () => {
  const now = Date.now();
  const insert = env.DB.prepare(
    `INSERT INTO rejections (application_id, endpoint, status, error, count, first_at, last_at, sample)
     SELECT ?1, 'POST /webhook', 400, 'error ' || value, 1, 1, ?2 - value, '{}' FROM json_each(?3)`,
  );
  const numbers = JSON.stringify(Array.from({ length: 150 }, (_, index) => index));
  await insert.bind('app_many', now, numbers).run();
  await insert.bind('app_old', now - 15 * 86_400_000, '[1]').run();
  await insert.bind('app_few', now - 86_400_000, '[1]').run();
  await pruneRejections(env.DB, now);
  const { results } = await env.DB.prepare(
    `SELECT application_id AS id, count(*) AS kinds, max(error) AS last FROM rejections
     WHERE application_id IN ('app_many', 'app_old', 'app_few') GROUP BY 1 ORDER BY 1`,
  ).all();
  expect(results).toEqual([
    { id: 'app_few', kinds: 1, last: 'error 1' },
    { id: 'app_many', kinds: 100, last: 'error 99' },
  ]);
});
