import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeSnapshot } from '#backup';
import { counterOf } from '#counting';
import { readToken } from '#devices';
import {
  APPLE_AD,
  appleAnswers,
  attributionOf,
  creditsIn,
  deliverAll,
  fetchIphone,
  performanceBy,
  rawEvents,
} from '../attribution/apple-ads.ts';
import { exportAll, loseAllButBucket, restoreAll } from '../helpers/backup.ts';
import { follow, IPHONE_AGENT, measure, STORES } from '../helpers/clicks.ts';
import { startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Whatever fails or is repeated while a credit is open, its device and its events agree, and each counts once.

const worker = startWorker();

afterEach(() => {
  vi.restoreAllMocks();
  worker.queue.take();
});

/** An application that asks Apple, with a creative for the ad. */
async function start() {
  const tenant = await createTenant({ ...STORES, apple_ads: true });
  const creative = await createCreative(worker, tenant, {
    external_ids: [{ network: 'apple_ads', id: String(APPLE_AD.adId) }],
  });
  return { tenant, creative };
}

async function post(tenant: Tenant, token: string, name = 'opened') {
  const body = {
    type: 'custom',
    created_at: new Date().toISOString(),
    creativeToken: token,
    payload: { event_name: name },
  };
  expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
  return worker.queue.take();
}

const tablesOf = (tenant: Tenant) =>
  startCounter(tenant.application.id).inside((_, { storage }) =>
    ['open_credits', 'held_events'].map((table) =>
      storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).one(),
    ),
  );
const EMPTY = [{ n: 0 }, { n: 0 }];

/** One install and two events, under the creative of the ad, in reports and in files. */
async function expectWhole(tenant: Tenant, creativeId: string) {
  expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
    { creative_id: creativeId, installs: 1, events: 2 },
  ]);
  expect(await performanceBy(worker, tenant, 'network')).toMatchObject([
    { network: 'apple_ads', installs: 1, events: 2 },
  ]);
  const raw = await rawEvents(tenant);
  expect(raw.map(({ type }) => type).sort()).toEqual(['custom', 'custom', 'install']);
  expect(new Set(raw.map(({ creative, network }) => `${creative} ${network}`))).toEqual(
    new Set([`${creativeId} apple_ads`]),
  );
  expect(await tablesOf(tenant)).toEqual(EMPTY);
}

const STATEMENTS = [
  'insert into "open_credits"',
  'insert into "held_events"',
  'select "token" from "open_credits"',
  'update "devices"',
  'delete from "open_credits"',
  'delete from "held_events"',
  'insert into "log"',
  'insert into "seen_ids"',
];
const faults = STATEMENTS.flatMap((statement) =>
  (['before', 'after', 'commit'] as const).map((when) => ({ statement, when })),
).filter(({ statement, when }) => when !== 'commit' || !statement.startsWith('select'));

it.each(faults)('a fault $when $statement changes no figure', async ({ statement, when }) => {
  const { tenant, creative } = await start();
  appleAnswers(404, APPLE_AD);
  const { inside } = startCounter(tenant.application.id);
  const watched = await inside((counter, state) => {
    const storage = new WatchedStorage(state.storage);
    storage.failOn(new RegExp(statement), when, 1);
    counter.use(storage.asStorage());
    return storage;
  });
  // The backend repeats what was not acknowledged.
  const fetchAgain = () => fetchIphone(worker, tenant, { device_id: 'one' });
  const token = await fetchAgain().catch(fetchAgain);
  const credits = creditsIn(worker.queue.take());
  const events = await post(tenant, token);
  await deliverAll(worker, events);
  const claims = await readToken(token, env.TOKEN_SECRET);
  // A fault after the device was created: its message was never sent.
  const body = {
    open_credit: { application_id: tenant.application.id, shard: 0, device_id: claims?.deviceId },
  };
  await deliverAll(worker, credits.length > 0 ? credits : [{ id: 'late', body }]);
  await deliverAll(worker, await post(tenant, token));
  await deliverAll(worker, [...events, ...credits]);
  await expectWhole(tenant, creative.id);
  expect(watched.faultsLeft).toBe(0);
});

it('a counter that is killed at any point resumes where it was', async () => {
  const { tenant, creative } = await start();
  appleAnswers(APPLE_AD);
  const kill = () => evictDurableObject(counterOf(env, tenant.application.id, 0));
  const token = await fetchIphone(worker, tenant);
  const credits = worker.queue.take();
  await kill();
  const first = await post(tenant, token);
  await deliverAll(worker, first);
  await kill();
  await deliverAll(worker, credits);
  await kill();
  await deliverAll(worker, [...first, ...credits, ...(await post(tenant, token))]);
  await kill();
  await expectWhole(tenant, creative.id);
});

