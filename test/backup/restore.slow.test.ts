import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { type RestoreProgress, writeSnapshot } from '#backup';
import { type Counter, counterOf } from '#counting';
import { type Bucket, mergeFiles } from '#lake';
import { DAY_MS } from '#lib/time';
import { mergeMonths } from '#rollup/months';
import { fileIndex } from '../../src/counting/files/file-index.ts';
import { toEntry } from '../../src/counting/files/file-rows.ts';
import { files } from '../../src/counting/schema.ts';
import { openStore } from '../../src/counting/store.ts';
import {
  askRestore,
  beginRestore,
  exportAll,
  loseAllButBucket,
  readBucket,
  restoreAll,
} from '../helpers/backup.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { createPerson, signIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

beforeEach(() => loseAllButBucket(() => new Map()));

async function send(tenant: Tenant, ...bodies: object[]): Promise<void> {
  for (const body of bodies) expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
  const { explicitAcks } = await worker.deliver(worker.queue.take());
  expect(explicitAcks.length).toBeGreaterThan(0);
  await settleAll(tenant.application.id);
}

type Totals = Record<string, number>;

async function totalsOf(tenant: Tenant, more = ''): Promise<Totals> {
  await settleAll(tenant.application.id);
  const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-10${more}`;
  const answer = await worker.team(tenant, `/v1/reports/performance?${query}`);
  return ((await answer.json()) as { totals: Totals }).totals;
}

const acquired = { created_at: '2026-03-01 10:00:00' };
const devicesOf = ({ application }: Tenant) =>
  runInDurableObject(counterOf(env, application.id, 0), (_, { storage }) =>
    storage.sql.exec('SELECT * FROM devices ORDER BY id').toArray(),
  );

it('brings back devices, keys, tokens, members and settings, and counts on as before', async () => {
  const tenant = await createTenant();
  const person = await createPerson(tenant.team, 'owner');
  const { token: creative } = await createCreative(worker, tenant, { campaign: 'Spring', creative: 'Cat' });
  const known = await fetchToken(worker, tenant, {
    ...acquired,
    data: { device_id: 'one', creative_token: creative },
  });
  const bought = envelope.purchase(known, {}, { tr_id: 'T-1' });
  const keyed = envelope.ad(known, { event_id: 'ad-1' });
  await send(tenant, bought, keyed);
  await writeSnapshot(env, Date.now());

  // After the snapshot: only the bucket tells.
  const late = await fetchToken(worker, tenant, {
    ...acquired,
    data: { device_id: 'two', creative_token: creative },
  });
  await send(tenant, envelope.purchase(late, {}, { tr_id: 'T-2' }), envelope.custom(known));
  await exportAll(tenant.application.id, 1);
  const [before, ofCreative, devices] = [
    await totalsOf(tenant),
    await totalsOf(tenant, '&attribution=paid'),
    await devicesOf(tenant),
  ];
  expect(before).toMatchObject({ installs: 2, purchases: 2, events: 1, impressions: 1 });

  await loseAllButBucket();
  const progress = await restoreAll(worker);
  expect(progress.restored.rows).toBe(progress.rows_in_snapshot);
  // The install is of another day than the rest.
  expect(progress.restored).toMatchObject({ files: 2, events: 3 });

  expect(await totalsOf(tenant)).toEqual(before);
  expect(await totalsOf(tenant, '&attribution=paid')).toEqual(ofCreative);
  expect(await devicesOf(tenant)).toEqual(devices);
  expect((await (await signIn(worker, person)).get('/')).status).toBe(200);
  const { data } = (await (
    await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}&limit=50`)
  ).json()) as { data: { event_id: string; type: string }[] };
  expect(data.map(({ type }) => type).sort()).toEqual(
    ['custom', 'custom.ad', 'custom.purchase', 'custom.purchase', 'install', 'install'].sort(),
  );
  expect(new Set(data.map(({ event_id: id }) => id)).size).toBe(6);
  // What was counted from a file is in it, and is not exported once more.
  expect(await counterOf(env, tenant.application.id, 0).health()).toMatchObject({ hotEvents: 0 });

  // Repeats of what was counted before: by key, by transaction, by the backend's name for a device.
  await send(tenant, bought, keyed, envelope.purchase(late, {}, { tr_id: 'T-2' }));
  expect(await totalsOf(tenant)).toEqual(before);
  await fetchToken(worker, tenant, { ...acquired, data: { device_id: 'one' } });
  await fetchToken(worker, tenant, { ...acquired, data: { device_id: 'two' } });
  expect(await totalsOf(tenant)).toEqual(before);
  // What is new counts, for the creative that brought the device.
  await send(tenant, envelope.ad(known), envelope.ad(late), envelope.purchase(known, {}, { tr_id: 'T-3' }));
  expect(await totalsOf(tenant, '&attribution=paid')).toMatchObject({
    installs: 2,
    purchases: (ofCreative.purchases ?? 0) + 1,
    impressions: (ofCreative.impressions ?? 0) + 2,
  });
  const health = await counterOf(env, tenant.application.id, 0).health();
  expect(health).toMatchObject({ hasGap: false, flushError: null, outbox: 0 });
});

