import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { dayIn } from '#lib/time';
import { recordRun, watchStores } from '#operations';
import { rollupOf, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { objectsOf } from '../helpers/lake.ts';
import { settleOnce } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// One store after the other loses everything. Health says so, the rest works, and counting can be resumed.

const HOUR = 3_600_000;
const worker = startWorker();

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const healthOf = async (tenant: Tenant) => (await worker.team(tenant, '/v1/health')).json();
const impressionsOf = async (tenant: Tenant) => (await rollupOf(tenant.application.id)).impressions;

async function resume(tenant: Tenant): Promise<unknown> {
  const path = `/v1/applications/${tenant.application.id}/resume-counting`;
  return (await worker.team(tenant, path, { method: 'POST' })).json();
}

async function countAd(tenant: Tenant, token: string): Promise<void> {
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  await worker.deliver(worker.queue.take());
  await settleOnce(tenant.application.id);
}

async function loseStorage(stub: DurableObjectStub<undefined>): Promise<void> {
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAll());
  await evictDurableObject(stub);
}

it.each([1, 3])('notices a counter that has lost its storage after %i writes', async (writes) => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const [tenant, other] = [await createTenant(), await createTenant()];
  const { application } = tenant;
  const token = await fetchToken(worker, tenant);
  for (let round = 0; round < writes; round++) await countAd(tenant, token);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });
  await loseStorage(startCounter(application.id).stub() as unknown as DurableObjectStub<undefined>);

  const lost = {
    status: 'degraded',
    applications: [
      {
        needs_resume: true,
        problems: [
          'Counting has stopped: the database or counting was restored to an earlier time, or lost what it stored. Resume it.',
        ],
      },
    ],
  };
  expect(await healthOf(tenant)).toMatchObject(lost);
  expect(await healthOf(other)).toMatchObject({ status: 'ok' });
  const next = await fetchToken(worker, tenant);
  await countAd(tenant, next);
  expect(await healthOf(tenant)).toMatchObject(lost);
  expect(await impressionsOf(tenant)).toBe(writes);
  expect(await resume(tenant)).toMatchObject({ counters: 1, missing_parts: writes });
  expect(await impressionsOf(tenant)).toBe(writes + 1);
  // Resuming brings nothing back: Health says so until the application is restored.
  expect(await healthOf(tenant)).toMatchObject({
    status: 'degraded',
    applications: [
      { needs_resume: false, needs_restore: true, problems: [expect.stringContaining('--application')] },
    ],
  });
  await countAd(tenant, next);
  expect(await impressionsOf(tenant)).toBe(writes + 2);
});

it('creates creatives under the campaigns that exist after their registry has lost its storage', async () => {
  const tenant = await createTenant();
  const names = { campaign: 'Spring', adset: 'Young' };
  await createCreative(worker, tenant, { ...names, creative: 'Cat' });
  await loseStorage(
    env.CREATIVES.getByName(tenant.application.id) as unknown as DurableObjectStub<undefined>,
  );
  const { answer } = await createCreative(worker, tenant, { ...names, creative: 'Dog' });
  expect([answer.campaign.is_new, answer.adset.is_new]).toEqual([false, false]);
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });
  expect(await resume(tenant)).toMatchObject({ creatives: 0 });
});

it('notices an emptied bucket, lists what is left, and forgets the files that are gone', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
  const tenant = await createTenant();
  const { application } = tenant;
  const counter = startCounter(application.id);
  const token = await fetchToken(worker, tenant);
  const exportAll = async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR });
    await counter.inside((own) => own.alarm());
  };
  const events: string[] = [];
  for (let file = 0; file < 12; file++) {
    const answer = await worker.post(tenant, '/webhook', envelope.ad(token));
    events.push(((await answer.json()) as { event_id: string }).event_id);
    await worker.deliver(worker.queue.take());
    await settleOnce(application.id);
    await exportAll();
  }
  const keys = await objectsOf(application.id);
  // The first export has two days: that of the install, and that of the ads.
  expect(keys.length).toBe(13);
  await watchStores(env, Date.now());
  const { objects } = await env.RAW_EVENTS.list();
  await env.RAW_EVENTS.delete(objects.map(({ key }) => key));
  await countAd(tenant, token);
  const listed = async () => {
    const answer = await worker.team(tenant, `/v1/events?application_id=${application.id}&limit=50`);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: unknown[] }).data.length;
  };
  expect(await listed()).toBe(1);
  expect((await worker.team(tenant, `/v1/events/${events[0]}`)).status).toBe(404);

  await watchStores(env, Date.now() + 60_000);
  expect(await healthOf(tenant)).toMatchObject({
    status: 'degraded',
    applications: [
      {
        needs_resume: true,
        problems: [expect.stringMatching(/^The bucket for raw events was emptied or replaced\. /)],
      },
    ],
  });
  // Counting and exporting go on.
  expect(await impressionsOf(tenant)).toBe(13);
  await exportAll();
  expect((await objectsOf(application.id)).length).toBe(1);
  expect(await resume(tenant)).toMatchObject({ counters: 0, missing_files: 13 });
  // The hours of this test had none of the other schedules.
  const schedules = ['hourly chores', 'months', 'exchange rates', 'snapshot'] as const;
  for (const schedule of schedules) await recordRun(env, schedule, Date.now(), async () => undefined);
  await env.RAW_EVENTS.put(`snapshots/${dayIn('UTC', Date.now())}/manifest.json`, '{}');
  expect(await healthOf(tenant)).toMatchObject({ status: 'ok' });
  expect(await resume(tenant)).toMatchObject({ missing_files: 0 });
  expect(await listed()).toBe(1);
});
