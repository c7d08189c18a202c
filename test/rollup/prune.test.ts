import { createScheduledController } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
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
  expect(own.map(([, text]) => text).join('')).not.toContain(token);
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
  expect(before).toMatchObject({ installs: 1, sessions: 1, purchases: 1, impressions: 2, events: 1 });
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
