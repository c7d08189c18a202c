import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlert, createChannel, listAlerts, NewChannel, sendNotices, watchAlerts } from '#alerts';
import { database, scheduleRuns } from '#db';
import { recordRun } from '#operations';
import service from '../../src/index.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const METRICS_TOKEN = 'a-token-for-monitoring-0123456789abcdef';
const db = database(env.DB);
const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);

beforeEach(() => db.delete(scheduleRuns));
afterEach(() => vi.restoreAllMocks());

async function readMetrics() {
  const answer = await worker.request('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
    200,
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  ]);
  return answer.text();
}

/** The value of a gauge, by its whole name with labels. */
function gaugeOf(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}

const runMinute = (bindings: Env = env) => service.scheduled(inMinuteOf('chores'), bindings);

it('measures the deployment and each application, in the form of OpenMetrics', async () => {
  const tenant = await createTenant();
  const { application } = tenant;
  const token = await fetchToken(worker, tenant);
  await worker.post(tenant, '/webhook', envelope.ad(token));
  await worker.deliver(worker.queue.take(), 'attribution-events-dead');
  await runMinute();
  const text = await readMetrics();
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(?:# (?:TYPE|UNIT|HELP) attribution_[a-z_]+ .+|# EOF|attribution_[a-z_]+(?:\{application="app_[0-9a-f]+"\})? -?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/,
    );
  }
  expect(text.endsWith('# EOF\n')).toBe(true);
  expect(gaugeOf(text, 'attribution_schedule_age_seconds')).toBeLessThan(60);
  expect(gaugeOf(text, 'attribution_database_bytes')).toBeGreaterThan(100_000);
  expect(gaugeOf(text, 'attribution_parked_messages')).toBeGreaterThanOrEqual(1);
  expect(gaugeOf(text, 'attribution_problems')).toBe(0);
  const own = (name: string) => `${name}{application="${application.id}"}`;
  expect(gaugeOf(text, own('attribution_application_problems'))).toBe(0);
  expect(gaugeOf(text, own('attribution_largest_counter_bytes'))).toBeGreaterThan(1_000);
});

it('measures what the event queues hold, and how far they are behind', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  worker.queue.take();
  const empty = await readMetrics();
  expect(gaugeOf(empty, 'attribution_queued_messages')).toBe(0);
  expect(gaugeOf(empty, 'attribution_delivery_age_seconds')).toBeLessThan(5);
  await worker.post(tenant, '/webhook', envelope.ad(token));
  for (const message of worker.queue.messages) message.sentAt -= 60_000;
  const waiting = await readMetrics();
  expect(gaugeOf(waiting, 'attribution_queued_messages')).toBe(1);
  expect(gaugeOf(waiting, 'attribution_delivery_age_seconds')).toBeGreaterThanOrEqual(60);
  worker.queue.take();
});

it('refuses other tokens, and does not exist without one', async () => {
  for (const headers of [{}, { Authorization: 'Bearer no' }, { Authorization: METRICS_TOKEN }]) {
    expect((await worker.request('/metrics', { headers: headers as HeadersInit })).status).toBe(401);
  }
  expect((await startWorker().request('/metrics', { headers: { Authorization: 'Bearer ' } })).status).toBe(
    404,
  );
});

it('records each run of the schedule, and since when it fails', async () => {
  await runMinute();
  const readChores = () => db.select().from(scheduleRuns).where(eq(scheduleRuns.schedule, 'chores'));
  const [first] = await readChores();
  expect(first).toMatchObject({ schedule: 'chores', failure: null, succeededAt: first?.ranAt });
  const failing = new WatchedD1(env.DB);
  failing.failWhen((sql) => /from "clicks"/.test(sql), 'D1_ERROR: no such table: gone');
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await expect(runMinute({ ...env, DB: failing.asBinding() })).rejects.toThrow('Failed chores: prune clicks');
  const [second] = await readChores();
  expect(second).toMatchObject({
    failure: 'Failed chores: prune clicks',
    succeededAt: first?.succeededAt,
  });
});

it('records no more of a failure than fits', async () => {
  const fail = () => Promise.reject(new Error("'😀".repeat(50_000)));
  await expect(recordRun(env, 'snapshot', Date.now(), fail)).rejects.toThrow();
  const [run] = await db.select().from(scheduleRuns).where(eq(scheduleRuns.schedule, 'snapshot'));
  expect(run?.failure).toHaveLength(1_000);
});

it('says in Health, and tells the team’s channels, when scheduled work has stopped', async () => {
  const tenant = await createTenant();
  const { application } = tenant;
  const now = Date.now();
  const caller = { db, team: { id: application.teamId }, actor: 'someone@team.test', now };
  await createAlert(caller, application, { kind: 'service_problems', threshold: 1 });
  const channel = NewChannel.parse({
    kind: 'webhook',
    target: 'https://hooks.test.example/x',
    digest: 'never',
  });
  await createChannel(caller, application, channel, 'https://dash.test', env.KEY_ENCRYPTION_SECRET);
  const texts: string[] = [];
  answerFetch(async (_, init) => {
    texts.push((JSON.parse(String(init?.body)) as { text: string }).text);
    return new Response('ok');
  });
  await watchAlerts(env, now);
  expect((await listAlerts(db, application.id))[0]).toMatchObject({
    firingSince: null,
    finding: 'Health shows no problems.',
  });

  const ranAt = now - 20 * 60_000;
  await db.insert(scheduleRuns).values({ schedule: 'chores', ranAt, succeededAt: ranAt });
  const problem = 'Scheduled work has not run for 20 min: alerts, digests and clean-up are late.';
  const health = await (await worker.team(tenant, '/v1/health')).json();
  expect(health).toMatchObject({
    status: 'degraded',
    problems: [problem],
    scheduled_at: new Date(ranAt).toISOString(),
  });
  await watchAlerts(env, now + 5 * 60_000);
  await sendNotices(env, now + 5 * 60_000);
  expect(texts).toHaveLength(1);
  expect(texts[0]?.split('\n').slice(0, 2)).toEqual([
    'Test game · Alert: Health shows at least 1 problem',
    'Scheduled work has not run for 25 min: alerts, digests and clean-up are late.',
  ]);
});

it('answers although the bucket does not respond', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const answer = await startWorker({
    METRICS_TOKEN,
    RAW_EVENTS: { list: () => Promise.reject(new Error('no bucket')) },
  } as unknown as Partial<Env>).request('/metrics', {
    headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const text = await answer.text();
  expect(gaugeOf(text, 'attribution_problems')).toBe(1);
  expect(text).toContain('# TYPE attribution_filed_messages gauge');
  expect(gaugeOf(text, 'attribution_filed_messages')).toBeNaN();
});
