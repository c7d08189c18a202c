import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Attribution } from '#attribution';
import { IPHONE_CLICK, storeClicks } from '../helpers/click-rows.ts';
import { IPHONE_METRICS } from '../helpers/clicks.ts';
import { rollupOf } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, countDevices, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A device stands in its counter, its token and its click's credit in D1. Whatever fails between them, a repeat gives the same
// device with the same attribution, one install, and one credit.

const worker = startWorker();

function failingWorker(counters = new WatchedCounters()) {
  const db = new WatchedD1(env.DB);
  return { db, counters, on: startWorker({ DB: db.asBinding(), COUNTERS: counters.asBinding() }) };
}

/** An application with a creative and a click that an iPhone may be guessed to come by. */
async function withClick() {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const [clickId = ''] = await storeClicks(tenant.application.id, Date.now(), [
    { ...IPHONE_CLICK, creative_id: id },
  ]);
  return { tenant, creativeId: id, clickId };
}

const clickRow = (tenant: Tenant, clickId: string) =>
  env.DB.prepare('SELECT device_id, named_installs FROM clicks WHERE application_id = ? AND id = ?')
    .bind(tenant.application.id, clickId)
    .first<{ device_id: string | null; named_installs: number }>();

const tokensOf = async (tenant: Tenant, deviceId: string) =>
  env.DB.prepare('SELECT count(*) AS n FROM tokens WHERE application_id = ? AND device_id = ?')
    .bind(tenant.application.id, deviceId)
    .first<number>('n');

async function attributionOf(token: string) {
  const device = await storedDevice(await claimsOf(token));
  const attribution: Partial<Attribution> = JSON.parse(device?.attribution ?? '{}');
  return { deviceId: device?.id, creativeId: device?.creativeId, ...attribution };
}

async function installsOf(tenant: Tenant): Promise<number | undefined> {
  await settleAll(tenant.application.id);
  return (await rollupOf(tenant.application.id)).installs;
}

const LOST = 'D1_ERROR: disk I/O error';
type Failure = (watched: ReturnType<typeof failingWorker>) => void;
const FAILURES: [string, Failure][] = [
  ['the clicks are not read', ({ db }) => db.failOn(/FROM "clicks"/, LOST)],
  ['the counter is not asked', ({ counters }) => counters.failOn('findDevices', 'before')],
  ['the counter’s answer is lost', ({ counters }) => counters.failOn('findDevices', 'after')],
  ['the token is not stored', ({ db }) => db.failOn(/INTO "tokens"/, LOST)],
  [
    'the token is stored and the answer lost',
    ({ db }) => db.failOn(/INTO "tokens"/, LOST, { when: 'after' }),
  ],
  ['the device is not made', ({ counters }) => counters.failOn('createOrFindDevices', 'before')],
  [
    'the device is made and the answer lost',
    ({ counters }) => counters.failOn('createOrFindDevices', 'after'),
  ],
  [
    'the device is not made and its claim not released',
    ({ db, counters }) => {
      counters.failOn('createOrFindDevices', 'before');
      db.failOn(/UPDATE "clicks"/, LOST);
    },
  ],
];

