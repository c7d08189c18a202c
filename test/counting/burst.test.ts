import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { startWorker } from '../helpers/worker.ts';

// More events than a report can wait for: it says how many it lacks, and they are counted without another question.

const EVENTS = 3_000;

async function startBusy(applicationId?: string) {
  const counter = startCounter(applicationId);
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  const ads = (count: number) =>
    Array.from({ length: count }, () => eventOf(counter.applicationId, device, 'custom.ad'));
  await counter.stub().settle();
  await counter.append(ads(EVENTS));
  const alarmAt = () => counter.inside((_, { storage }) => storage.getAlarm());
  return { ...counter, ads, alarmAt };
}

it('counts what a question did not wait for at once, by itself', async () => {
  const { applicationId, stub, alarmAt, append, ads } = await startBusy();
  expect(await stub().settle(0)).toMatchObject({ settled: false, uncounted: EVENTS });
  expect(await alarmAt()).toBeLessThanOrEqual(Date.now());
  await runDurableObjectAlarm(stub());
  const counted = () => rollupOf(applicationId);
  await expect.poll(counted, { timeout: 20_000 }).toMatchObject({ impressions: EVENTS });
  expect(await stub().settle()).toMatchObject({ settled: true, uncounted: 0 });
  // Nobody has asked for what arrives later.
  await append(ads(EVENTS));
  expect(await alarmAt()).toBeGreaterThan(Date.now() + 60_000);
});

slowIt('includes what is counted but not in the database yet in what is missing', async () => {
  const { applicationId, stub, inside, append, ads } = await startBusy();
  const db = new WatchedD1(env.DB);
  db.failWhen((sql) => sql.includes('INSERT INTO "counter_flushes"'), 'D1_ERROR: overloaded');
  await inside((counter) => {
    counter.db = db.asBinding();
  });
  expect(await stub().settle()).toMatchObject({ settled: false, uncounted: EVENTS });
  await append(ads(7));
  expect(await stub().settle(0)).toMatchObject({ settled: false, uncounted: EVENTS + 7 });
  // Those of a second run come on top.
  expect(await stub().settle()).toMatchObject({ settled: false, uncounted: EVENTS + 7 });
  expect(await stub().health()).toMatchObject({ pending: 0 });
  // After a restart, the counter no longer knows how many there are.
  await inside((counter, { storage }) => counter.use(storage));
  expect(await stub().settle(0)).toMatchObject({ settled: false, uncounted: null });
  await inside((counter) => {
    counter.db = env.DB;
  });
  await expect
    .poll(() => stub().settle(), { timeout: 20_000 })
    .toMatchObject({ settled: true, uncounted: 0 });
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: EVENTS + 7 });
});

it('is stated by reports, their CSV and the pages', async () => {
  const tenant = await createTenant();
  const counters = new WatchedCounters(({ method }) =>
    method === 'settle'
      ? Promise.resolve({
          settled: false,
          countedThrough: Date.parse('2026-03-02T10:00:00Z'),
          uncounted: 41_500,
        })
      : undefined,
  );
  const worker = startWorker({ COUNTERS: counters.asBinding() });
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-05`;
  const report = await worker.team(tenant, path);
  expect(await report.json()).toMatchObject({
    uncounted: 41_500,
    counted_through: '2026-03-02T10:00:00.000Z',
  });
  const csv = await worker.team(tenant, `${path}&format=csv`);
  expect(csv.headers.get('X-Uncounted')).toBe('41500');
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const page = await pageOf(await browser.get('/breakdown'));
  expect(page.texts('#fresh')).toEqual([expect.stringContaining('Counting 41,500 newer events')]);
});
