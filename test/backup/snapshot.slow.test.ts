import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq, is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RestoreProgress, writeSnapshot } from '#backup';
import { type Counter, counterOf } from '#counting';
import * as schema from '#db';
import { continueDeletions, deleteApplication } from '#deletion';
import { readToken } from '#devices';
import { keepHashKey } from '#hashing';
import type { Bucket } from '#lake';
import { DAY_MS } from '#lib/time';
import { mergeMonth } from '../../src/rollup/months/merge-month.ts';
import {
  askRestore,
  beginRestore,
  exportAll,
  loseAllButBucket,
  readBucket,
  restoreAll,
} from '../helpers/backup.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { FaultyBucket } from '../helpers/lake.ts';
import { addDays, DAILY, MARCH, march, read } from '../helpers/march.ts';
import { createPerson } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

beforeEach(() => loseAllButBucket(() => new Map()));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const keys = async () => [...(await readBucket()).keys()];
const nameOf = (table: SQLiteTable) => getTableConfig(table).name;

/** What lasts for minutes or tells about the deployment itself, and impressions: there are many, and they matter for a day. */
const NOT_COPIED: readonly SQLiteTable[] = [
  // Follows from the counters.
  schema.counterFlushes,
  schema.delayedMessages,
  schema.impressions,
  schema.notices,
  schema.passwordResets,
  schema.rejections,
  schema.restores,
  schema.secretCopies,
  schema.storeFormats,
  schema.scheduleRuns,
  schema.sessions,
  schema.storeLosses,
  schema.verifications,
];

it('says of every table whether a snapshot has it', () => {
  const tables = Object.values(schema).filter((value) => is(value, SQLiteTable));
  const said = [...schema.ROLLED_UP, ...schema.SETTINGS, ...NOT_COPIED].map(nameOf);
  expect(said.sort()).toEqual(tables.map((table) => nameOf(table as SQLiteTable)).sort());
});

it('brings back whole numbers beyond 2^53, any text, and what is unknown', async () => {
  const { application } = await createTenant();
  const rows = [
    ['2026-03-01', 'Spring "1"\n\u2028, € 😀', '9007199254740993', null],
    ['2026-03-02', '', '0', 7],
  ];
  for (const [day, campaign, amount, clicks] of rows) {
    await env.DB.prepare(
      `INSERT INTO costs (application_id, day, campaign, currency, amount, clicks, updated_at) VALUES (?, ?, ?, 'vnd', ${amount}, ?, 1)`,
    )
      .bind(application.id, day, campaign, clicks)
      .run();
  }
  const read = async () =>
    (await env.DB.prepare('SELECT *, CAST(amount AS TEXT) AS exact FROM costs ORDER BY day').all()).results;
  const before = await read();
  expect(before[0]).toMatchObject({ exact: '9007199254740993', clicks: null });
  await writeSnapshot(env, Date.now());
  await loseAllButBucket();
  await restoreAll(worker);
  expect(await read()).toEqual(before);
});

it('holds no key, token or session that could be used', async () => {
  const tenant = await createTenant();
  const person = await createPerson(tenant.team, 'owner');
  await fetchToken(worker, tenant, { data: { device_id: 'the-name-of-a-device' } });
  await writeSnapshot(env, Date.now());
  const objects = await readBucket();
  const text = [...objects.values()].map((bytes) => new TextDecoder().decode(bytes)).join('\n');
  expect(text).toContain(person.email);
  for (const secret of [tenant.apiKey, tenant.teamToken, person.password, 'the-name-of-a-device']) {
    expect(text).not.toContain(secret);
  }
  for (const secret of [env.TOKEN_SECRET, env.KEY_ENCRYPTION_SECRET, env.SESSION_SECRET]) {
    expect(text).not.toContain(secret);
  }
  expect([...objects.keys()].filter((key) => /sessions|password_resets|verifications/.test(key))).toEqual([]);
});