describe.each(['named', 'guessed'] as const)('a click that is %s', (way) => {
  it.each(FAILURES)('is credited once to the device of the retry, although %s', async (_, fail) => {
    const { tenant, clickId, creativeId } = await withClick();
    const watched = failingWorker();
    const data = {
      ...IPHONE_METRICS,
      device_id: 'player',
      ...(way === 'named' ? { click_id: clickId } : {}),
    };
    fail(watched);
    await expect(fetchToken(watched.on, tenant, { data })).rejects.toThrow('Unexpected error');
    expect(watched.db.faultsLeft + watched.counters.faultsLeft).toBe(0);
    const token = await fetchToken(worker, tenant, { data });
    const again = await fetchToken(worker, tenant, { data });
    const device = await attributionOf(token);
    expect(device).toMatchObject({
      method: way === 'named' ? 'click_id' : 'probabilistic',
      creativeId,
      click_id: clickId,
      earlier_installs: 0,
    });
    expect((await claimsOf(again)).deviceId).toBe(device.deviceId);
    expect(await clickRow(tenant, clickId)).toEqual({
      device_id: device.deviceId,
      named_installs: way === 'named' ? 1 : 0,
    });
    expect(await countDevices(tenant.application.id)).toBe(1);
    expect(await installsOf(tenant)).toBe(1);
  });

  it('retries when the platform allows it, with one device and one credit', async () => {
    for (const when of ['before', 'after'] as const) {
      const { tenant, clickId } = await withClick();
      const { db, counters, on } = failingWorker();
      const data = { ...IPHONE_METRICS, ...(way === 'named' ? { click_id: clickId } : {}) };
      db.failOn(/INTO "tokens"/, 'D1_ERROR: Network connection lost.', { when });
      counters.failOn('createOrFindDevices', when, { retryable: true });
      const { deviceId } = await attributionOf(await fetchToken(on, tenant, { data }));
      expect(db.faultsLeft + counters.faultsLeft).toBe(0);
      expect(await clickRow(tenant, clickId)).toEqual({
        device_id: deviceId,
        named_installs: way === 'named' ? 1 : 0,
      });
      expect(await tokensOf(tenant, deviceId ?? '')).toBe(1);
      expect(await countDevices(tenant.application.id)).toBe(1);
      expect(await installsOf(tenant)).toBe(1);
    }
  });

  it.each([FAILURES[4], FAILURES[5]].flatMap((failure) => (failure ? [failure] : [])))(
    'is released for a device without an identity, although %s',
    async (_, fail) => {
      const { tenant, clickId, creativeId } = await withClick();
      const watched = failingWorker();
      const data = { ...IPHONE_METRICS, ...(way === 'named' ? { click_id: clickId } : {}) };
      fail(watched);
      await expect(fetchToken(watched.on, tenant, { data })).rejects.toThrow('Unexpected error');
      expect(await clickRow(tenant, clickId)).toEqual({ device_id: null, named_installs: 0 });
      const device = await attributionOf(await fetchToken(worker, tenant, { data }));
      expect(device).toMatchObject({ creativeId, click_id: clickId, earlier_installs: 0 });
      expect(await installsOf(tenant)).toBe(1);
    },
  );
});

it.each<[string, Failure]>([
  ['its credit was not written', ({ db }) => db.failOn(/INTO "tokens"/, LOST)],
  [
    'its credit is taken back twice',
    ({ db, counters }) => {
      counters.failOn('createOrFindDevices', 'before');
      db.failOn(/UPDATE "clicks"/, 'D1_ERROR: Network connection lost.', { when: 'after' });
    },
  ],
])('leaves the installs that others named when a device fails and %s', async (_, fail) => {
  const { tenant, clickId } = await withClick();
  const other = await claimsOf(await fetchToken(worker, tenant, { data: { click_id: clickId } }));
  const watched = failingWorker();
  fail(watched);
  const failed = fetchToken(watched.on, tenant, { data: { click_id: clickId } });
  await expect(failed).rejects.toThrow('Unexpected error');
  expect(watched.db.faultsLeft + watched.counters.faultsLeft).toBe(0);
  expect(await clickRow(tenant, clickId)).toEqual({ device_id: other.deviceId, named_installs: 1 });
});

it('keeps the claim of a device that may exist, and logs a claim that cannot be released', async () => {
  const { tenant, clickId } = await withClick();
  const { db, counters, on } = failingWorker();
  counters.failOn('createOrFindDevices', 'after');
  await expect(fetchToken(on, tenant, { data: IPHONE_METRICS })).rejects.toThrow('Unexpected error');
  // It came to be, so its click is its own.
  expect(await clickRow(tenant, clickId)).toMatchObject({ device_id: expect.stringMatching(/^dev_/) });
  expect((await attributionOf(await fetchToken(worker, tenant, { data: IPHONE_METRICS }))).method).toBe(
    'organic',
  );
  const second = await withClick();
  db.failWhen((sql) => /INTO "tokens"|UPDATE "clicks"/.test(sql), LOST);
  await expect(fetchToken(on, second.tenant, { data: IPHONE_METRICS })).rejects.toThrow('Unexpected error');
  expect(await clickRow(second.tenant, second.clickId)).toEqual({ device_id: null, named_installs: 0 });
});

