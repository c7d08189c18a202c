import { createScheduledController } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { foldLog, pruneLog } from '#rollup';
import service from '../../src/index.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 1, 12);
const TABLES = ['event_chunks', 'idempotency_keys', 'tokens', 'clicks', 'parked_messages', 'access_tokens'];

afterEach(() => vi.useRealTimers());
beforeEach(async () => {
  await foldLog(env.DB, START);
  await env.DB.prepare('DELETE FROM event_chunks').run();
});

const setTime = (at: number) => vi.useFakeTimers({ now: at, toFake: ['Date'] });
const timestamp = (at: number) => new Date(at).toISOString();

async function rows(table: string): Promise<number> {
  return (await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')) ?? 0;
}

async function impressions(worker: TestWorker, tenant: Tenant): Promise<number> {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-12-31`;
  const report: { totals: { impressions: number } } = await (await worker.team(tenant, path)).json();
  return report.totals.impressions;
}

async function sendAds(worker: TestWorker, tenant: Tenant, token: string, at: number, count: number) {
  for (let index = 0; index < count; index++) {
    const event = envelope.ad(token, { created_at: timestamp(at), event_id: `e-${at}-${index}` });
    expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
  }
  const messages = worker.queue.take();
  await worker.deliver(messages);
  return messages;
}

/** A bucket that keeps what it is given, and fails on demand. */
function memoryBucket() {
  const objects = new Map<string, string>();
  const bucket = {
    failures: 0,
    put: async (name: string, text: string) => {
      if (bucket.failures-- > 0) throw new Error('R2 is unavailable');
      objects.set(name, text);
    },
  };
  return { objects, bucket, binding: bucket as unknown as R2Bucket };
}

it('keeps the size of the database flat while weeks go by, and every total', async () => {
  setTime(START);
  const worker = startWorker({ RAW_RETENTION_DAYS: '10', TOKEN_TTL_DAYS: '2' });
  const tenant = await createTenant();
  const sizes: { rows: number; bytes: number }[] = [];
  for (let day = 0; day < 26; day++) {
    const now = START + day * DAY_MS;
    setTime(now);
    const token = await fetchToken(worker, tenant, {
      created_at: timestamp(START),
      data: { device_id: 'one' },
    });
    await sendAds(worker, tenant, token, now, 20);
    await service.scheduled(createScheduledController({ cron: '* * * * *' }), worker.bindings);
    const counts = await Promise.all(TABLES.map(rows));
    const { meta } = await env.DB.prepare('SELECT 1').run();
    sizes.push({ rows: counts.reduce((sum, count) => sum + count, 0), bytes: meta.size_after });
  }
  const week = sizes.slice(-7);
  expect(new Set(week.map((size) => size.rows)).size).toBe(1);
  expect(Math.max(...week.map(({ bytes }) => bytes))).toBe(week[0]?.bytes);
  // And that something was there to be pruned.
  expect(week[0]?.rows).toBeGreaterThan(200);
  expect(sizes[9]?.rows).toBeGreaterThan(sizes[1]?.rows ?? 0);
  expect(await impressions(worker, tenant)).toBe(26 * 20);
});

it('archives before it forgets, and repeats what failed without a second copy', async () => {
  setTime(START);
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
  const described = { created_at: timestamp(START), device_name: 'Jane’s phone', os_system: 'Android 99' };
  expect((await worker.post(tenant, '/webhook', envelope.custom(token, described))).status).toBe(200);
  await sendAds(worker, tenant, token, START, 3);
  expect(await impressions(worker, tenant)).toBe(3);
  const later = START + 11 * DAY_MS;
  const { objects, bucket, binding } = memoryBucket();
  bucket.failures = 1;
  await expect(pruneLog(env.DB, binding, 10 * DAY_MS, later)).rejects.toThrow('R2 is unavailable');
  const chunks = await rows('event_chunks');
  expect(chunks).toBeGreaterThan(0);
  const watched = new WatchedD1(env.DB);
  watched.failOn(/DELETE FROM event_chunks/, 'disk I/O');
  await expect(pruneLog(watched.asBinding(), binding, 10 * DAY_MS, later)).rejects.toThrow('disk I/O');
  expect(await rows('event_chunks')).toBe(chunks);
  await pruneLog(env.DB, binding, 10 * DAY_MS, later);
  expect(await rows('event_chunks')).toBe(0);
  const own = [...objects].filter(([name]) => name.startsWith(`events/${tenant.application.id}/`));
  const lines = own.flatMap(([, text]) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  expect(lines.filter(({ type }) => type === 'custom.ad')).toHaveLength(3);
  expect(lines.find(({ type }) => type === 'custom.ad')).toMatchObject({
    created_at: timestamp(START),
    payload: { ad_id: 'main', value: 0.002, currency: 'usd', source: 'banner' },
    archived: { device_id: expect.stringMatching(/^dev_/), acquired_day: '2026-03-01' },
  });
  const archived = own.map(([, text]) => text).join('');
  expect(archived).toContain('level_1');
  for (const secret of [token, 'Jane', 'Android 99']) expect(archived).not.toContain(secret);
  expect(await impressions(worker, tenant)).toBe(3);
});

it('never forgets what is not counted yet, nor what a parked message has to be compared with', async () => {
  setTime(START);
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
  // The first batch of a quiet hour waits in the log: nothing has folded it.
  const sent = await sendAds(worker, tenant, token, START, 2);
  const unfolded = await env.DB.prepare(
    'SELECT count(*) AS n FROM event_chunks WHERE id > (SELECT chunk_id FROM fold_cursor)',
  ).first<number>('n');
  expect(unfolded).toBeGreaterThan(0);
  const later = START + 30 * DAY_MS;
  await pruneLog(env.DB, undefined, 10 * DAY_MS, later);
  expect(await rows('event_chunks')).toBe(unfolded);
  expect(await impressions(worker, tenant)).toBe(2);

  await env.DB.prepare('INSERT INTO parked_messages VALUES (?, ?, ?, ?, ?)')
    .bind('prk_1', tenant.application.id, '{}', 'test', START + 8 * DAY_MS)
    .run();
  const before = await rows('event_chunks');
  await pruneLog(env.DB, undefined, 10 * DAY_MS, later);
  expect(await rows('event_chunks')).toBe(before);
  // What comes again so late is still recognised.
  await worker.deliver(sent);
  expect(await impressions(worker, tenant)).toBe(2);
  await env.DB.prepare("DELETE FROM parked_messages WHERE id = 'prk_1'").run();
  await pruneLog(env.DB, undefined, 10 * DAY_MS, later);
  expect(await rows('event_chunks')).toBe(0);
});

it('archives what an import into a new deployment counts to the same totals, once however often', async () => {
  setTime(START);
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
  const sent = { created_at: timestamp(START) };
  for (const body of [
    envelope.retention(token, sent, { session_id: 's1' }),
    { ...envelope.retention(token, sent), type: 'session', payload: { a: 'end', sid: 's1', sd: 30 } },
    envelope.purchase(token, sent, { tr_id: 't1' }),
    envelope.purchase(token, sent, { tr_id: 't1' }),
    envelope.ad(token, sent),
    envelope.ad(token, sent),
    envelope.custom(token, sent),
  ]) {
    expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  const totals = async (of: Tenant) => {
    const path = `/v1/reports/performance?application_id=${of.application.id}&from=2026-03-01&to=2026-03-31`;
    return ((await (await worker.team(of, path)).json()) as { totals: unknown }).totals;
  };
  const before = await totals(tenant);
  expect(before).toMatchObject({
    installs: 1,
    sessions: 1,
    session_seconds: 30,
    purchases: 1,
    impressions: 2,
    events: 1,
  });
  const { objects, binding } = memoryBucket();
  await pruneLog(env.DB, binding, 10 * DAY_MS, START + 11 * DAY_MS);
  const own = [...objects].filter(([name]) => name.includes(tenant.application.id)).map(([, text]) => text);
  const lines: { type: string; archived: { device_id: string } }[] = own
    .flatMap((text) => text.trim().split('\n'))
    .map((line) => JSON.parse(line));
  const fresh = await createTenant();
  const data = { device_id: lines[0]?.archived.device_id };
  for (let round = 0; round < 2; round++) {
    const creativeToken = await fetchToken(worker, fresh, { created_at: timestamp(START), data });
    for (const { archived, ...line } of lines.filter(({ type }) => type !== 'install')) {
      expect((await worker.post(fresh, '/webhook', { ...line, creativeToken })).status).toBe(200);
    }
  }
  await worker.deliver(worker.queue.take());
  expect(await totals(fresh)).toEqual(before);
});

describe('the keys of what is pruned', () => {
  const purchase = (token: string, at: number, keys: { event_id?: string; tr_id?: string }) =>
    envelope.purchase(
      token,
      { created_at: timestamp(at), ...(keys.event_id ? { event_id: keys.event_id } : {}) },
      keys.tr_id ? { tr_id: keys.tr_id } : {},
    );
  async function send(worker: TestWorker, tenant: Tenant, body: unknown) {
    expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
    await worker.deliver(worker.queue.take());
    await foldLog(env.DB, Date.now());
  }
  const keys = (tenant: Tenant) =>
    env.DB.prepare('SELECT count(*) AS n FROM idempotency_keys WHERE application_id = ?')
      .bind(tenant.application.id)
      .first<number>('n');
  const purchases = async (worker: TestWorker, tenant: Tenant) => {
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-12-31`;
    const report: { totals: { purchases: number } } = await (await worker.team(tenant, path)).json();
    return report.totals.purchases;
  };

  it('stay with an event that was counted under them later', async () => {
    setTime(START);
    const worker = startWorker();
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
    const body = purchase(token, START, { tr_id: 't1' });
    await send(worker, tenant, body);
    setTime(START + 5 * DAY_MS);
    await send(worker, tenant, body);
    expect(await purchases(worker, tenant)).toBe(1);
    // The first is forgotten with its key, so the next is counted; then its repeat of day 5 is forgotten.
    await pruneLog(env.DB, undefined, 10 * DAY_MS, START + 11 * DAY_MS);
    setTime(START + 11 * DAY_MS);
    await send(worker, tenant, body);
    expect(await purchases(worker, tenant)).toBe(2);
    await pruneLog(env.DB, undefined, 10 * DAY_MS, START + 16 * DAY_MS);
    setTime(START + 16 * DAY_MS);
    await send(worker, tenant, body);
    expect(await purchases(worker, tenant)).toBe(2);
  });

  it('go when a repeat brought them, and with the sessions they are of', async () => {
    setTime(START);
    const worker = startWorker();
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
    await send(worker, tenant, purchase(token, START, { tr_id: 't1' }));
    await send(
      worker,
      tenant,
      envelope.retention(token, { created_at: timestamp(START) }, { session_id: 's1' }),
    );
    setTime(START + DAY_MS);
    await send(worker, tenant, purchase(token, START, { tr_id: 't1', event_id: 'late' }));
    expect(await keys(tenant)).toBe(3);
    await pruneLog(env.DB, undefined, 10 * DAY_MS, START + 10.5 * DAY_MS);
    expect(await keys(tenant)).toBe(1);
    await pruneLog(env.DB, undefined, 10 * DAY_MS, START + 12 * DAY_MS);
    expect(await keys(tenant)).toBe(0);
  });
});

it('marks test events in the archive, so that an import counts them nowhere either', async () => {
  setTime(START);
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: timestamp(START) });
  await worker.post(tenant, '/webhook', envelope.ad(token, { created_at: timestamp(START) }));
  const [message] = worker.queue.take() as {
    id: string;
    body: { v: 1; events: Record<string, unknown>[] };
  }[];
  await worker.deliver([{ id: 'm', body: { v: 1, events: [{ ...message?.body.events[0], test: true }] } }]);
  expect(await impressions(worker, tenant)).toBe(0);
  const { objects, binding } = memoryBucket();
  await pruneLog(env.DB, binding, 10 * DAY_MS, START + 11 * DAY_MS);
  const lines = [...objects.values()].flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  const own = lines.filter(({ archived }) => archived.application_id === tenant.application.id);
  const ads = own.filter(({ type }) => type === 'custom.ad');
  expect(ads).toMatchObject([{ dev: true, payload: { value: 0.002 } }]);
  expect(ads[0].payload).not.toHaveProperty('test');
});
