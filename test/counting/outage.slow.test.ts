import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { consumeDeadLetters, consumeEvents, parkUndelivered, settleCounters } from '#counting';
import { DEAD_LETTER_DELAY_SECONDS, FILED_FROM_ATTEMPT } from '../../src/counting/queue/retry-schedule.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { parkedOf } from '../helpers/parked.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

// A counter or the database that accepts nothing for a long time: nothing is lost, and Health and reports say what is missing.

const SHARDS = 1;

async function start() {
  const { team, application, ...keys } = await createTenant();
  const counter = startCounter(application.id);
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const ad = () => eventOf(application.id, created.device, 'custom.ad', { received_at: Date.now() });
  return { ...counter, tenant: { team, application, ...keys }, ad };
}

type TestMessage = { id: string; body: unknown };
const messageOf = (events: unknown[], id = crypto.randomUUID()): TestMessage => ({
  id,
  body: { v: 1, events },
});

async function deliver(
  messages: TestMessage[],
  attempts: number,
  bindings: Env = env,
  consume: typeof consumeEvents = consumeEvents,
) {
  const acked: string[] = [];
  const delays: (number | undefined)[] = [];
  const batch = {
    queue: 'attribution-events',
    messages: messages.map((message) => ({
      ...message,
      timestamp: new Date(),
      attempts,
      ack: () => acked.push(message.id),
      retry: (options?: QueueRetryOptions) => delays.push(options?.delaySeconds),
    })),
  } as unknown as MessageBatch;
  await consume(batch, bindings);
  return { acked, delays };
}

