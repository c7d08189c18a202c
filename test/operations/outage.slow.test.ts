import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlert, createChannel, NewChannel } from '#alerts';
import { alerts, channels, database } from '#db';
import service from '../../src/index.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// The database is locked, gone or hangs: what can be said without it is said, and people are told.

const METRICS_TOKEN = 'metrics-token-for-tests-0123456789';
const MINUTE = 60_000;
const db = database(env.DB);

let texts: { url: string; text: string }[];
let answer: () => Response;

beforeEach(async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  texts = [];
  answer = () => new Response('ok');
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    texts.push({ url: String(url), text: (JSON.parse(String(init?.body)) as { text: string }).text });
    return answer();
  });
  await db.batch([db.delete(alerts), db.delete(channels)]);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A database of which each statement fails like this. */
function failing(message: string): D1Database {
  const watched = new WatchedD1(env.DB);
  watched.failWhen(() => true, message);
  return watched.asBinding();
}

const hanging = (): D1Database => {
  const watched = new WatchedD1(env.DB);
  watched.holdOn(
    () => true,
    () => undefined,
    new Promise(() => undefined),
  );
  return watched.asBinding();
};

const FAULTS = [
  ['is locked', () => failing('D1_ERROR: database is locked: SQLITE_BUSY')],
  ['is gone', () => failing('D1_ERROR: no such table: teams: SQLITE_ERROR')],
  ['fails for an unknown reason', () => failing('D1_ERROR: an error that nobody has seen before')],
  ['hangs', hanging],
] as const;

it.each(FAULTS)('says on Health and on /metrics that a database %s', async (_, fault) => {
  const tenant = await createTenant();
  const DB = fault();
  const worker = startWorker({ DB, METRICS_TOKEN } as Partial<Env>);
  const health = await worker.team(tenant, '/v1/health');
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({
    status: 'degraded',
    message: expect.stringMatching(/^The database does not respond/),
    problems: [expect.stringMatching(/^The database does not respond/)],
    runbooks: ['docs/operations.md#the-database-does-not-respond'],
  });
  const metrics = await worker.request('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(metrics.status).toBe(200);
  const text = await metrics.text();
  expect(text).toContain('\nattribution_database_up 0\n');
  expect(text).toContain('\nattribution_queued_messages 0\n');
  expect(text).not.toContain('attribution_parked_messages');
  expect(text.endsWith('# EOF\n')).toBe(true);
  expect((await worker.request('/health')).status).toBe(200);
});

it('says so on Health of a bucket that does not respond either', async () => {
  const RAW_EVENTS = { list: () => Promise.reject(new Error('gone')) } as unknown as R2Bucket;
  const worker = startWorker({ DB: failing('D1_ERROR: database is locked'), RAW_EVENTS } as Partial<Env>);
  const health = await worker.team(await createTenant(), '/v1/health');
  expect(await health.json()).toMatchObject({
    problems: [expect.stringMatching(/^The database/), 'The bucket for raw events does not respond.'],
  });
});

it('answers as before where the database responds', async () => {
  const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);
  const tenant = await createTenant();
  expect((await worker.team(tenant, '/v1/health')).status).toBe(200);
  expect((await worker.request('/v1/health', { headers: { 'Service-Token': 'tok_no' } })).status).toBe(401);
  const metrics = await worker.request('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(await metrics.text()).toContain('\nattribution_database_up 1\n');
});

async function watch(tenant: Tenant, kind: 'service_problems' | 'no_events', url: string): Promise<void> {
  const caller = { db, team: tenant.team, actor: 'someone@team.test', now: Date.now() };
  await createAlert(caller, tenant.application, { kind, threshold: 1 });
  const channel = NewChannel.parse({ kind: 'webhook', target: url, digest: 'never' });
  await createChannel(caller, tenant.application, channel, 'https://dash.test', env.KEY_ENCRYPTION_SECRET);
}

it.each(FAULTS.slice(0, 3))(
  'tells who watches Health, once, that a database %s, and that it is back',
  async (_, fault) => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    await watch(tenant, 'service_problems', 'https://hooks.example.com/watches');
    await watch(other, 'no_events', 'https://hooks.example.com/does-not');
    let now = Date.now() + MINUTE;
    vi.useFakeTimers({ toFake: ['Date'], now });
    const DB = fault();
    const minute = async (overrides: Partial<Env> = {}) => {
      now += MINUTE;
      vi.setSystemTime(now);
      await service.scheduled(inMinuteOf('chores'), { ...env, ...overrides }).catch(() => undefined);
      return texts.splice(0).filter(({ text }) => text.includes('The database'));
    };
    await minute();
    for (let round = 0; round < 3; round++) expect(await minute({ DB })).toEqual([]);
    answer = () => new Response('no', { status: 500 });
    expect(await minute({ DB })).toHaveLength(1);
    answer = () => new Response('ok');
    const [told] = await minute({ DB });
    expect(told?.url).toBe('https://hooks.example.com/watches');
    expect(told?.text).toContain('The database has not responded since');
    expect(told?.text).toContain('operations.md#the-database-does-not-respond');
    for (let round = 0; round < 2; round++) expect(await minute({ DB })).toEqual([]);
    const [back] = await minute();
    expect(back?.text).toContain('The database responds again');
    expect(await minute()).toEqual([]);
  },
);
