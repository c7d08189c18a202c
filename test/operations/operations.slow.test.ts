import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { database } from '#db';
import type { Bucket } from '#lake';
import { newApiKey } from '#lib/credentials';
import { isSampled } from '#lib/log-sample';
import { createApplication, listApplications } from '#teams';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { copyDatabase } from '../helpers/d1-copy.ts';
import { envelope } from '../helpers/envelopes.ts';
import { FaultyBucket } from '../helpers/lake.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { parkMessage } from '../helpers/parked.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

afterEach(() => vi.restoreAllMocks());

type Listed = { data: { id: string; reason: string }[]; next_cursor: string | null };

async function listParked(worker: TestWorker, tenant: Tenant, query = ''): Promise<Listed> {
  return (await worker.team(tenant, `/v1/parked${query}`)).json();
}

async function health(worker: TestWorker, tenant: Tenant) {
  return (await (await worker.team(tenant, '/v1/health')).json()) as Record<string, unknown>;
}

/** Sends an ad view and lets the queue give up on it. */
async function park(worker: TestWorker, tenant: Tenant): Promise<void> {
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  await worker.deliver(worker.queue.take());
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  await worker.deliver(worker.queue.take(), 'attribution-events-dead');
}

async function impressions(worker: TestWorker, tenant: Tenant): Promise<number> {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const report: { totals: { impressions: number } } = await (await worker.team(tenant, path)).json();
  return report.totals.impressions;
}