/** Makes the log, or another table, of a counter refuse new rows, as a full object does; returns what undoes it. */
async function refuse({ inside }: Pick<ReturnType<typeof startCounter>, 'inside'>, table = 'log') {
  await inside((_, { storage }) => {
    storage.sql.exec(
      `CREATE TRIGGER refuses BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
  });
  return () =>
    inside((_, { storage }) => {
      storage.sql.exec('DROP TRIGGER refuses');
    });
}

const healthOf = async (worker: TestWorker, tenant: Tenant) =>
  (await (await worker.team(tenant, '/v1/health')).json()) as Record<string, unknown>;

async function reportOf(worker: TestWorker, { application, ...tenant }: Tenant) {
  const path = `/v1/reports/performance?application_id=${application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team({ ...tenant }, path);
  return (await answer.json()) as {
    totals: { impressions: number };
    counted_through: string;
    uncounted: number | null;
  };
}

it('files dead letters in R2 after four days without a database, and parks them once it is back', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const { applicationId, stub, ad } = await start();
  const db = new WatchedD1(env.DB);
  db.failWhen(() => true, 'D1_ERROR: Exceeded maximum DB size.');
  const broken = { ...env, DB: db.asBinding() };
  const letters = [messageOf([ad()]), messageOf([ad(), ad()])];
  for (const attempt of [1, 2, FILED_FROM_ATTEMPT - 1]) {
    const { acked, delays } = await deliver(letters, attempt, broken, consumeDeadLetters);
    expect(acked).toEqual([]);
    expect(delays).toEqual(letters.map(() => DEAD_LETTER_DELAY_SECONDS));
  }
  // R2 fails too: tried again.
  const put = () => Promise.reject(new Error('R2 failed'));
  const bucket = { put } as unknown as R2Bucket;
  const both = { ...broken, RAW_EVENTS: bucket };
  expect(await deliver(letters, FILED_FROM_ATTEMPT, both, consumeDeadLetters)).toEqual({
    acked: [],
    delays: letters.map(() => DEAD_LETTER_DELAY_SECONDS),
  });
  for (let round = 0; round < 2; round++) {
    const filed = await deliver(letters, FILED_FROM_ATTEMPT + 1, broken, consumeDeadLetters);
    expect(filed.acked).toHaveLength(2);
  }
  const prefix = `undelivered/${applicationId}/`;
  const { objects } = await env.RAW_EVENTS.list({ prefix });
  expect(objects).toHaveLength(2);
  const files = await Promise.all(objects.map(async ({ key }) => (await env.RAW_EVENTS.get(key))?.json()));
  expect(files).toMatchObject(
    Array(2).fill({ parked: { reason: 'could not be delivered to the log: every attempt failed' } }),
  );
  await expect(parkUndelivered(broken)).rejects.toThrow('Exceeded maximum DB size');
  expect((await env.RAW_EVENTS.list({ prefix })).objects).toHaveLength(2);
  await parkUndelivered(env);
  await parkUndelivered(env);
  expect((await env.RAW_EVENTS.list({ prefix })).objects).toEqual([]);
  const parked = await parkedOf(applicationId);
  expect(parked).toHaveLength(2);
  await deliver(
    parked.map(({ body }, index) => ({ id: `replay-${index}`, body: JSON.parse(body) })),
    1,
  );
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
});

it('shows filed messages in Health, and deletes them with their application', async () => {
  const worker = startWorker();
  const { tenant, applicationId, ad } = await start();
  const [stranger, broken] = [await createTenant(), { ...env, DB: new WatchedD1(env.DB) }];
  broken.DB.failWhen(() => true, 'D1_ERROR: Exceeded maximum DB size.');
  const bindings = { ...env, DB: broken.DB.asBinding() };
  await deliver([messageOf([ad()])], FILED_FROM_ATTEMPT, bindings, consumeDeadLetters);
  expect(await healthOf(worker, tenant)).toMatchObject({ status: 'degraded', filed_messages: 1 });
  expect(await healthOf(worker, stranger)).toMatchObject({ status: 'ok', filed_messages: 0 });
  const { id, name } = tenant.application;
  const path = `/v1/applications/${id}`;
  expect((await worker.team(tenant, path, { method: 'DELETE', body: { name } })).status).toBe(200);
  expect((await env.RAW_EVENTS.list({ prefix: `undelivered/${applicationId}/` })).objects).toEqual([]);
});

it('says what a counter whose log accepts nothing has not counted, until it has', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const worker = startWorker();
  const started = await start();
  const { tenant, ad } = started;
  await reportOf(worker, tenant);
  const heal = await refuse(started);
  const events = Array.from({ length: 100 }, ad);
  const messages = Array.from({ length: 10 }, (_, index) =>
    messageOf(events.slice(index * 10, index * 10 + 10)),
  );
  const firstAt = Math.min(...events.map(({ received_at }) => received_at));
  const first = await deliver(messages, 1);
  expect(first.acked).toEqual([]);
  expect(first.delays).toHaveLength(10);
  expect(await parkedOf(tenant.application.id)).toEqual([]);
  await deliver(messages, 2);
  const during = await reportOf(worker, tenant);
  expect(Date.parse(during.counted_through)).toBe(firstAt - 1);
  expect(during).toMatchObject({ uncounted: 100, totals: { impressions: 0 } });
  expect(await healthOf(worker, tenant)).toMatchObject({
    status: 'degraded',
    applications: [{ delayed_events: 100, append_error: expect.any(String) }],
  });
  await heal();
  // Part of it.
  expect((await deliver(messages.slice(0, 4), 3)).acked).toHaveLength(4);
  const partly = await reportOf(worker, tenant);
  expect(partly).toMatchObject({ uncounted: 60, totals: { impressions: 40 } });
  expect(Date.parse(partly.counted_through)).toBeLessThan(Date.now());
  expect(await healthOf(worker, tenant)).toMatchObject({ applications: [{ append_error: null }] });
  await deliver(messages, 4);
  const before = Date.now();
  const after = await reportOf(worker, tenant);
  expect(after).toMatchObject({ uncounted: 0, totals: { impressions: 100 } });
  expect(Date.parse(after.counted_through)).toBeGreaterThanOrEqual(before);
  expect(await healthOf(worker, tenant)).toMatchObject({
    status: 'ok',
    applications: [{ delayed_events: 0 }],
  });
});

it('calls delivery stuck only after half a minute', async () => {
  const worker = startWorker();
  const started = await start();
  const { tenant, ad, applicationId } = started;
  const heal = await refuse(started);
  await deliver([messageOf([ad()])], 1);
  await heal();
  expect(await healthOf(worker, tenant)).toMatchObject({ status: 'ok', pending_events: 1 });
  await env.DB.prepare(
    'UPDATE delayed_messages SET received_at = received_at - 31000 WHERE application_id = ?',
  )
    .bind(applicationId)
    .run();
  const health = await healthOf(worker, tenant);
  expect(health).toMatchObject({ status: 'degraded' });
  expect(health.pending_for_ms).toBeGreaterThan(30_000);
});

it.each(['log', 'devices', 'aliases'])('shows devices that are refused by the table %s', async (table) => {
  vi.spyOn(console, 'error').mockReturnValue();
  const worker = startWorker();
  const tenant = await createTenant();
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  expect(await healthOf(worker, tenant)).toMatchObject({ status: 'ok' });
  const heal = await refuse(startCounter(tenant.application.id), table);
  const device = { data: { device_id: 'one' } };
  await expect(fetchToken(worker, tenant, device)).rejects.toThrow('Unexpected error');
  expect(await healthOf(worker, tenant)).toMatchObject({
    status: 'degraded',
    applications: [{ append_error: expect.stringContaining('neither events nor devices') }],
  });
  await heal();
  expect(await healthOf(worker, tenant)).toMatchObject({ status: 'ok' });
  await fetchToken(worker, tenant, device);
});

it('delivers a late message again if its backlog cannot be forgotten', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const { applicationId, ad, stub } = await start();
  const db = new WatchedD1(env.DB);
  db.failWhen((sql) => sql.includes('"delayed_messages"'), 'D1_ERROR: overloaded');
  const late = messageOf([ad()]);
  expect((await deliver([late], 2, { ...env, DB: db.asBinding() })).delays).toHaveLength(1);
  expect((await deliver([late], 3)).acked).toHaveLength(1);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1 });
});

it('does not claim progress while a message is delivered between the reading of backlog and counters', async () => {
  const started = await start();
  const { applicationId, ad } = started;
  await settleCounters(env, { id: applicationId, shards: SHARDS });
  const heal = await refuse(started);
  const late = messageOf([ad()]);
  const sentAt = Date.now();
  await deliver([late], 1);
  await heal();
  const db = new WatchedD1(env.DB);
  const settle = settleCounters({ ...env, DB: db.asBinding() }, { id: applicationId, shards: SHARDS });
  await deliver([late], 2);
  expect((await settle).countedThrough).toBeLessThanOrEqual(sentAt);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: expect.any(Number) });
});

it('accepts an envelope of every kind while a counter refuses them, and counts them later', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  await worker.deliver(worker.queue.take());
  const heal = await refuse(startCounter(tenant.application.id));
  for (let index = 0; index < 3; index++) {
    expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  }
  const sent = worker.queue.take();
  await deliver(sent, 1);
  expect(await reportOf(worker, tenant)).toMatchObject({ uncounted: 3 });
  await heal();
  await deliver(sent, 2);
  expect(await reportOf(worker, tenant)).toMatchObject({ uncounted: 0, totals: { impressions: 3 } });
});