it('stops a counter while it is copied: it accepts events, and counts them afterwards', async () => {
  const counter = startCounter();
  const [device] = await counter.createDevices(1);
  if (!device) throw new Error('no device');
  await counter.stub().settle();
  const ad = () => eventOf(counter.applicationId, device, 'custom.ad');
  const sql = (query: string) => counter.inside((_, { storage }) => storage.sql.exec(query).toArray());
  const counted = () => sql('SELECT counted_batch, sequence FROM progress');
  const written = async () => (await env.DB.prepare('SELECT * FROM counter_flushes').all()).results;
  const before = [await counted(), await written()];
  await counter.stub().whileStill(async () => {
    expect(await counter.append([ad()])).toMatchObject({ appended: 1, pending: 1 });
    expect(await counter.stub().settle(200)).toMatchObject({ settled: false });
    expect([await counted(), await written()]).toEqual(before);
    expect(await rollupOf(counter.applicationId)).toMatchObject({ installs: 1, impressions: 0 });
    // As merging blocks does, without a run.
    await sql("INSERT INTO outbox VALUES ((SELECT sequence + 1 FROM progress), '[]', 1)");
    await sql('UPDATE progress SET sequence = sequence + 1');
    expect(await counter.stub().settle(200)).toMatchObject({ settled: false });
    expect(await written()).toEqual(before[1]);
    expect(await counter.stub().copyTables('copy')).toMatchObject({ sequence: 1 });
  });
  expect(await counter.stub().settle()).toMatchObject({ settled: true });
  expect(await rollupOf(counter.applicationId)).toMatchObject({ installs: 1, impressions: 1 });
});

it('leaves out an application that cannot be copied, says so, and adds it in the next run', async () => {
  const [good, bad] = [await createTenant(), await createTenant()];
  for (const tenant of [good, bad]) {
    await worker.post(tenant, '/webhook', envelope.ad(await fetchToken(worker, tenant)));
  }
  await worker.deliver(worker.queue.take());
  for (const { application } of [good, bad]) await settleAll(application.id);
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const stub = counterOf(env, bad.application.id, 0);
  const use = (bucket: Bucket) =>
    runInDurableObject(stub, (counter: Counter) => {
      counter.bucket = bucket;
    });
  // It exports, and then cannot be copied.
  await stub.whileStill(async () => undefined);
  await use(new FaultyBucket(env.RAW_EVENTS, 'always'));
  const now = Date.now();
  await expect(writeSnapshot(env, now)).rejects.toThrow(
    new RegExp(`^Not in the snapshot of \\S+: ${bad.application.id}$`),
  );
  expect(log).toHaveBeenCalled();
  const done = async () => (await keys()).filter((key) => key.endsWith('/done.json'));
  expect(await done()).toEqual([expect.stringContaining(good.application.id)]);
  await use(env.RAW_EVENTS);
  await writeSnapshot(env, now);
  expect(await done()).toHaveLength(2);
  // It counts again.
  await worker.post(bad, '/webhook', envelope.ad(await fetchToken(worker, bad)));
  await worker.deliver(worker.queue.take());
  await settleAll(bad.application.id);
});

it('has each sum once, although a month is merged while it is written', async () => {
  const { application } = await createTenant();
  await addDays(application.id, 1, [march(1), march(2)]);
  const before = await read(application.id, DAILY);
  const db = new WatchedD1(env.DB);
  let isMerged: Promise<boolean> | undefined;
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  // After the parts, and before the months are copied.
  const merge = () => {
    isMerged ??= mergeMonth(env, { applicationId: application.id, ...MARCH }, Date.now()).finally(release);
  };
  db.holdOn((sql) => /FROM "cube_months"[\s\S]*ORDER BY/.test(sql), merge, until);
  await writeSnapshot({ ...env, DB: db.asBinding() }, Date.now());
  expect(await isMerged).toBe(true);
  await loseAllButBucket();
  await restoreAll(worker);
  expect(await read(application.id, DAILY)).toEqual(before);
});

it('leaves out an application of which the database has lost something', async () => {
  const tenant = await createTenant();
  await fetchToken(worker, tenant);
  await settleAll(tenant.application.id);
  await env.DB.prepare('UPDATE counter_flushes SET sequence = sequence - 1').run();
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await expect(writeSnapshot(env, Date.now())).rejects.toThrow(tenant.application.id);
  expect(JSON.stringify(log.mock.calls)).toContain('resume counting');
});

