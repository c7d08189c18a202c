import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlert, listAlerts, watchAlerts } from '#alerts';
import { applications, database, delayedMessages, scheduleRuns, storeLosses } from '#db';
import { watchStores } from '#operations';
import service from '../../src/index.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { copyDatabase } from '../helpers/d1-copy.ts';
import { envelope } from '../helpers/envelopes.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const METRICS_TOKEN = 'a-token-for-monitoring-0123456789abcdef';
const MINUTE = 60_000;
const db = database(env.DB);
const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);

beforeEach(async () => {
  await db.delete(storeLosses);
  await db.delete(delayedMessages);
  await db.delete(scheduleRuns);
  await env.RAW_EVENTS.delete('deployment/heartbeat.json');
  await env.CREATIVES.getByName('deployment').deleteAll();
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

type Health = { status: string; applications: { needs_resume: boolean; problems: string[] }[] };

const healthOf = async (tenant: Tenant): Promise<Health> => (await worker.team(tenant, '/v1/health')).json();

async function resume(tenant: Tenant): Promise<Record<string, number>> {
  const path = `/v1/applications/${tenant.application.id}/resume-counting`;
  const answer = await worker.team(tenant, path, { method: 'POST' });
  expect(answer.status).toBe(200);
  return answer.json();
}

/** Sends ad views of a device through the API, has them counted, and returns what the database then has. */
async function countAds(tenant: Tenant, token: string, count: number): Promise<number | undefined> {
  for (let index = 0; index < count; index++) {
    expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  return impressionsOf(tenant);
}

const impressionsOf = async (tenant: Tenant) => (await rollupOf(tenant.application.id)).impressions;

it('notices a restore within a minute and without traffic, in Health, the page, alerts and metrics', async () => {
  const tenant = await createTenant();
  const { application } = tenant;
  const admin = await signedIn(worker, tenant.team, 'admin');
  const caller = { db, team: { id: application.teamId }, actor: 'someone@team.test', now: Date.now() };
  await createAlert(caller, application, { kind: 'service_problems', threshold: 1 });
  const token = await fetchToken(worker, tenant);
  const now = Date.now();
  await watchStores(env, now);
  expect(await countAds(tenant, token, 1)).toBe(1);
  const setBack = await copyDatabase();
  await watchStores(env, now + MINUTE);
  expect(await countAds(tenant, token, 3)).toBe(4);
  await watchStores(env, now + 2 * MINUTE);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });

  await setBack();
  await watchStores(env, now + 3 * MINUTE);
  const since = new Date(now).toISOString().slice(0, 19).replace('T', ' ');
  const problem = `The database was restored to an earlier state. What was written after ${since} UTC is missing until counting is resumed.`;
  expect(await healthOf(tenant)).toMatchObject({
    status: 'degraded',
    applications: [{ needs_resume: true, problems: [problem] }],
  });
  const metrics = await worker.request('/metrics', {
    headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
  });
  expect(await metrics.text()).toContain(`attribution_needs_resume{application="${application.id}"} 1\n`);
  await watchAlerts(env, now + 10 * MINUTE);
  expect((await listAlerts(db, application.id))[0]).toMatchObject({
    firingSince: now + 10 * MINUTE,
    finding: problem,
  });
  expect((await pageOf(await admin.get('/status'))).notices).toEqual([
    problem,
    'New events are still accepted, and will be counted once counting resumes. Resuming adds to the reports what the database has lost since the restored time. Resume counting',
  ]);

  expect(await resume(tenant)).toEqual({ counters: 1, missing_parts: 0, creatives: 0, missing_files: 0 });
  await settleAll(application.id);
  expect(await impressionsOf(tenant)).toBe(4);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok', applications: [{ needs_resume: false }] });
  // The next minutes compare with the restored database.
  await watchStores(env, now + 4 * MINUTE);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });
  expect(await resume(tenant)).toMatchObject({ counters: 0 });
  expect(await countAds(tenant, token, 1)).toBe(5);
});

it('is run by the cron, and sees no restore in a run that ends after a later one', async () => {
  const tenant = await createTenant();
  const run = () => service.scheduled(inMinuteOf('chores'), env);
  await run();
  await run();
  const later = Date.now() + MINUTE;
  await watchStores(env, later);
  await watchStores(env, later - 30_000);
  await watchStores(env, later + MINUTE);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });
  expect(await db.$count(storeLosses)).toBe(0);
});

