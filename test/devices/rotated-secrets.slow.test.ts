import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readClickId, signClickId } from '#attribution';
import { counterOf } from '#counting';
import { readToken } from '#devices';
import { newId } from '#lib/ids';
import { runSchedule } from '../../src/schedule.ts';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { emptyStores } from '../helpers/empty-stores.ts';
import { deviceMetrics } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const NEW = {
  TOKEN_SECRET: 'a-new-token-secret-of-the-tests-0000000',
  KEY_ENCRYPTION_SECRET: 'a-new-key-secret-of-the-tests-000000000',
};
const rotating = {
  TOKEN_SECRET: `${NEW.TOKEN_SECRET} ${env.TOKEN_SECRET}`,
  KEY_ENCRYPTION_SECRET: `${NEW.KEY_ENCRYPTION_SECRET} ${env.KEY_ENCRYPTION_SECRET}`,
};

it('accepts the tokens of both secrets while they are rotated, and finds known devices', async () => {
  const [before, during, after] = [startWorker(), startWorker(rotating), startWorker(NEW)];
  const tenant = await createTenant();
  const named = { data: { device_id: 'player-1' } };
  const former = await fetchToken(before, tenant, named);
  const verify = async (on: typeof before, token: string) =>
    (await on.post(tenant, '/verify-token', { token })).status;
  expect(await verify(during, former)).toBe(200);
  const current = await fetchToken(during, tenant, named);
  const deviceOf = async (token: string) => (await readToken(token, rotating.TOKEN_SECRET))?.deviceId;
  expect(await deviceOf(current)).toBe(await deviceOf(former));
  expect(await verify(after, current)).toBe(200);
  expect(await verify(after, former)).toBe(400);
});

it('credits click ids that were signed with either secret', async () => {
  const [app, click, creative] = ['app_1', newId('clk'), newId('crt')];
  for (const secret of [env.KEY_ENCRYPTION_SECRET, rotating.KEY_ENCRYPTION_SECRET]) {
    const signed = await signClickId(secret, app, click, creative);
    expect(await readClickId(rotating.KEY_ENCRYPTION_SECRET, app, signed)).toMatchObject({
      creativeId: creative,
    });
  }
  const forged = await signClickId('another secret', app, click, creative);
  expect(await readClickId(rotating.KEY_ENCRYPTION_SECRET, app, forged)).toMatchObject({ creativeId: null });
});

it('does not start with a secret that is too short', async () => {
  const worker = startWorker({ TOKEN_SECRET: `${NEW.TOKEN_SECRET} short` });
  const tenant = await createTenant();
  expect((await worker.post(tenant, '/verify-token', { token: 'x' })).status).toBe(500);
});

describe('hashes of identifiers', () => {
  const HOUR_MS = 3_600_000;
  type Secret = Pick<Env, 'KEY_ENCRYPTION_SECRET'>;
  const secretOf = (...secrets: string[]): Secret => ({ KEY_ENCRYPTION_SECRET: secrets.join(' ') });
  const [former, current, next] = [
    env.KEY_ENCRYPTION_SECRET,
    NEW.KEY_ENCRYPTION_SECRET,
    `${NEW.KEY_ENCRYPTION_SECRET}-2`,
  ];

  /** Runs what the cron does each hour. */
  async function runHour(secret: Secret): Promise<void> {
    vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / HOUR_MS) * HOUR_MS });
    await runSchedule(Date.now(), { ...env, ...secret });
    vi.useRealTimers();
  }

  beforeEach(() => emptyStores());
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  async function startTenant() {
    const tenant = await createTenant(STORES);
    const named = (name: string) => ({ data: { device_id: name } });
    /** The device that a name belongs to, on a deployment with these secrets. */
    const deviceOf = async (secret: Secret, name = 'player-1') => {
      const token = await fetchToken(startWorker(secret), tenant, named(name));
      return (await readToken(token, env.TOKEN_SECRET))?.deviceId;
    };
    const installs = () => devicesOf(tenant);
    return { tenant, deviceOf, installs };
  }

  async function devicesOf({ application }: Tenant): Promise<number> {
    await settleAll(application.id);
    return (await counterOf(env, application.id, 0).health()).devices;
  }

  it('stay the same during a rotation, after it, and after another one', async () => {
    const { deviceOf, installs } = await startTenant();
    const device = await deviceOf(secretOf(former));
    await runHour(secretOf(former));
    for (const secrets of [[current, former], [current], [next, current], [next]]) {
      expect(await deviceOf(secretOf(...secrets)), secrets.join()).toBe(device);
      await runHour(secretOf(...secrets));
      expect(await deviceOf(secretOf(...secrets)), secrets.join()).toBe(device);
    }
    expect(await installs()).toBe(1);
  });

  it('stay the same if the rotation begins before the first hour is over', async () => {
    const { deviceOf, installs } = await startTenant();
    const device = await deviceOf(secretOf(former));
    await runHour(secretOf(current, former));
    const during = await deviceOf(secretOf(current, former), 'player-2');
    expect(await deviceOf(secretOf(current))).toBe(device);
    expect(await deviceOf(secretOf(current), 'player-2')).toBe(during);
    expect(await installs()).toBe(2);
  });

  it('need one read of their key per isolate, however many are made at once', async () => {
    const { tenant } = await startTenant();
    const watched = new WatchedD1(env.DB);
    const on = startWorker({ DB: watched.asBinding() });
    const metrics = Array.from({ length: 20 }, (_, index) =>
      deviceMetrics({ device_id: `player-${index}`, ip: '203.0.113.9' }),
    );
    for (let round = 0; round < 2; round++) {
      expect((await on.post(tenant, '/fetch-token/batch', { devices: metrics })).status).toBe(200);
    }
    expect(watched.log.filter((sql) => sql.includes('hash_keys'))).toHaveLength(1);
  });

  it('match the address of a device with that of an earlier click', async () => {
    const { tenant } = await startTenant();
    const before = startWorker(secretOf(former));
    const { path } = await createCreative(before, tenant);
    const { clickId, messages } = await follow(before, path, ANDROID_AGENT);
    await before.deliver(messages);
    await runHour(secretOf(current, former));
    const after = startWorker(secretOf(current));
    const sent = await fetchToken(after, tenant, { data: { ...ANDROID_METRICS, ip: '203.0.113.9' } });
    const answer = await after.team(tenant, `/v1/devices/${sent}/attribution`);
    expect(await answer.json()).toMatchObject({ method: 'probabilistic', click_id: clickId });
  });

  it('are not made with another key if the former secret ends too early, until it is back', async () => {
    const { tenant, deviceOf, installs } = await startTenant();
    const device = await deviceOf(secretOf(former));
    await runHour(secretOf(former));
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const on = startWorker(secretOf(current));
    expect((await on.post(tenant, '/fetch-token', deviceMetrics({ device_id: 'player-1' }))).status).toBe(
      500,
    );
    expect(JSON.stringify(log.mock.calls)).toContain('put its former value back');
    await expect(runHour(secretOf(current))).rejects.toThrow('keep hash key');
    vi.useRealTimers();
    // A click is worth more than its address.
    const { path } = await createCreative(on, tenant);
    const { messages } = await follow(on, path, ANDROID_AGENT);
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages)).not.toContain('ip_hash');
    expect(await deviceOf(secretOf(current, former))).toBe(device);
    expect(await installs()).toBe(1);
  });
});
