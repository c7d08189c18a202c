import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newApiKey } from '#lib/credentials';
import { readLogState } from '#rollup';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { holdFold } from '../helpers/fold.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
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
  it('are listed by page, replayed to the totals that would have been, and discarded', async () => {
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
    expect(first.data[0]?.reason).toContain('could not be delivered');
    const [one = '', two = '', three = ''] = ids;
    for (const id of [one, two]) {
      expect((await worker.team(tenant, `/v1/parked/${id}/replay`, { method: 'POST' })).status).toBe(200);
    }
    const sent = worker.queue.take();
    await worker.deliver([...sent, ...sent]);
    expect(await impressions(worker, tenant)).toBe(2);
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

  it("stay when the queue does not take them, and are nobody else's", async () => {
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
});

it('calls a log degraded that has not been counted for more than five minutes, to the team whose events wait', async () => {
  const worker = startWorker();
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const token = await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  await impressions(worker, tenant);
  expect(await health(worker, tenant)).toMatchObject({ status: 'ok', pending_events: 0, pending_for_ms: 0 });
  await worker.post(tenant, '/webhook', envelope.ad(token));
  await holdFold();
  await worker.deliver(worker.queue.take());
  const age = async (minutes: number) => {
    await env.DB.prepare('UPDATE event_chunks SET appended_at = ?')
      .bind(Date.now() - minutes * 60_000)
      .run();
    return (await health(worker, tenant)).status;
  };
  expect(await age(4)).toBe('ok');
  expect(await age(6)).toBe('degraded');
  expect(await health(worker, tenant)).toMatchObject({ pending_events: 1 });
  expect(await health(worker, stranger)).toMatchObject({
    status: 'ok',
    pending_events: 0,
    pending_for_ms: 0,
  });
  expect(await readLogState(env.DB, tenant.application.id)).toMatchObject({ pending: 1 });
  expect(await readLogState(env.DB, stranger.application.id)).toMatchObject({ pending: 0 });
});

it('sends a flood of clicks on, and counts none of it', async () => {
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
  expect(sentOn.status).toBe(302);
  expect(sentOn.headers.get('Location')).toContain('play.google.com');
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
    expect(headers.get('Content-Security-Policy'), path).toContain("default-src 'none'");
    expect(headers.get('Referrer-Policy'), path).toBeTruthy();
    expect(headers.get('Strict-Transport-Security'), path).toContain('max-age');
  }
});

it('logs a busy session without a key, a token, a body or an address in it', async () => {
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) =>
      lines.push(parts.map(String).join(' ')),
    );
  }
  const db = new WatchedD1(env.DB);
  const worker = startWorker({ DB: db.asBinding() });
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
    await worker.post(tenant, '/webhook', body, { 'Idempotency-Key': 'a-secret-key' });
  }
  const wrongKey = newApiKey();
  await worker.post({ apiKey: wrongKey }, '/webhook', envelope.ad(token));
  await worker.post(tenant, '/verify-token', { token });
  worker.queue.failures = 3;
  await worker.post(tenant, '/webhook', envelope.ad(token));
  const sent = worker.queue.take();
  db.failOn(/INSERT INTO event_chunks/, 'D1_ERROR: disk I/O', { times: 2 });
  await worker.deliver(sent);
  await worker.deliver(sent, 'attribution-events-dead');
  db.failOn(/FROM rollup_daily/, 'D1_ERROR: no such thing');
  await impressions(worker, tenant).catch(() => undefined);
  await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
  const log = lines.join('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const level of ['info', 'warn', 'error']) expect(log).toContain(`"level":"${level}"`);
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