it('keeps a token revoked, and devices erased before the snapshot and after it', async () => {
  const tenant = await createTenant();
  const tokens: string[] = [];
  for (let index = 0; index < 4; index++) tokens.push(await fetchToken(worker, tenant, acquired));
  const [first = '', second = '', revoked = '', stays = ''] = tokens;
  await send(tenant, ...tokens.map((token) => envelope.ad(token)));
  const remove = async (path: string) =>
    expect((await worker.team(tenant, path, { method: 'DELETE' })).status).toBe(200);
  await remove(`/v1/devices/${first}`);
  await remove(`/v1/tokens/${revoked}`);
  await writeSnapshot(env, Date.now());
  await remove(`/v1/devices/${second}`);
  await exportAll(tenant.application.id, 1);
  const before = await totalsOf(tenant);
  expect(before).toMatchObject({ installs: 4, impressions: 4 });

  await loseAllButBucket();
  await restoreAll(worker);
  expect(await totalsOf(tenant)).toEqual(before);
  expect(await devicesOf(tenant)).toHaveLength(2);
  await send(tenant, ...tokens.map((token) => envelope.ad(token)));
  expect(await totalsOf(tenant)).toMatchObject({ installs: 4, impressions: 5 });
  const again = await worker.team(tenant, `/v1/devices/${stays}`, { method: 'DELETE' });
  expect(await again.json()).toMatchObject({ erased: true });
});

it('counts once what arrives while the snapshot is written, and what is in files that were merged since', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, acquired);
  await send(tenant, envelope.ad(token));
  const meanwhile = async () => {
    const late = await fetchToken(worker, tenant, acquired);
    for (const own of [token, late]) await worker.post(tenant, '/webhook', envelope.ad(own));
    await worker.deliver(worker.queue.take());
  };
  let isDone = false;
  await runInDurableObject(counterOf(env, tenant.application.id, 0), (counter: Counter) => {
    // It stands still now, and its tables are being written.
    const { bucket: own } = counter;
    counter.bucket = {
      get: (key, options) => own.get(key, options),
      delete: (gone) => own.delete(gone),
      put: async (key, bytes) => {
        if (!isDone && key.includes('/counters/')) {
          isDone = true;
          await meanwhile();
        }
        return own.put(key, bytes);
      },
    };
  });
  await writeSnapshot(env, Date.now());
  expect(isDone).toBe(true);
  await exportAll(tenant.application.id, 1);
  const before = await totalsOf(tenant);
  expect(before).toMatchObject({ installs: 2, impressions: 3 });
  // One file of each day in place of two: its name is in no snapshot.
  await runInDurableObject(counterOf(env, tenant.application.id, 0), async (_, { storage }) => {
    const store = openStore(storage);
    const entries = store.select().from(files).all().map(toEntry);
    expect(entries.length).toBe(4);
    for (const ofDay of Map.groupBy(entries, ({ firstDay }) => firstDay).values()) {
      await mergeFiles(
        env.RAW_EVENTS as unknown as Bucket,
        fileIndex(store, (work) => work()),
        ofDay,
      );
    }
  });
  await loseAllButBucket();
  expect(await restoreAll(worker)).toMatchObject({ restored: { files: 2, events: 3 } });
  expect(await totalsOf(tenant)).toEqual(before);
});