it('compares again if the loss could not be recorded', async () => {
  const tenant = await createTenant();
  const now = Date.now();
  await watchStores(env, now);
  const setBack = await copyDatabase();
  await watchStores(env, now + MINUTE);
  await setBack();
  await env.DB.prepare('ALTER TABLE store_losses RENAME TO hidden').run();
  await expect(watchStores(env, now + 2 * MINUTE)).rejects.toThrow();
  await env.DB.prepare('ALTER TABLE hidden RENAME TO store_losses').run();
  await watchStores(env, now + 3 * MINUTE);
  expect(await healthOf(tenant)).toMatchObject({ applications: [{ needs_resume: true }] });
});

it('brings back creatives, campaigns and ad sets with their ids and links, more counters, and the queue’s true backlog', async () => {
  const tenant = await createTenant();
  const { application } = tenant;
  await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative: 'Cat' });
  await watchStores(env, 1);
  // The queue was delivering a message again, which has arrived since.
  const delayed = { applicationId: application.id, messageId: 'm', events: 7, receivedAt: Date.now() };
  await db.insert(delayedMessages).values(delayed);
  const setBack = await copyDatabase();
  await db.delete(delayedMessages);
  const made = [
    await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Old', creative: 'Dog' }),
    await createCreative(worker, tenant, { campaign: 'Autumn', adset: 'Young', creative: 'Cow' }),
    await createCreative(worker, tenant, { campaign: 'Autumn', adset: 'Young', creative: 'Cow' }),
  ];
  await db.update(applications).set({ shards: 4 }).where(eq(applications.id, application.id));
  const last = startCounter(application.id, 3);
  const created = await last.createDevice({ alias: 'somebody', shards: 4 });
  if (created.outcome !== 'created') throw new Error('the device is new');
  await last.append([eventOf(application.id, created.device, 'custom.ad')]);
  // The first counter hears of the others when a device is looked up.
  await startCounter(application.id, 0).stub().findDevices(['somebody else'], 4);
  await settleAll(application.id);
  const list = async () =>
    (await worker.team(tenant, `/v1/creatives?application_id=${application.id}`)).json();
  const before = await list();
  await watchStores(env, 2);

  await setBack();
  await watchStores(env, 3);
  expect(await list()).not.toEqual(before);
  expect(await resume(tenant)).toMatchObject({ counters: 1, creatives: 3 });
  expect(await list()).toEqual(before);
  for (const { path } of made) expect((await worker.request(path)).status).not.toBe(404);
  expect(await impressionsOf(tenant)).toBe(1);
  expect(await db.$count(delayedMessages)).toBe(0);
  const [row] = await db.select().from(applications).where(eq(applications.id, application.id));
  expect(row?.shards).toBe(4);
  expect(await resume(tenant)).toMatchObject({ counters: 0, creatives: 0 });
});

it('continues, and says how much is missing, if the database is older than what counters keep', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  const setBack = await copyDatabase();
  for (let round = 1; round <= 4; round++) expect(await countAds(tenant, token, 1)).toBe(round);
  await startCounter(tenant.application.id).inside((_, state) => {
    state.storage.sql.exec('DELETE FROM sent_parts WHERE sequence <= 2');
  });
  await setBack();
  expect(await resume(tenant)).toMatchObject({ counters: 1, missing_parts: 2 });
  expect(await impressionsOf(tenant)).toBe(2);
  expect(await countAds(tenant, token, 1)).toBe(3);
});

it('writes to the bucket once, and notices that it was emptied', async () => {
  const tenant = await createTenant();
  const put = vi.spyOn(env.RAW_EVENTS, 'put');
  const now = Date.now();
  for (const minutes of [0, 1, 2]) await watchStores(env, now + minutes * MINUTE);
  expect(put).toHaveBeenCalledTimes(1);
  expect(await db.$count(storeLosses)).toBe(0);
  await env.RAW_EVENTS.delete('deployment/heartbeat.json');
  await watchStores(env, now + 3 * MINUTE);
  await watchStores(env, now + 4 * MINUTE);
  expect(put).toHaveBeenCalledTimes(2);
  const lost = await db
    .select()
    .from(storeLosses)
    .where(eq(storeLosses.applicationId, tenant.application.id));
  expect(lost).toMatchObject([{ store: 'bucket', lostFrom: now + 2 * MINUTE }]);
});