describe('parked messages', () => {
  it('are listed page by page, replayed to the right totals, and discarded', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    for (let index = 0; index < 3; index++) await park(worker, tenant);
    expect(await impressions(worker, tenant)).toBe(0);
    expect(await health(worker, tenant)).toMatchObject({ status: 'degraded', parked_messages: 3 });
    const first = await listParked(worker, tenant, '?limit=2');
    const second = await listParked(worker, tenant, `?limit=2&cursor=${first.next_cursor}`);
    expect(second.next_cursor).toBeNull();
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(first.data[0]?.reason).toBe('could not be delivered to the log: every attempt failed');
    const [one = '', two = '', three = ''] = ids;
    for (const id of [one, two]) {
      expect((await worker.team(tenant, `/v1/parked/${id}/replay`, { method: 'POST' })).status).toBe(200);
    }
    const sent = worker.queue.take();
    await worker.deliver([...sent, ...sent]);
    expect(await impressions(worker, tenant)).toBe(2);
    expect(await health(worker, tenant)).toMatchObject({ status: 'degraded', parked_messages: 1 });
    expect((await worker.team(tenant, `/v1/parked/${three}`, { method: 'DELETE' })).status).toBe(200);
    expect((await worker.team(tenant, `/v1/parked/${three}`, { method: 'DELETE' })).status).toBe(404);
    expect((await worker.team(tenant, `/v1/parked/${one}/replay`, { method: 'POST' })).status).toBe(404);
    expect(await health(worker, tenant)).toMatchObject({
      status: 'ok',
      parked_messages: 0,
      pending_events: 0,
    });
    expect(await impressions(worker, tenant)).toBe(2);
  });

  it('stay parked when the queue fails, and are visible to no other team', async () => {
    const worker = startWorker();
    const [tenant, stranger] = [await createTenant(), await createTenant()];
    await park(worker, tenant);
    const [{ id } = { id: '' }] = (await listParked(worker, tenant)).data;
    expect((await listParked(worker, stranger)).data).toEqual([]);
    expect(await health(worker, stranger)).toMatchObject({ status: 'ok', parked_messages: 0 });
    for (const [path, method] of [
      [`/v1/parked/${id}/replay`, 'POST'],
      [`/v1/parked/${id}`, 'DELETE'],
    ] as const) {
      expect((await worker.team(stranger, path, { method })).status).toBe(404);
    }
    worker.queue.failures = 3;
    const answer = await worker.team(tenant, `/v1/parked/${id}/replay`, { method: 'POST' });
    expect(answer.status).toBe(500);
    expect(answer.headers.get('Retry-After')).toBe('1');
    expect((await listParked(worker, tenant)).data).toHaveLength(1);
    expect((await worker.team(tenant, '/v1/parked?cursor=x')).status).toBe(400);
  });

  it('that are empty can only be discarded', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const id = await parkMessage(tenant.application.id, { body: '' });
    const answer = await worker.team(tenant, `/v1/parked/${id}/replay`, { method: 'POST' });
    expect(answer.status).toBe(409);
    expect(JSON.stringify(await answer.json())).toContain('This message is empty and can only be discarded');
    expect(worker.queue.take()).toEqual([]);
    expect((await listParked(worker, tenant)).data).toHaveLength(1);
    expect((await worker.team(tenant, `/v1/parked/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await listParked(worker, tenant)).data).toEqual([]);
  });
});

/** A device of an application in its counter, without the public API. */
async function startCounting(tenant: Tenant) {
  const counter = startCounter(tenant.application.id);
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('one shard');
  const { device } = created;
  return { ...counter, ad: () => eventOf(tenant.application.id, device, 'custom.ad') };
}

describe('the health of counting', () => {
  it('is degraded if events should have been counted fifteen minutes ago, for their own team only', async () => {
    const worker = startWorker();
    const [tenant, stranger] = [await createTenant(), await createTenant()];
    const { append, ad, inside } = await startCounting(tenant);
    await impressions(worker, tenant);
    expect(await health(worker, tenant)).toMatchObject({
      status: 'ok',
      pending_events: 0,
      pending_for_ms: 0,
      is_complete: true,
    });
    await append([ad()]);
    const age = async (minutes: number) => {
      const appendedAt = Date.now() - minutes * 60_000;
      await inside((counter, state) => {
        state.storage.sql.exec('UPDATE log SET appended_at = ?', appendedAt);
        counter.use(state.storage);
      });
      return (await health(worker, tenant)).status;
    };
    expect(await age(59)).toBe('ok');
    expect(await age(61)).toBe('degraded');
    const own = { status: 'degraded', application_id: tenant.application.id, pending_events: 1 };
    expect(await health(worker, tenant)).toMatchObject({ pending_events: 1, applications: [own] });
    expect(await health(worker, stranger)).toMatchObject({
      status: 'ok',
      pending_events: 0,
      pending_for_ms: 0,
      applications: [{ application_id: stranger.application.id, pending_events: 0 }],
    });
    // Looking counted nothing.
    expect(await health(worker, tenant)).toMatchObject({ pending_events: 1 });
  });

  it('reports sums that the database does not accept, and counters that do not respond', async () => {
    const tenant = await createTenant();
    const { append, ad, inside } = await startCounting(tenant);
    const db = new WatchedD1(env.DB);
    db.failOn(/INSERT INTO "counter_flushes"/, 'D1_ERROR: overloaded', { times: 100 });
    await inside((counter) => {
      counter.db = db.asBinding();
    });
    await append([ad()]);
    const worker = startWorker();
    await impressions(worker, tenant);
    expect(await health(worker, tenant)).toMatchObject({
      applications: [
        {
          pending_events: 0,
          unwritten_parts: 1,
          write_error: 'The database did not accept the counted sums; the counter will retry.',
        },
      ],
    });
    const counters = new WatchedCounters(({ method }) =>
      method === 'health' ? Promise.reject(new Error('down')) : undefined,
    );
    const silent = startWorker({ COUNTERS: counters.asBinding() });
    expect(await health(silent, tenant)).toMatchObject({
      status: 'degraded',
      applications: [{ status: 'degraded', pending_events: null, counted_through: null }],
    });
  });

  it('stops counting after a restore of the database, says so, and resumes on request', async () => {
    const [tenant, stranger] = [await createTenant(), await createTenant()];
    const { append, ad, inside } = await startCounting(tenant);
    const worker = startWorker();
    const moveAhead = async () => {
      await env.DB.prepare('UPDATE counter_flushes SET sequence = sequence + 2 WHERE counter = ?')
        .bind(`${tenant.application.id}:0`)
        .run();
    };
    const count = async () => {
      await append([ad()]);
      return impressions(worker, tenant);
    };
    const resume = (by = tenant) =>
      worker.team(by, `/v1/applications/${tenant.application.id}/resume-counting`, { method: 'POST' });
    expect(await count()).toBe(1);
    const setBack = await copyDatabase();
    for (let round = 2; round <= 3; round++) expect(await count()).toBe(round);
    const needsResume = async () => {
      const answer = (await health(worker, tenant)) as { status: string; applications: object[] };
      return { status: answer.status, ...answer.applications[0] };
    };
    // The database behind by two parts, then a counter that is behind by two.
    for (const { lose, counted, missing, resumed } of [
      { lose: setBack, counted: 1, missing: 0, resumed: 5 },
      { lose: moveAhead, counted: 5, missing: 2, resumed: 7 },
    ]) {
      await lose();
      expect(await count()).toBe(counted);
      expect(await needsResume()).toMatchObject({
        status: 'degraded',
        needs_resume: true,
        write_error:
          'The database and this counter disagree about what was written, as after a restore. Nothing more is written until counting is resumed: POST /v1/applications/:id/resume-counting.',
        unwritten_parts: 1,
      });
      expect((await resume(stranger)).status).toBe(404);
      // The alarm tries again, but never resumes by itself.
      await inside((counter) => counter.alarm());
      expect(await count()).toBe(counted);
      const none = { counters: 0, missing_parts: 0, creatives: 0, missing_files: 0 };
      expect(await (await resume()).json()).toEqual({ ...none, counters: 1, missing_parts: missing });
      expect(await needsResume()).toMatchObject({ status: 'ok', needs_resume: false, write_error: null });
      expect(await impressions(worker, tenant)).toBe(resumed);
      expect(await (await resume()).json()).toEqual(none);
      expect(await impressions(worker, tenant)).toBe(resumed);
    }
    expect(await count()).toBe(8);
    const { results } = await env.DB.prepare(
      "SELECT subject FROM audit_log WHERE team_id = ? AND action = 'counting.resumed'",
    )
      .bind(tenant.team.id)
      .all();
    expect(results.length).toBe(4);
  });

  it('resumes after a restore to before the counter’s first write', async () => {
    const tenant = await createTenant();
    const { append, ad } = await startCounting(tenant);
    const worker = startWorker();
    const setBack = await copyDatabase();
    await append([ad()]);
    expect(await impressions(worker, tenant)).toBe(1);
    await setBack();
    await append([ad()]);
    expect(await impressions(worker, tenant)).toBe(0);
    const path = `/v1/applications/${tenant.application.id}/resume-counting`;
    expect(await (await worker.team(tenant, path, { method: 'POST' })).json()).toMatchObject({ counters: 1 });
    expect(await impressions(worker, tenant)).toBe(2);
  });

  it('is degraded while raw events cannot be written to R2', async () => {
    const tenant = await createTenant();
    const { append, ad, inside } = await startCounting(tenant);
    await append([ad()]);
    const worker = startWorker();
    await impressions(worker, tenant);
    const exportWith = (bucket: Bucket) =>
      inside(async (counter, state) => {
        counter.bucket = bucket;
        state.storage.sql.exec('UPDATE log SET appended_at = 0');
        await counter.alarm();
      });
    const bucket = new FaultyBucket(env.RAW_EVENTS, 'always');
    await exportWith(bucket);
    const failing = {
      export_error: 'Raw events could not be written to R2 or read from it; the counter will retry.',
      unexported_events: 2,
    };
    expect(await health(worker, tenant)).toMatchObject({
      status: 'degraded',
      applications: [{ status: 'degraded', pending_events: 0, ...failing }],
    });
    await exportWith(env.RAW_EVENTS);
    expect(await health(worker, tenant)).toMatchObject({
      status: 'ok',
      applications: [{ export_error: null, unexported_events: 0 }],
    });
  });

  it('queries at most as many counters as one request may, and says if it did not query all', async () => {
    const tenant = await createTenant();
    await env.DB.prepare('UPDATE applications SET shards = 64 WHERE id = ?')
      .bind(tenant.application.id)
      .run();
    const caller = { db: database(env.DB), team: tenant.team, actor: 'test', now: Date.now() };
    for (let index = 0; index < 8; index++) {
      const wanted = { name: `Game ${index}` };
      const { application } = await createApplication(caller, wanted, env.KEY_ENCRYPTION_SECRET);
      await env.DB.prepare('UPDATE applications SET shards = 64 WHERE id = ?').bind(application.id).run();
    }
    const none = { pending: 0, oldestPendingAt: null, countedThrough: 0, slowestMs: null, outbox: 0 };
    const counters = new WatchedCounters(() => Promise.resolve(none));
    const answer = await health(startWorker({ COUNTERS: counters.asBinding() }), tenant);
    expect(counters.calls).toHaveLength(7 * 64);
    expect(answer).toMatchObject({ is_complete: false });
    expect(answer.applications).toHaveLength(7);
    // As many as one request may query, with no application left out.
    const [, ...others] = (
      await listApplications(caller.db, tenant.team.id, { limit: 20, cursor: '' })
    ).slice(7);
    for (const { id } of others) await env.DB.prepare('DELETE FROM applications WHERE id = ?').bind(id).run();
    await env.DB.prepare(
      'UPDATE applications SET shards = 52 WHERE id = (SELECT max(id) FROM applications WHERE team_id = ?)',
    )
      .bind(tenant.team.id)
      .run();
    const whole = await health(startWorker({ COUNTERS: counters.asBinding() }), tenant);
    expect(whole).toMatchObject({ is_complete: true });
    expect(whole.applications).toHaveLength(8);
  });
});

it('redirects a flood of clicks and counts none of them', async () => {
  let clicks = 0;
  const limit = watchedLimit((key) => key === '203.0.113.5' && ++clicks > 1);
  const worker = startWorker({ CLICK_LIMIT: limit.binding });
  const creative = await createCreative(worker, await createTenant(STORES));
  const first = await follow(worker, creative.path, ANDROID_AGENT, '203.0.113.5');
  const second = await follow(worker, creative.path, ANDROID_AGENT, '203.0.113.5');
  expect(limit.keys).toEqual(['lookup:203.0.113.5', '203.0.113.5', '203.0.113.5']);
  expect([first.messages.length, second.messages.length]).toEqual([1, 0]);
  const sentOn = await worker.request(creative.path, {
    redirect: 'manual',
    headers: { 'User-Agent': ANDROID_AGENT },
  });
  const store = new URL(sentOn.headers.get('Location') ?? '');
  store.searchParams.delete('referrer');
  expect([sentOn.status, store.href]).toEqual([302, STORES.android_store_url]);
});

it('puts the security headers on every kind of answer', async () => {
  const worker = startWorker();
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const paths = [
    '/health',
    '/nowhere',
    '/webhook',
    '/v1/applications',
    '/docs',
    '/login',
    creative.path,
    '/t/none',
  ];
  for (const path of paths) {
    const { headers } = await worker.request(path, {
      redirect: 'manual',
      headers: { 'User-Agent': ANDROID_AGENT },
    });
    expect(headers.get('X-Content-Type-Options'), path).toBe('nosniff');
    expect(headers.get('Content-Security-Policy')?.split('; '), path).toContain("default-src 'none'");
    expect(headers.get('Referrer-Policy'), path).toBe(path === '/login' ? 'same-origin' : 'no-referrer');
    expect(headers.get('Strict-Transport-Security'), path).toBe('max-age=31536000');
    expect(headers.get('Cache-Control'), path).toBe('no-store');
  }
});

it('logs a busy session without any key, token, body or address', async () => {
  // Of what goes right 1 in 100 is logged: these are.
  const sampledId = Array.from({ length: 10_000 }, (_, index) => `request-${index}`).find(isSampled) ?? '';
  const logged = { 'X-Request-Id': sampledId };
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) =>
      lines.push(parts.map(String).join(' ')),
    );
  }
  const db = new WatchedD1(env.DB);
  let failures = 0;
  const counters = new WatchedCounters(({ method }) =>
    method === 'append' && failures-- > 0
      ? Promise.reject(Object.assign(new Error('Network connection lost.'), { retryable: true }))
      : undefined,
  );
  const worker = startWorker({ DB: db.asBinding(), COUNTERS: counters.asBinding() });
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const address = '203.0.113.77';
  await follow(worker, creative.path, ANDROID_AGENT, address);
  const token = await fetchToken(worker, tenant, {
    data: { device_id: 'a-secret-device', device_name: 'Jane' },
  });
  for (const body of [
    envelope.ad(token),
    envelope.ad('forged-token'),
    envelope.custom(token, {}, { event_name: 'secret-name' }),
  ]) {
    await worker.post(tenant, '/webhook', body, { ...logged, 'Idempotency-Key': 'a-secret-key' });
  }
  const wrongKey = newApiKey();
  await worker.post({ apiKey: wrongKey }, '/webhook', envelope.ad(token), logged);
  await worker.post(tenant, '/verify-token', { token }, logged);
  worker.queue.failures = 3;
  await worker.post(tenant, '/webhook', envelope.ad(token));
  const sent = worker.queue.take();
  failures = 2;
  await worker.deliver(sent);
  await worker.deliver(sent.map((message) => ({ ...message, id: sampledId })));
  await worker.deliver(sent, 'attribution-events-dead');
  db.failOn(/FROM rollup_daily/, 'D1_ERROR: no such thing');
  await impressions(worker, tenant).catch(() => undefined);
  await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
  // An error whose request has a token in its path.
  db.failOn(/./, 'D1_ERROR: no such thing', { times: 3 });
  await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
  const log = lines.join('\n');
  expect(lines.length).toBeGreaterThan(10);
  const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level);
  expect([...new Set(levels)].sort()).toEqual(['error', 'info', 'warn']);
  const secrets = [
    wrongKey,
    tenant.apiKey,
    tenant.teamToken,
    token,
    creative.token,
    address,
    env.TOKEN_SECRET,
    env.KEY_ENCRYPTION_SECRET,
    'secret',
    'forged-token',
    'Jane',
  ];
  for (const secret of secrets) expect(log.includes(secret), secret.slice(0, 12)).toBe(false);
});