/** A database that fails once, at the first statement of this form. */
function failingAt(pattern: RegExp): { DB: D1Database; hasFailed: () => boolean } {
  let failures = 0;
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === 'prepare') {
        return (query: string) => {
          if (pattern.test(query) && failures++ === 0) throw new Error('the database failed');
          return target.prepare(query);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { DB, hasFailed: () => failures > 0 };
}

it.each([
  ['the application is read', /from "applications"/],
  ['the creative is looked for', /external_ids/],
  ['the guessed click is given back', /update "clicks"/],
])('a fault while %s is made up for by the next delivery', async (_, pattern) => {
  const { tenant, creative } = await start();
  const clicked = await createCreative(worker, tenant, { creative: 'Clicked' });
  const { clickId, messages } = await follow(worker, clicked.path, IPHONE_AGENT);
  await worker.deliver([...messages, ...(await measure(worker, clicked.path, clickId)).messages]);
  appleAnswers(APPLE_AD);
  const token = await fetchIphone(worker, tenant, { ip: '203.0.113.9' });
  const credits = worker.queue.take();
  expect(await attributionOf(worker, tenant, token)).toMatchObject({ click_id: clickId });
  await deliverAll(worker, await post(tenant, token));
  const { DB, hasFailed } = failingAt(pattern);
  expect(await deliverAll(startWorker({ DB }), credits)).toEqual([2]);
  expect(hasFailed()).toBe(true);
  await deliverAll(worker, await post(tenant, token));
  const click = env.DB.prepare('SELECT device_id, claimed_by FROM clicks WHERE id = ?').bind(clickId);
  expect(await click.first()).toEqual({ device_id: null, claimed_by: null });
  await expectWhole(tenant, creative.id);
});

describe('erasure', () => {
  it('of a device whose credit is open counts what was acknowledged and leaves no trace of it', async () => {
    const { tenant } = await start();
    const asked = appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    const credits = worker.queue.take();
    const events = await post(tenant, token);
    await deliverAll(worker, events);
    const { deviceId = '' } = (await readToken(token, env.TOKEN_SECRET)) ?? {};
    const erased = await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
    expect(await erased.json()).toMatchObject({ erased: true, events: 2 });
    await deliverAll(worker, [...credits, ...events]);
    await settleAll(tenant.application.id);
    expect(asked).toEqual([]);
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([{ installs: 1, events: 1 }]);
    await exportAll(tenant.application.id, 1);
    const traces = await startCounter(tenant.application.id).inside((_, { storage }) =>
      ['open_credits', 'held_events', 'log', 'devices'].flatMap((table) =>
        storage.sql
          .exec(`SELECT * FROM ${table}`)
          .toArray()
          .filter((row) => JSON.stringify(row).includes(deviceId)),
      ),
    );
    expect(traces).toEqual([]);
  });

  it('of a device that Apple took a guessed click from frees that click', async () => {
    const { tenant } = await start();
    appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    const { deviceId = '' } = (await readToken(token, env.TOKEN_SECRET)) ?? {};
    const clickId = `clk_${'0'.repeat(32)}`;
    await env.DB.prepare(
      `INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, device_id, claimed_by, named_installs)
       VALUES (?, ?, 'crt_1', 1, 'ios', ?, 'me', 0)`,
    )
      .bind(tenant.application.id, clickId, deviceId)
      .run();
    const { inside, stub } = startCounter(tenant.application.id);
    await inside((_, { storage }) => {
      const attribution = JSON.stringify({
        method: 'probabilistic',
        creative_id: 'crt_1',
        click_id: clickId,
      });
      storage.sql.exec('UPDATE devices SET attribution = ?', attribution);
    });
    // The queue's consumer stopped before it gave the click back.
    await stub().resolveCredit(deviceId, {
      answer: { outcome: 'attributed', ad: { campaign_id: '1' } },
      creativeId: null,
    });
    await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
    const row = await env.DB.prepare('SELECT device_id, claimed_by FROM clicks WHERE id = ?')
      .bind(clickId)
      .first();
    expect(row).toEqual({ device_id: null, claimed_by: null });
  });
});

describe('a restore', () => {
  it.each([
    ['from before the answer', false],
    ['from before the answer, with the files of the answer', true],
  ])('%s counts all of it once', async (_, isExported) => {
    await loseAllButBucket(() => new Map());
    const { tenant, creative } = await start();
    appleAnswers(APPLE_AD);
    const token = await fetchIphone(worker, tenant);
    const credits = worker.queue.take();
    await deliverAll(worker, await post(tenant, token));
    expect(await tablesOf(tenant)).toEqual([{ n: 1 }, { n: 1 }]);
    await writeSnapshot(env, Date.now());
    if (isExported) {
      await deliverAll(worker, [...credits, ...(await post(tenant, token))]);
      await settleAll(tenant.application.id);
      await exportAll(tenant.application.id, 1);
    }
    await loseAllButBucket();
    await restoreAll(worker);
    expect(await tablesOf(tenant)).toEqual([{ n: 1 }, { n: 1 }]);
    const { inside } = startCounter(tenant.application.id);
    // The alarm does not settle it while the files are restored, however long ago the snapshot was taken.
    const waits = await inside((_, { storage }) =>
      storage.sql.exec<{ at: number }>('SELECT min(created_at) AS at FROM open_credits').one(),
    );
    expect(waits.at).toBeGreaterThan(Date.now() + 5 * 3_600_000);
    if (!isExported) await deliverAll(worker, [...credits, ...(await post(tenant, token))]);
    else {
      vi.useFakeTimers({ now: Date.now() + 7 * 3_600_000, toFake: ['Date'] });
      try {
        await inside((counter) => counter.alarm());
      } finally {
        vi.useRealTimers();
      }
    }
    expect(await attributionOf(worker, tenant, token)).toMatchObject({
      method: 'apple_ads',
      creative_id: creative.id,
      apple_ads: { outcome: 'attributed' },
    });
    await expectWhole(tenant, creative.id);
  });
});