const ofCreatives = async (tenant: Tenant) => {
  await settleAll(tenant.application.id);
  const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-10&group_by=creative,country`;
  return (
    (await (await worker.team(tenant, `/v1/reports/performance?${query}`)).json()) as { data: object[] }
  ).data;
};

it.each(['before', 'after'])(
  'brings back the figures of months that were merged %s the snapshot',
  async (when) => {
    const tenant = await createTenant();
    const { token: creative } = await createCreative(worker, tenant, { campaign: 'Spring', creative: 'Cat' });
    const token = await fetchToken(worker, tenant, { ...acquired, data: { creative_token: creative } });
    await send(tenant, envelope.ad(token));
    let now = Date.UTC(2026, 5, 1);
    if (when === 'after') await mergeMonths(env, now);
    await writeSnapshot(env, Date.now());
    // The object is replaced, and its first version would have been deleted had it been replaced long ago.
    await send(tenant, envelope.ad(token), envelope.purchase(token));
    now += 31 * DAY_MS;
    await mergeMonths(env, now);
    await exportAll(tenant.application.id, 1);
    const before = await ofCreatives(tenant);
    expect(before).toMatchObject([{ impressions: 2, purchases: 1 }]);

    await loseAllButBucket();
    await restoreAll(worker);
    expect(await ofCreatives(tenant)).toEqual(before);
    await mergeMonths(env, now + 31 * DAY_MS);
    expect(await ofCreatives(tenant)).toEqual(before);
  },
);

it('can be interrupted after every step, and counts each event once', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, acquired);
  await send(tenant, envelope.ad(token), envelope.purchase(token));
  await writeSnapshot(env, Date.now());
  const late = await fetchToken(worker, tenant, acquired);
  await send(tenant, envelope.ad(late), envelope.ad(token));
  await exportAll(tenant.application.id, 1);
  const before = await totalsOf(tenant);
  await loseAllButBucket();

  let steps = 0;
  for (let finished = false; !finished; ) {
    // The command line may be started again at any time.
    const { secret } = await beginRestore();
    const position = await env.DB.prepare('SELECT done FROM restores').first<{ done: number }>();
    // A request that has time for one step, or two.
    const startedAt = Date.now();
    let asked = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => startedAt + asked++ * 2_000);
    const take = async () => {
      asked = 0;
      const answer = await askRestore(worker, secret);
      expect(answer.status, await answer.clone().text()).toBe(200);
      return (await answer.json()) as RestoreProgress;
    };
    const progress = await take();
    expect(progress.done - (position?.done ?? 0)).toBeLessThanOrEqual(2);
    if (!progress.finished) {
      // That the last step was done is forgotten, as if the request had ended before it wrote that down.
      await env.DB.prepare('UPDATE restores SET done = ?')
        .bind(progress.done - 1)
        .run();
      ({ finished } = await take());
    } else finished = true;
    clock.mockRestore();
    steps++;
  }
  expect(steps).toBeGreaterThan(6);
  expect(await totalsOf(tenant)).toEqual(before);
});

it('takes files of a backup, lists them, and refuses anything else', async () => {
  const { secret } = await beginRestore();
  const ask = (method: string, path: string, own = secret) =>
    worker.request(`/restore/objects${path}`, {
      method,
      headers: { Authorization: `Bearer ${own}` },
      ...(method === 'PUT' ? { body: 'text' } : {}),
    });
  expect((await ask('PUT', '/events/application=app_1/day=2026-03-01/evt_1.parquet')).status).toBe(200);
  expect((await ask('PUT', '/months/app_1/rollup_daily/both/2026-03-1-a.parquet')).status).toBe(200);
  expect(await (await ask('GET', '')).json()).toEqual({
    objects: [
      { key: 'events/application=app_1/day=2026-03-01/evt_1.parquet', size: 4 },
      { key: 'months/app_1/rollup_daily/both/2026-03-1-a.parquet', size: 4 },
    ],
  });
  for (const path of ['/deployment/heartbeat.json', '/restore.json', '/events/../restore.json']) {
    expect([400, 404]).toContain((await ask('PUT', path)).status);
  }
  expect((await ask('PUT', '/events/a', 'other')).status).toBe(401);
  expect((await ask('GET', '', 'other')).status).toBe(401);
  expect((await readBucket()).size).toBe(2);
  await env.DB.prepare('UPDATE restores SET finished_at = 1').run();
  expect((await ask('PUT', '/events/b')).status).toBe(409);
});

it('lets one request work at a time', async () => {
  await createTenant();
  await writeSnapshot(env, Date.now());
  await loseAllButBucket();
  const { secret } = await beginRestore();
  await env.DB.prepare('UPDATE restores SET busy_until = ?')
    .bind(Date.now() + 60_000)
    .run();
  expect((await askRestore(worker, secret)).status).toBe(409);
  await env.DB.prepare('UPDATE restores SET busy_until = 0').run();
  expect((await askRestore(worker, secret)).status).toBe(200);
});

it('refuses a deployment that is not empty, other secrets, other tokens, and a bucket without a snapshot', async () => {
  await createTenant();
  expect(await beginRestore()).toMatchObject({ begun: false });
  await writeSnapshot(env, Date.now());
  await loseAllButBucket();
  const { secret } = await beginRestore();
  expect((await askRestore(worker, 'other')).status).toBe(401);
  const others = startWorker({ TOKEN_SECRET: 'x'.repeat(40) });
  const refused = await askRestore(others, secret);
  expect([refused.status, await refused.json()]).toEqual([
    409,
    { success: false, error: expect.stringContaining('another TOKEN_SECRET') },
  ]);
  expect((await askRestore(others, secret, { other_secrets: true })).status).toBe(200);
  await loseAllButBucket(() => new Map());
  const empty = await askRestore(worker, (await beginRestore()).secret);
  expect(empty.status).toBe(404);
});
