import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listAudit } from '#audit';
import { counterOf } from '#counting';
import { applicationDeletions, database } from '#db';
import { continueDeletions } from '#deletion';
import { forgetCredentials } from '#http';
import { newId } from '#lib/ids';
import { nextTurn } from '#lib/next-turn';
import { clearApplication, firstTokens } from '../../src/deletion/clear-application.ts';
import service from '../../src/index.ts';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { objectsOf } from '../helpers/lake.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { settleAll } from '../helpers/settle.ts';
import { fillTables, tablesWith } from '../helpers/tables.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

const worker = startWorker();
const DAY_MS = 86_400_000;

afterEach(() => {
  vi.useRealTimers();
});

async function remove(
  { application, teamToken }: Tenant,
  name: unknown = application.name,
  on: TestWorker = worker,
) {
  const path = `/v1/applications/${application.id}`;
  const answer = await on.team({ teamToken }, path, { method: 'DELETE', body: { name } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const done = ({ application }: Tenant) => ({
  status: 200,
  body: { deleted: true, id: application.id, data: 'done' },
});

/** An application with a creative, a device with a counted event and a raw event file, and a row in every table. */
async function withEverything() {
  const tenant = await createTenant();
  const { id } = tenant.application;
  const creative = await createCreative(worker, tenant);
  const token = await fetchToken(worker, tenant, { data: { creative_token: creative.token } });
  await worker.post(tenant, '/webhook', envelope.purchase(token));
  await worker.deliver(worker.queue.take());
  await settleAll(id);
  await fillTables(id);
  await env.RAW_EVENTS.put(`events/application=${id}/day=2026-03-01/a.parquet`, 'rows');
  const others = ['months', 'cubes', 'names'].map((folder) => `${folder}/${id}/rollup_daily/2026-03`);
  for (const other of others) {
    await env.RAW_EVENTS.put(`${other}.parquet`, 'sums');
  }
  return { tenant, creative, token };
}

const devicesOf = async ({ application }: Tenant) =>
  (await counterOf(env, application.id, 0).health()).devices;
const deletions = async ({ team }: Tenant) =>
  (await listAudit(database(env.DB), team.id, { limit: 50 })).filter(
    ({ action }) => action === 'application.deleted',
  );

async function expectNothingLeft(tenant: Tenant) {
  const { id } = tenant.application;
  expect(Object.keys(await tablesWith(id)).sort()).toEqual(['application_deletions', 'audit_log']);
  expect(await objectsOf(id)).toEqual([]);
  const { objects } = await env.RAW_EVENTS.list();
  expect(objects.filter(({ key }) => key.includes(id))).toEqual([]);
  expect(await devicesOf(tenant)).toBe(0);
  expect(await deletions(tenant)).toHaveLength(1);
}

const scheduled = async (at: number) => {
  vi.setSystemTime(at);
  await service.scheduled(inMinuteOf('chores'), worker.bindings);
  vi.useRealTimers();
};

it('deletes everything in D1, its counters and R2, and nothing of another application', async () => {
  const [{ tenant, creative, token }, { tenant: other }] = [await withEverything(), await withEverything()];
  expect(await devicesOf(tenant)).toBe(1);
  const before = await tablesWith(other.application.id);
  // Every table of the schema that has an application, and those that know one by another name.
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      'counter_flushes',
      'tokens',
      'parked_messages',
      'rollup_daily',
      'cube_parts',
      'costs',
      'clicks',
    ]),
  );

  expect(await remove(tenant)).toEqual(done(tenant));
  await expectNothingLeft(tenant);
  expect(await deletions(tenant)).toMatchObject([
    { actor: expect.stringMatching(/^access token tkn_/), subject: `Test game (${tenant.application.id})` },
  ]);
  expect(await tablesWith(other.application.id)).toEqual(before);
  expect(await objectsOf(other.application.id)).toHaveLength(1);
  expect(await devicesOf(other)).toBe(1);

  forgetCredentials();
  expect((await worker.post(tenant, '/webhook', envelope.purchase(token))).status).toBe(401);
  expect((await worker.request(creative.path)).status).toBe(404);
  expect((await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).status).toBe(404);
  const listed = await worker.team(tenant, '/v1/applications');
  expect(await listed.json()).toMatchObject({ data: [] });
  expect(await remove(tenant)).toEqual(done(tenant));
  expect(await deletions(tenant)).toHaveLength(1);
});