it('keeps the claim of a device whose counter no longer answers', async () => {
  const { tenant, clickId } = await withClick();
  const silent = new WatchedCounters(({ method }) =>
    method === 'readDevice' ? Promise.reject(new Error('down')) : undefined,
  );
  silent.failOn('createOrFindDevices', 'after');
  const data = { device_id: 'player', click_id: clickId };
  await expect(fetchToken(failingWorker(silent).on, tenant, { data })).rejects.toThrow('Unexpected error');
  const { deviceId } = await attributionOf(await fetchToken(worker, tenant, { data }));
  expect(await clickRow(tenant, clickId)).toEqual({ device_id: deviceId, named_installs: 1 });
});

describe('a faster call with the same identity', () => {
  const data = { ...IPHONE_METRICS, device_id: 'player' };

  it('creates the device, which the slower call returns while it releases its own click', async () => {
    const { tenant, clickId, creativeId } = await withClick();
    const { counters, on } = failingWorker();
    let faster = '';
    counters.interrupt('createOrFindDevices', async () => {
      faster = await fetchToken(worker, tenant, { data: { ...data, os_system: 'Android 14' } });
    });
    const slower = await fetchToken(on, tenant, { data });
    const [first, second] = [await claimsOf(faster), await claimsOf(slower)];
    expect(second).toMatchObject({ deviceId: first.deviceId, creativeId: null });
    expect(await tokensOf(tenant, first.deviceId)).toBe(2);
    expect(await clickRow(tenant, clickId)).toEqual({ device_id: null, named_installs: 0 });
    expect((await worker.post(tenant, '/verify-token', { token: slower })).status).toBe(200);
    const other = await fetchToken(worker, tenant, { data: IPHONE_METRICS });
    expect((await claimsOf(other)).creativeId).toBe(creativeId);
    expect(await installsOf(tenant)).toBe(2);
  });

  it.each(['named', 'guessed'])('keeps a click that both calls claimed (%s)', async (way) => {
    const { tenant, clickId } = await withClick();
    const { counters, on } = failingWorker();
    const both = { ...data, ...(way === 'named' ? { click_id: clickId } : {}) };
    let faster = '';
    counters.interrupt('createOrFindDevices', async () => {
      faster = await fetchToken(worker, tenant, { data: both });
    });
    await fetchToken(on, tenant, { data: both });
    const { deviceId } = await claimsOf(faster);
    expect(await clickRow(tenant, clickId)).toEqual({
      device_id: deviceId,
      named_installs: way === 'named' ? 1 : 0,
    });
  });

  it('passes on a click that it claimed last', async () => {
    const { tenant, clickId } = await withClick();
    const [first, last] = [failingWorker(), failingWorker()];
    const reached = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const both = { ...data, click_id: clickId };
    let slower: Promise<string> | undefined;
    // Both have claimed the click, the second one last, when the first makes the device.
    last.counters.interrupt('createOrFindDevices', () => {
      reached.resolve();
      return made.promise;
    });
    first.counters.interrupt('createOrFindDevices', () => {
      slower = fetchToken(last.on, tenant, { data: both });
      return reached.promise;
    });
    const { deviceId } = await claimsOf(await fetchToken(first.on, tenant, { data: both }));
    expect((await clickRow(tenant, clickId))?.device_id).not.toBe(deviceId);
    made.resolve();
    expect((await claimsOf((await slower) ?? '')).deviceId).toBe(deviceId);
    expect(await clickRow(tenant, clickId)).toEqual({ device_id: deviceId, named_installs: 1 });
  });

  it('withdraws a click that the faster call did not name', async () => {
    const { tenant, clickId } = await withClick();
    const { counters, on } = failingWorker();
    counters.interrupt('createOrFindDevices', () =>
      fetchToken(worker, tenant, { data: { device_id: 'player' } }),
    );
    await fetchToken(on, tenant, { data: { device_id: 'player', click_id: clickId } });
    expect(await clickRow(tenant, clickId)).toEqual({ device_id: null, named_installs: 0 });
  });
});

