import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { counterOf } from '#counting';
import {
  deliver,
  expectTotals,
  makeDevices,
  postHistory,
  type TestMessage,
} from '../helpers/counted-history.ts';
import { startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { seededRandom, shuffled } from '../helpers/random.ts';
import { settleOnce } from '../helpers/settle.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

// Whatever happens between the acknowledgement and the report, the totals are those of the journal of what was acknowledged.

async function history(seed: number, count = 25) {
  const random = seededRandom(seed);
  const worker = startWorker();
  const tenant = await createTenant();
  const devices = await makeDevices(tenant, random, count);
  const journal = await postHistory(worker, tenant, devices, random);
  return { random, worker, tenant, devices, journal, messages: worker.queue.take() };
}

/** A report answers whatever happens meanwhile. */
async function expectReportAnswers(worker: TestWorker, tenant: Tenant): Promise<void> {
  const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-20`;
  expect((await worker.team(tenant, `/v1/reports/performance?${query}`)).status).toBe(200);
}

/** Delivers until nothing comes back. */
async function deliverAll(messages: TestMessage[], bindings: Env = env): Promise<void> {
  let waiting = messages;
  for (let round = 0; waiting.length > 0; round++) {
    expect(round).toBeLessThan(12);
    const result = await deliver(waiting, bindings);
    const back = new Set(result.retryMessages.map(({ msgId }) => msgId));
    waiting = waiting.filter(({ id }) => back.has(id));
  }
}

describe('totals equal an independent count', () => {
  it.each([1, 2, 3])('after redelivery of all or some messages, in any order (seed %i)', async (seed) => {
    const { random, worker, tenant, devices, journal, messages } = await history(seed);
    const deliveries = [
      ...messages,
      ...messages.filter(() => random() < 0.5),
      ...messages.filter(() => random() < 0.2),
    ];
    let rest = shuffled(random, deliveries);
    while (rest.length > 0) {
      const size = 1 + Math.floor(random() * 40);
      const part = rest.slice(0, size);
      const result = await deliver(part);
      expect(result.retryMessages).toEqual([]);
      expect(new Set(result.explicitAcks)).toEqual(new Set(part.map(({ id }) => id)));
      // Some batches are delivered once more as they were, as after an acknowledgement that got lost.
      if (random() < 0.3) await deliver(part);
      rest = rest.slice(size);
      if (random() < 0.2) await expectReportAnswers(worker, tenant);
      if (random() < 0.2) await evictDurableObject(counterOf(env, tenant.application.id, 0));
    }
    await expectTotals(worker, tenant, journal, devices);
  });

  it('with two consumers of the same messages, and reports and alarms in between', async () => {
    const { worker, tenant, devices, journal, messages } = await history(4);
    const half = Math.ceil(messages.length / 2);
    const { inside } = startCounter(tenant.application.id);
    await Promise.all([
      deliver(messages),
      deliver([...messages].reverse()),
      expectReportAnswers(worker, tenant),
      deliver(messages.slice(half)),
      inside(async (counter) => {
        counter.waitMs = 0;
        await Promise.all([counter.alarm(), counter.settle(), counter.alarm()]);
      }),
      expectReportAnswers(worker, tenant),
      deliver(messages.slice(0, half)),
    ]);
    await expectTotals(worker, tenant, journal, devices);
  });
});

/** Puts failing stores into the application's counter. */
async function withFaults(tenant: Tenant, prepare: (storage: WatchedStorage, db: WatchedD1) => void) {
  const db = new WatchedD1(env.DB);
  const { inside } = startCounter(tenant.application.id);
  let storage: WatchedStorage | undefined;
  await inside((counter, state) => {
    storage = new WatchedStorage(state.storage);
    prepare(storage, db);
    counter.use(storage.asStorage());
    counter.db = db.asBinding();
  });
  const struck = () => storage?.faultsLeft ?? 0;
  return { db, struck };
}

const FLUSH = [
  'INSERT INTO "counter_flushes"',
  'INSERT INTO rollup_daily ',
  'INSERT INTO "cube_parts"',
  'INSERT INTO rollup_ads ',
  'INSERT INTO rollup_items',
  'INSERT INTO rollup_custom',
  'INSERT INTO cohort_activity ',
  'INSERT INTO cohort_revenue ',
];

describe('a transient error of D1', () => {
  const faults = FLUSH.flatMap((statement) =>
    (['before', 'after'] as const).flatMap((when) => [1, 6].map((times) => ({ statement, when, times }))),
  );
  it.each(faults)('$when $statement, $times times, changes no total', async ({ statement, when, times }) => {
    const { worker, tenant, devices, journal, messages } = await history(9, 6);
    const { db } = await withFaults(tenant, (_, watched) =>
      watched.failOn(new RegExp(statement), 'D1_ERROR: Network connection lost.', { when, times }),
    );
    for (let start = 0; start < messages.length; start += 60) {
      await deliverAll(messages.slice(start, start + 60));
      await expectReportAnswers(worker, tenant);
    }
    expect(db.faultsLeft).toBeLessThan(times);
    await expectTotals(worker, tenant, journal, devices);
  });
});

const LOCAL = [
  'insert into "seen_ids"',
  'insert into "log"',
  'select "events" from "log"',
  'insert into "prepared_writes"',
  'insert into "recent_keys"',
  'insert into "key_generations"',
  'INSERT INTO "purchase_keys"',
  'INSERT INTO "transactions"',
  'INSERT INTO "log_outcomes"',
  'INSERT INTO "outbox"',
  'update "progress"',
  'insert into "device_pages"',
  'insert into "device_days"',
  'insert into "sent_parts"',
  'delete from "prepared_writes"',
  'delete from "outbox"',
];

/** What is prepared is committed by itself. */
const WITHOUT_TRANSACTION = /^(select|delete|insert into "(?:prepared_writes|sent_parts)")/;

describe("a fault of the object's own storage", () => {
  const faults = LOCAL.flatMap((statement) =>
    (['before', 'after', 'commit'] as const).map((when) => ({ statement, when })),
  ).filter(({ statement, when }) => when !== 'commit' || !WITHOUT_TRANSACTION.test(statement));
  it.each(faults)('$when $statement changes no total', async ({ statement, when }) => {
    const { worker, tenant, devices, journal, messages } = await history(10, 6);
    const { struck } = await withFaults(tenant, (storage) => storage.failOn(new RegExp(statement), when, 2));
    for (let start = 0; start < messages.length; start += 60) {
      await deliverAll(messages.slice(start, start + 60));
      await settleOnce(tenant.application.id).catch(() => undefined);
    }
    expect(struck()).toBeLessThan(2);
    await expectTotals(worker, tenant, journal, devices);
  });
});

describe('a counter that is killed', () => {
  it.each(LOCAL)('at %s resumes where it was', async (statement) => {
    const { worker, tenant, devices, journal, messages } = await history(11, 6);
    await withFaults(tenant, (storage) => storage.failOn(new RegExp(statement), 'after', 1));
    const kill = () => evictDurableObject(counterOf(env, tenant.application.id, 0));
    const first = await deliver(messages.slice(0, 100)).catch(() => null);
    await settleOnce(tenant.application.id).catch(() => undefined);
    await kill();
    const acked = new Set(first?.explicitAcks ?? []);
    await deliverAll(messages.filter(({ id }) => !acked.has(id)));
    await kill();
    await expectTotals(worker, tenant, journal, devices);
  });
});