it('copies all counters of an application that gets more of them meanwhile', async () => {
  const { application } = await createTenant();
  await settleAll(application.id);
  const counters = new WatchedCounters();
  counters.interrupt('copyTables', () =>
    schema
      .database(env.DB)
      .update(schema.applications)
      .set({ shards: 2 })
      .where(eq(schema.applications.id, application.id)),
  );
  await writeSnapshot({ ...env, COUNTERS: counters.asBinding() }, Date.now());
  const done = await env.RAW_EVENTS.get((await keys()).find((key) => key.endsWith('/done.json')) ?? '');
  expect((await done?.json<{ counters: unknown[] }>())?.counters).toHaveLength(2);
});

it('restores an application that the snapshot lacks from its raw events', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01 10:00:00' });
  await worker.post(tenant, '/webhook', envelope.ad(token));
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const before = await rollupOf(tenant.application.id);
  const stub = counterOf(env, tenant.application.id, 0);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const use = (bucket: Bucket) =>
    runInDurableObject(stub, (counter: Counter) => {
      counter.bucket = bucket;
    });
  // It exports, and then cannot be copied.
  await stub.whileStill(async () => undefined);
  await use(new FaultyBucket(env.RAW_EVENTS, 'always'));
  await expect(writeSnapshot(env, Date.now())).rejects.toThrow('Not in the snapshot');
  await loseAllButBucket();
  expect(await restoreAll(worker)).toMatchObject({
    missing: [tenant.application.id],
    restored: { events: 2 },
  });
  expect(await rollupOf(tenant.application.id)).toEqual(before);
});

it('leaves to the next run what its statements do not suffice for', async () => {
  for (let count = 0; count < 2; count++) {
    const tenant = await createTenant();
    await fetchToken(worker, tenant);
    await settleAll(tenant.application.id);
  }
  const now = Date.now();
  await expect(writeSnapshot(env, now, 1)).rejects.toThrow('Not in the snapshot');
  const copied = async () => (await keys()).filter((key) => key.endsWith('/done.json')).length;
  expect(await copied()).toBe(1);
  await writeSnapshot(env, now, 1);
  expect(await copied()).toBe(2);
});

it('counts what was accepted before the snapshot and delivered after it', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01 10:00:00' });
  await settleAll(tenant.application.id);
  await worker.post(tenant, '/webhook', envelope.ad(token));
  const late = worker.queue.take();
  await writeSnapshot(env, Date.now());
  await worker.deliver(late);
  await settleAll(tenant.application.id);
  await exportAll(tenant.application.id, 1);
  const before = await rollupOf(tenant.application.id);
  expect(before).toMatchObject({ installs: 1, impressions: 1 });
  await loseAllButBucket();
  await restoreAll(worker);
  expect(await rollupOf(tenant.application.id)).toEqual(before);
});

it('restores every file of a bucket that lists its objects in pages', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01 10:00:00' });
  await settleAll(tenant.application.id);
  await writeSnapshot(env, Date.now());
  for (let file = 0; file < 3; file++) {
    await worker.post(tenant, '/webhook', envelope.ad(token));
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
    await exportAll(tenant.application.id, 1);
  }
  await loseAllButBucket();
  const inPages = new Proxy(env.RAW_EVENTS, {
    get: (bucket, name) => {
      if (name === 'list') {
        return (options: R2ListOptions) =>
          bucket.list(options.delimiter ? options : { ...options, limit: 1 });
      }
      const value: unknown = Reflect.get(bucket, name);
      return typeof value === 'function' ? value.bind(bucket) : value;
    },
  });
  expect(await restoreAll(startWorker({ RAW_EVENTS: inPages }))).toMatchObject({ restored: { files: 3 } });
  expect(await rollupOf(tenant.application.id)).toMatchObject({ installs: 1, impressions: 3 });
});