describe('a known device', () => {
  const TODAY = new Date().toISOString();
  const LONG_AGO = '2020-01-01T00:00:00.000Z';
  const renew = (on: typeof worker, tenant: Tenant, created_at: string, data = {}) =>
    fetchToken(on, tenant, { created_at, data: { device_id: 'player', ...data } });

  it.each([
    ['since today, whose token can’t be moved', TODAY, /UPDATE "tokens"/],
    ['since today, whose token is moved and the answer lost', TODAY, /UPDATE "tokens"/, 'after'],
    ['for long, whose token can’t be stored', LONG_AGO, /INTO "tokens"/],
    ['for long, whose token is stored and the answer lost', LONG_AGO, /INTO "tokens"/, 'after'],
  ] as const)(
    '%s, gets a token for itself when it retries',
    async (_, created_at, at, when: 'before' | 'after' = 'before') => {
      const tenant = await createTenant();
      const first = await claimsOf(await renew(worker, tenant, created_at));
      const { db, on } = failingWorker();
      db.failOn(at, LOST, { when });
      await expect(renew(on, tenant, created_at)).rejects.toThrow('Unexpected error');
      expect(db.faultsLeft).toBe(0);
      const token = await renew(on, tenant, created_at);
      expect(await claimsOf(token)).toMatchObject({ deviceId: first.deviceId });
      expect((await worker.post(tenant, '/verify-token', { token })).status).toBe(200);
      expect(await countDevices(tenant.application.id)).toBe(1);
      expect(await installsOf(tenant)).toBe(1);
    },
  );

  it.each(['named', 'guessed'])('takes no click away from others (%s)', async (way) => {
    const { tenant, clickId, creativeId } = await withClick();
    const first = await claimsOf(await renew(worker, tenant, TODAY));
    const { db, counters, on } = failingWorker();
    const click = way === 'named' ? { click_id: clickId } : IPHONE_METRICS;
    expect(await claimsOf(await renew(on, tenant, TODAY, click))).toMatchObject({
      deviceId: first.deviceId,
      creativeId: null,
    });
    // Not even for a moment.
    expect(db.log.filter((sql) => /INTO "clicks"|UPDATE "clicks"/.test(sql))).toEqual([]);
    expect(counters.calls).toEqual([{ name: `${tenant.application.id}:0`, method: 'findDevices' }]);
    const other = await fetchToken(worker, tenant, { data: IPHONE_METRICS });
    expect((await claimsOf(other)).creativeId).toBe(creativeId);
  });
});

it('attributes again if another device took the click between reading and writing', async () => {
  const { tenant, clickId } = await withClick();
  const { db, counters, on } = failingWorker();
  let first = '';
  // The counter answers while the clicks are being read, after another device has claimed the one that is found.
  counters.interrupt('findDevices', async () => {
    await expect.poll(() => db.log.some((sql) => sql.includes('FROM "clicks"'))).toBe(true);
    first = await fetchToken(worker, tenant, { data: IPHONE_METRICS });
  });
  const second = await attributionOf(
    await fetchToken(on, tenant, { data: { ...IPHONE_METRICS, device_id: 'player' } }),
  );
  expect(await attributionOf(first)).toMatchObject({ method: 'probabilistic', click_id: clickId });
  expect(second).toMatchObject({ method: 'organic', click_id: null });
  expect((await clickRow(tenant, clickId))?.device_id).toBe((await claimsOf(first)).deviceId);
});