it('empties a counter without shutting it down, so that late events find a new one', async () => {
  const { tenant } = await withEverything();
  const counter = startCounter(tenant.application.id);
  await counter.inside((object) => {
    object.waitMs = 12_345;
  });
  await remove(tenant);
  const left = await counter.inside(async ({ waitMs }, { storage }) => ({
    waitMs,
    alarm: await storage.getAlarm(),
    tables: storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'")
      .toArray(),
  }));
  expect(left).toEqual({ waitMs: 12_345, alarm: null, tables: [] });

  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('one shard');
  const event = eventOf(tenant.application.id, created.device, 'custom');
  await counter.append([event]);
  await counter.append([event]);
  expect(await counter.stub().settle()).toMatchObject({ settled: true });
  expect(await rollupOf(tenant.application.id)).toMatchObject({ installs: 1, events: 1 });
  expect(await counter.stub().eventStatus(event.id)).toMatchObject({ status: 'counted' });
});

it('empties a counter once the file that it is writing is in R2, and deletes that file too', async () => {
  const { tenant } = await withEverything();
  const { id } = tenant.application;
  const counter = startCounter(id);
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const { promise: writing, resolve: begin } = Promise.withResolvers<void>();
  await counter.inside((object) => {
    object.bucket = {
      get: (key, options) => env.RAW_EVENTS.get(key, options),
      delete: (keys) => env.RAW_EVENTS.delete(keys),
      put: async (key, bytes) => {
        begin();
        await written;
        return env.RAW_EVENTS.put(key, bytes);
      },
    };
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  const exported = counter.inside((object) => object.alarm());
  await writing;
  let isDeleted = false;
  const deleted = counter.inside(async (object) => {
    await object.deleteAll();
    isDeleted = true;
  });
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(isDeleted).toBe(false);
  write();
  await Promise.all([deleted, exported]);
  // The install and the purchase are of two days.
  expect(await objectsOf(id)).toHaveLength(3);
  expect(await remove(tenant)).toEqual(done(tenant));
  expect(await objectsOf(id)).toEqual([]);
});

it('deletes more rows than one statement takes', async () => {
  const tenant = await createTenant();
  const { id } = tenant.application;
  const numbers = JSON.stringify(Array.from({ length: 2_500 }, (_, index) => index));
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at)
     SELECT ?1, '2026-03-01', 'C' || value, 'usd', 1, 1 FROM json_each(?2)`,
  )
    .bind(id, numbers)
    .run();
  const first = Number.parseInt(id.slice(4, 16), 16);
  // Tokens lie by device: more than a portion of them, every second one another application's.
  await env.DB.prepare(
    `INSERT INTO tokens SELECT 'tok_' || value, CASE value % 2 WHEN 0 THEN ?1 ELSE 'app_other' END,
       'dev_' || printf('%012x', ?2 + value) || ?3, 1, 2, NULL FROM json_each(?4)`,
  )
    .bind(id, first, id.slice(16), JSON.stringify(Array.from({ length: 12_000 }, (_, index) => index)))
    .run();
  expect(await remove(tenant)).toEqual(done(tenant));
  const count = (sql: string) => env.DB.prepare(sql).bind(id).first<number>('n');
  expect(await count('SELECT count(*) AS n FROM costs WHERE application_id = ?')).toBe(0);
  expect(await count('SELECT count(*) AS n FROM tokens WHERE application_id = ?')).toBe(0);
  expect(await count("SELECT count(*) AS n FROM tokens WHERE application_id = 'app_other' AND id <> ?")).toBe(
    6_000,
  );
});

it('stops when its budget is used up, and continues from there', async () => {
  const { tenant } = await withEverything();
  const { id } = tenant.application;
  const deletion = {
    deletedId: id,
    teamId: tenant.team.id,
    name: 'Test game',
    shards: 1,
    deletedAt: 0,
    clearedAt: null,
    tokensThrough: firstTokens(id),
  };
  const db = database(env.DB);
  let rounds = 0;
  const round = () =>
    clearApplication(env, db, deletion, { deadline: Number.POSITIVE_INFINITY, statements: 2 * rounds });
  while (!(await round())) {
    expect(Object.keys(await tablesWith(id)).length).toBeGreaterThan(0);
    rounds++;
  }
  expect(rounds).toBeGreaterThan(10);
  // The application's own row and its keys go with the transaction that begins its deletion.
  expect(Object.keys(await tablesWith(id)).sort()).toEqual(['applications']);
});

describe('asks for the name', () => {
  it.each([
    { name: undefined, message: 'name is required' },
    { name: 'test game', message: 'name must be the name of the application' },
    { name: '', message: 'name must be the name of the application' },
  ])('and refuses $name', async ({ name, message }) => {
    const tenant = await createTenant();
    const answer = await worker.team(tenant, `/v1/applications/${tenant.application.id}`, {
      method: 'DELETE',
      body: { name },
    });
    expect([answer.status, await answer.json()]).toEqual([400, { message }]);
    expect((await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).status).toBe(200);
  });

  it('also of one that is deleted already', async () => {
    const tenant = await createTenant();
    await remove(tenant);
    expect(await remove(tenant, 'Other')).toMatchObject({ status: 400 });
  });
});

it('is a 404 to another team before and after, as if there were no such application', async () => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const theirs = await remove({ ...tenant, teamToken: stranger.teamToken });
  expect(theirs).toEqual({ status: 404, body: { message: 'Application not found' } });
  const none = { ...stranger, application: { ...stranger.application, id: `app_${'0'.repeat(32)}` } };
  expect(await remove(none)).toEqual(theirs);
  expect((await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).status).toBe(200);
  await remove(tenant);
  expect(await remove({ ...tenant, teamToken: stranger.teamToken })).toEqual(theirs);
});

type Faults = { db: WatchedD1; counters: WatchedCounters; bucket: R2Bucket };

/** A bucket whose next such call fails, before it is done or after. */
function failingBucket(call: 'list' | 'delete', when: 'before' | 'after'): R2Bucket {
  let left = 1;
  return new Proxy(env.RAW_EVENTS, {
    get: (target, name) =>
      typeof Reflect.get(target, name) !== 'function'
        ? Reflect.get(target, name)
        : async (...values: unknown[]) => {
            const fails = name === call && left-- > 0;
            if (fails && when === 'before') throw new Error('R2 failed');
            const result: unknown = await Reflect.apply(Reflect.get(target, name), target, values);
            if (fails) throw new Error('R2 failed');
            return result;
          },
  });
}

const DISK = 'D1_ERROR: disk I/O error';
const POINTS: [string, (faults: Faults, when: 'before' | 'after') => void][] = [
  ['its first transaction', ({ db }, when) => db.failOn(/delete from "applications"/, DISK, { when })],
  ['its counters', ({ counters }, when) => counters.failOn('deleteAll', when)],
  ['the list of files', (faults, when) => Object.assign(faults, { bucket: failingBucket('list', when) })],
  [
    'the deletion of files',
    (faults, when) => Object.assign(faults, { bucket: failingBucket('delete', when) }),
  ],
  ['the flushes', ({ db }, when) => db.failOn(/delete from "counter_flushes"/, DISK, { when })],
  ['the creatives', ({ db }, when) => db.failOn(/delete from "creatives"/, DISK, { when })],
  ['a rollup', ({ db }, when) => db.failOn(/delete from "rollup_daily"/, DISK, { when })],
  ['the tokens', ({ db }, when) => db.failOn(/delete from "tokens"/, DISK, { when })],
  ['its end', ({ db }, when) => db.failOn(/set "cleared_at"/, DISK, { when })],
];

describe.each(['before', 'after'] as const)('%s it is done', (when) => {
  it.each(POINTS)('is completed by a retry after a failure of %s', async (_, inject) => {
    const { tenant } = await withEverything();
    const faults = { db: new WatchedD1(env.DB), counters: new WatchedCounters(), bucket: env.RAW_EVENTS };
    inject(faults, when);
    const failing = startWorker({
      DB: faults.db.asBinding(),
      COUNTERS: faults.counters.asBinding(),
      RAW_EVENTS: faults.bucket,
    });
    expect((await remove(tenant, tenant.application.name, failing)).status).toBe(500);
    expect(faults.db.faultsLeft + faults.counters.faultsLeft).toBe(0);
    expect(await remove(tenant)).toEqual(done(tenant));
    await expectNothingLeft(tenant);
  });
});

it('is completed by the cron if nobody retries', async () => {
  const { tenant } = await withEverything();
  const db = new WatchedD1(env.DB);
  db.failOn(/delete from "rollup_daily"/, DISK);
  expect((await remove(tenant, tenant.application.name, startWorker({ DB: db.asBinding() }))).status).toBe(
    500,
  );
  await scheduled(Date.now());
  await expectNothingLeft(tenant);
});

it('is completed by the cron although another application’s deletion keeps failing', async () => {
  const [failing, { tenant }] = [await withEverything(), await withEverything()];
  const db = new WatchedD1(env.DB);
  db.failOn(/delete from "rollup_daily"/, DISK, { times: 2 });
  const broken = startWorker({ DB: db.asBinding() });
  for (const one of [failing.tenant, tenant])
    expect((await remove(one, one.application.name, broken)).status).toBe(500);
  const list: R2Bucket['list'] = (options) => {
    if (options?.prefix?.includes(failing.tenant.application.id)) throw new Error('R2 fails');
    return env.RAW_EVENTS.list(options);
  };
  const bucket = { ...env, RAW_EVENTS: { list, delete: env.RAW_EVENTS.delete.bind(env.RAW_EVENTS) } };
  const cron = () => continueDeletions(bucket as unknown as Env, database(env.DB), Date.now());
  await expect(cron()).rejects.toThrow('R2 fails');
  await expectNothingLeft(tenant);
});

it('is continued by the cron before what was deleted long ago is cleared once more', async () => {
  await env.DB.prepare('DELETE FROM application_deletions').run();
  const db = database(env.DB);
  const at = Date.now();
  const deletion = (deletedAt: number, clearedAt: number | null) => {
    const deletedId = newId('app');
    const teamId = newId('team');
    return {
      deletedId,
      teamId,
      name: 'X',
      shards: 1,
      deletedAt,
      clearedAt,
      tokensThrough: firstTokens(deletedId),
    };
  };
  const waiting = deletion(at, null);
  // More than one run takes.
  const rows = Array.from({ length: 20 }, () => deletion(at - 10 * DAY_MS, at - 10 * DAY_MS));
  for (const row of [...rows, waiting]) await db.insert(applicationDeletions).values(row);
  await continueDeletions(env, db, at);
  const [left] = await db
    .select()
    .from(applicationDeletions)
    .where(eq(applicationDeletions.deletedId, waiting.deletedId));
  expect(left?.clearedAt).toBe(at);
  await env.DB.prepare('DELETE FROM application_deletions').run();
});

it('also deletes late arrivals, once nothing more can arrive', async () => {
  // Those of other tests would be due as well.
  await env.DB.prepare('DELETE FROM application_deletions').run();
  const { tenant, creative } = await withEverything();
  const { id } = tenant.application;
  const { messages } = await follow(worker, creative.path, ANDROID_AGENT);
  const at = Date.now();
  await remove(tenant);
  // A click that was accepted before, and which the queue delivers afterwards.
  await worker.deliver(messages);
  await settleAll(id);
  const late = [
    'application_deletions',
    'audit_log',
    'clicks',
    'counter_flushes',
    'cube_parts',
    'rollup_daily',
  ];
  expect(Object.keys(await tablesWith(id)).sort()).toEqual(late);
  await scheduled(at + 8 * DAY_MS);
  expect(Object.keys(await tablesWith(id)).sort()).toEqual(late);
  await scheduled(at + 9 * DAY_MS + 1_000);
  expect(Object.keys(await tablesWith(id))).toEqual(['audit_log']);
  expect(await remove(tenant)).toMatchObject({ status: 404 });
});