it('restores the others although an application was deleted after the snapshot', async () => {
  const [kept, deleted] = [await createTenant(), await createTenant()];
  for (const tenant of [kept, deleted]) {
    await fetchToken(worker, tenant);
    await settleAll(tenant.application.id);
  }
  await writeSnapshot(env, Date.now());
  const before = await rollupOf(kept.application.id);
  expect(before).toMatchObject({ installs: 1 });
  const db = schema.database(env.DB);
  const caller = { db, team: deleted.team, actor: 'test', now: Date.now() };
  await deleteApplication(env, caller, deleted.application.id, deleted.application.name);
  await continueDeletions(env, db, Date.now());
  await loseAllButBucket();
  expect(await restoreAll(worker)).toMatchObject({ finished: true, missing: [] });
  expect(await rollupOf(kept.application.id)).toEqual(before);
  expect(await rollupOf(deleted.application.id)).toMatchObject({ installs: 0 });
});

it('keeps the newest three complete snapshots, and what happened since the oldest of them', async () => {
  await createTenant();
  const now = Date.now();
  const days = [5, 4, 3, 2, 1, 0].map((ago) => now - ago * DAY_MS);
  await env.RAW_EVENTS.put('snapshots/erased/app_1/dev_1.json', '{}');
  for (const at of days.slice(0, -2)) await writeSnapshot(env, at);
  // One that was not finished.
  const day = (at = 0) => new Date(at).toISOString().slice(0, 10);
  await env.RAW_EVENTS.put(`snapshots/${day(days[4])}/settings/teams-00000.jsonl`, '[]\n');
  await writeSnapshot(env, now);
  const found = new Set((await keys()).map((key) => key.split('/')[1]));
  expect([...found].sort()).toEqual([...days.slice(2).map(day), 'erased'].sort());
});

it('deletes an application from all snapshots', async () => {
  const tenant = await createTenant();
  await fetchToken(worker, tenant);
  await settleAll(tenant.application.id);
  await writeSnapshot(env, Date.now());
  const own = async () => (await keys()).filter((key) => key.includes(tenant.application.id));
  expect((await own()).length).toBeGreaterThan(3);
  const db = schema.database(env.DB);
  const caller = { db, team: tenant.team, actor: 'test', now: Date.now() };
  await deleteApplication(env, caller, tenant.application.id, tenant.application.name);
  await continueDeletions(env, db, Date.now());
  expect(await own()).toEqual([]);
});

describe('the key of hashes', () => {
  const [former, current] = [env.KEY_ENCRYPTION_SECRET, 'a-new-key-secret-of-the-tests-000000000'];
  const named = { data: { device_id: 'player-1' } };
  const deviceOf = async (on: typeof worker, tenant: Tenant) =>
    (await readToken(await fetchToken(on, tenant, named), env.TOKEN_SECRET))?.deviceId;

  /** A device, and a snapshot that was made while the secret was rotated. */
  async function snapshotDuringRotation() {
    const during: Env = { ...env, KEY_ENCRYPTION_SECRET: `${current} ${former}` };
    const tenant = await createTenant();
    const device = await deviceOf(worker, tenant);
    await settleAll(tenant.application.id);
    await keepHashKey(env);
    await keepHashKey(during);
    await writeSnapshot(during, Date.now());
    await loseAllButBucket();
    return { tenant, device };
  }

  it('is restored with the secret that encrypted it last, and not replaced on the way', async () => {
    const { tenant, device } = await snapshotDuringRotation();
    const { secret } = await beginRestore();
    const refused = await askRestore(worker, secret);
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining('another KEY_ENCRYPTION_SECRET'),
    ]);
    // The cron of the empty deployment.
    await keepHashKey({ ...env, KEY_ENCRYPTION_SECRET: current });
    const after = startWorker({ KEY_ENCRYPTION_SECRET: current });
    await restoreAll(after);
    expect(await deviceOf(after, tenant)).toBe(device);
  });

  it('begins anew if that secret is lost', async () => {
    const { tenant, device } = await snapshotDuringRotation();
    const other = startWorker({ KEY_ENCRYPTION_SECRET: 'another-key-secret-of-the-tests-000000000' });
    const { secret } = await beginRestore();
    for (;;) {
      const answer = await askRestore(other, secret, { other_secrets: true });
      const progress: RestoreProgress = await answer.json();
      if (!progress.finished) continue;
      expect(progress.restored.rows).toBe(progress.rows_in_snapshot);
      break;
    }
    expect(await deviceOf(other, tenant)).not.toBe(device);
  });
});
