import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { pruneTokens, readToken, signToken } from '#devices';
import { rollupOf } from '../helpers/counter.ts';
import { meterRows, WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, counterRows } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { eventsIn, fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

const DAY = 86_400_000;
let worker: TestWorker;
let tenant: Tenant;
beforeAll(async () => {
  worker = startWorker();
  tenant = await createTenant();
});

afterEach(() => {
  vi.useRealTimers();
});

const revoke = (token: string, of = tenant) => worker.team(of, `/v1/tokens/${token}`, { method: 'DELETE' });
const verify = (token: string) => worker.post(tenant, '/verify-token', { token });
const revokedAt = (tokenId: string) =>
  env.DB.prepare('SELECT revoked_at FROM tokens WHERE id = ?').bind(tokenId).first<number>('revoked_at');
const audited = async (of = tenant) => {
  const { results } = await env.DB.prepare(
    "SELECT actor, subject FROM audit_log WHERE action = 'token.revoked' AND team_id = ?",
  )
    .bind(of.team.id)
    .all();
  return results;
};

it('revokes a token at once, returns the same time on repeats, and is audited once', async () => {
  const token = await fetchToken(worker, tenant);
  expect((await verify(token)).status).toBe(200);
  const before = await audited();
  const first: { revoked: boolean; revoked_at: string } = await (await revoke(token)).json();
  expect(first).toEqual({ revoked: true, revoked_at: expect.any(String) });
  expect(Math.abs(Date.parse(first.revoked_at) - Date.now())).toBeLessThan(60_000);
  expect(await (await revoke(token)).json()).toEqual(first);
  const answer = await verify(token);
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { success: false, error: 'Invalid token', details: [{ path: 'token', message: 'Invalid token' }] },
  ]);
  const claims = await readToken(token, env.TOKEN_SECRET);
  expect((await audited()).slice(before.length)).toEqual([
    {
      actor: expect.stringMatching(/^access token tkn_/),
      subject: `${claims?.tokenId} of ${tenant.application.id}`,
    },
  ]);
});

it('counts events before the revocation of their token, and none after it', async () => {
  const of = await createTenant();
  const token = await fetchToken(worker, of);
  await worker.post(of, '/webhook', envelope.ad(token));
  await worker.deliver(worker.queue.take());
  const { revoked_at }: { revoked_at: string } = await (await revoke(token, of)).json();
  vi.setSystemTime(Date.parse(revoked_at) + 1_000);
  await worker.post(of, '/webhook', envelope.ad(token));
  await worker.deliver(worker.queue.take());
  await settleAll(of.application.id);
  expect(await rollupOf(of.application.id)).toMatchObject({ impressions: 1 });
});

it.each([
  ['the database', 'before'],
  ['the database', 'after'],
  ['the counter', 'before'],
  ['the counter', 'after'],
] as const)(
  'is completed by a retry when %s fails %s it ran, with the first time and one audit row',
  async (store, when) => {
    const of = await createTenant();
    const token = await fetchToken(worker, of);
    const claims = await claimsOf(token);
    const [db, counters] = [new WatchedD1(env.DB), new WatchedCounters()];
    const failing = startWorker({ DB: db.asBinding(), COUNTERS: counters.asBinding() });
    if (store === 'the database') db.failOn(/update "tokens"/i, 'D1_ERROR: disk I/O error', { when });
    else counters.failOn('revokeToken', when);
    const failed = await failing.team(of, `/v1/tokens/${token}`, { method: 'DELETE' });
    expect([failed.status, db.faultsLeft + counters.faultsLeft]).toEqual([500, 0]);
    const stored = await revokedAt(claims.tokenId);
    const { revoked_at }: { revoked_at: string } = await (await revoke(token, of)).json();
    const at = Date.parse(revoked_at);
    if (stored !== null) expect(at).toBe(stored);
    expect(await counterRows(of.application.id, 'revoked_tokens')).toEqual([
      { token_id: claims.tokenId, revoked_at: at },
    ]);
    expect(await audited(of)).toHaveLength(1);
  },
);

it('leaves the other tokens of a device alone', async () => {
  const data = { device_id: 'one' };
  const [first, second] = [
    await fetchToken(worker, tenant, { data }),
    await fetchToken(worker, tenant, { data }),
  ];
  await revoke(first);
  expect((await verify(second)).status).toBe(200);
});

it('answers to another team’s token as to a forged one', async () => {
  const token = await fetchToken(worker, tenant);
  const other = await createTenant();
  const answers = await Promise.all([
    revoke(token, other),
    revoke(`${token}x`, other),
    revoke('nonsense', other),
  ]);
  for (const answer of answers) {
    expect([answer.status, await answer.json()]).toEqual([404, { message: 'Token not found' }]);
  }
  expect((await verify(token)).status).toBe(200);
});

async function tokenThatLived(days: number, agoDays: number): Promise<string> {
  const claims = await readToken(await fetchToken(worker, tenant), env.TOKEN_SECRET);
  if (!claims) throw new Error('not a token');
  const createdAt = Date.now() - agoDays * DAY;
  return signToken({ ...claims, createdAt, expiresAt: createdAt + days * DAY }, env.TOKEN_SECRET);
}

it('accepts events of an expired token, for as long again as it was valid, and flags them', async () => {
  worker.queue.take();
  const expired = await tokenThatLived(10, 19);
  expect((await worker.post(tenant, '/webhook', envelope.ad(expired))).status).toBe(200);
  const [message] = worker.queue.take();
  expect(eventsIn(message?.body)).toMatchObject([{ token_expired: true }]);
  expect((await verify(expired)).status).toBe(400);
  const answer = await worker.post(tenant, '/webhook', envelope.ad(await tokenThatLived(10, 21)));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: 'creativeToken has expired; fetch a new one' });
});

it('verifies a token until the moment when it expires, and flags its events from then on', async () => {
  worker.queue.take();
  const token = await fetchToken(worker, tenant);
  const { expiresAt } = await claimsOf(token);
  const isFlagged = async () => {
    expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
    const [message] = worker.queue.take();
    return eventsIn(message?.body).map((event) => 'token_expired' in event);
  };
  vi.useFakeTimers({ toFake: ['Date'], now: expiresAt - 1 });
  expect([(await verify(token)).status, await isFlagged()]).toEqual([200, [false]]);
  vi.setSystemTime(expiresAt);
  expect([(await verify(token)).status, await isFlagged()]).toEqual([400, [true]]);
});

it('accepts events of a token until the moment when it has been expired for as long as it was valid', async () => {
  const token = await tokenThatLived(10, 19);
  const { createdAt, expiresAt } = await claimsOf(token);
  const end = expiresAt + (expiresAt - createdAt);
  vi.useFakeTimers({ toFake: ['Date'], now: end - 1 });
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  vi.setSystemTime(end);
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(400);
});

describe('a token whose row is no longer kept', () => {
  const withoutRow = async (of = tenant) => {
    const token = await fetchToken(worker, of);
    const { tokenId } = await claimsOf(token);
    const { meta } = await env.DB.prepare('DELETE FROM tokens WHERE id = ?').bind(tokenId).run();
    expect(meta.changes).toBe(1);
    return { token, tokenId };
  };

  it('is valid by its signature', async () => {
    const { token } = await withoutRow();
    expect(await (await verify(token)).json()).toMatchObject({ success: true, valid: true });
  });

  it('is revoked by its own team alone, once', async () => {
    const of = await createTenant();
    const { token, tokenId } = await withoutRow(of);
    expect((await revoke(token)).status).toBe(404);
    expect(await revokedAt(tokenId)).toBeNull();
    const first = await (await revoke(token, of)).json();
    expect(first).toEqual({ revoked: true, revoked_at: expect.any(String) });
    expect(await (await revoke(token, of)).json()).toEqual(first);
    expect(await audited(of)).toHaveLength(1);
    expect((await worker.post(of, '/verify-token', { token })).status).toBe(400);
  });

  it('is invalid, and cannot be revoked, once its device is erased', async () => {
    const of = await createTenant();
    const { token } = await withoutRow(of);
    expect((await worker.team(of, `/v1/devices/${token}`, { method: 'DELETE' })).status).toBe(200);
    expect((await worker.post(of, '/verify-token', { token })).status).toBe(400);
    expect((await revoke(token, of)).status).toBe(404);
  });
});

/** Each minute's run of a day from `now` on. */
const aDay = (now: number) => Array.from({ length: 1_440 }, (_, minute) => now + minute * 60_000);

describe('pruneTokens', () => {
  beforeEach(() => env.DB.prepare("DELETE FROM tokens WHERE application_id = 'app_pruned'").run());
  const insert = (deviceAt: number, createdAt = deviceAt) =>
    env.DB.prepare(
      'INSERT INTO tokens (id, application_id, device_id, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)',
    )
      .bind(
        `tok_${createdAt.toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
        'app_pruned',
        `dev_${deviceAt.toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
        createdAt,
        createdAt + 400 * DAY,
      )
      .run();
  const kept = async () => {
    const { results } = await env.DB.prepare(
      "SELECT created_at AS at FROM tokens WHERE application_id = 'app_pruned' ORDER BY created_at",
    ).all<{ at: number }>();
    return results.map(({ at }) => at);
  };

  slowIt('deletes a row after 14 days, however old its device is, and no other', async () => {
    const now = Date.now();
    const oldest = now - 900 * DAY;
    await insert(now - 13 * DAY);
    await insert(now - 16 * DAY);
    await insert(oldest);
    // Renewed: its device is as old as any.
    await insert(oldest, now - 10 * DAY);
    await insert(oldest, now - 500 * DAY);
    for (let later = 1; later < 60; later++) await insert(oldest + later * DAY);
    for (const at of aDay(now)) await pruneTokens(env.DB, 400, at);
    expect(await kept()).toEqual([now - 13 * DAY, now - 10 * DAY]);
  });

  slowIt('keeps a revocation as long as events are accepted with the token', async () => {
    const now = Date.now();
    await insert(now - 799 * DAY);
    await insert(now - 802 * DAY);
    await env.DB.prepare("UPDATE tokens SET revoked_at = 1 WHERE application_id = 'app_pruned'").run();
    for (const at of aDay(now)) await pruneTokens(env.DB, 400, at);
    expect(await kept()).toEqual([now - 799 * DAY]);
  });

  it('checks a part of the old devices in each minute', async () => {
    const now = Date.now();
    const { db, rowsRead } = meterRows(env.DB);
    // Renewed tokens of old devices.
    for (let ago = 0; ago < 60; ago++) await insert(now - (900 - ago) * DAY, now - DAY - ago);
    await pruneTokens(db, 400, now);
    expect(Math.max(...rowsRead)).toBeLessThan(10);
    expect((await kept()).length).toBeGreaterThanOrEqual(60);
  });
});

it('authenticates a key at /auth in either form for the editors of the SDKs', async () => {
  const ask = async (headers: HeadersInit) => {
    const answer = await worker.request('/auth', { headers });
    return [answer.status, await answer.json()];
  };
  const enabled = { success: true, enabled: true, server_time: expect.any(String) };
  expect(await ask({ Authorization: `Bearer ${tenant.apiKey}` })).toEqual([200, enabled]);
  expect(await ask({ Authorization: `bearer  ${tenant.apiKey} ` })).toEqual([200, enabled]);
  expect(await ask({ 'service-api-key': tenant.apiKey })).toEqual([200, enabled]);
  const refused = { success: false, error: 'Invalid or missing API key' };
  for (const headers of [
    {},
    { Authorization: tenant.apiKey },
    { Authorization: 'Bearer x' },
    { 'service-api-key': 'x' },
    { 'service-api-key': 'x', Authorization: `Bearer ${tenant.apiKey}` },
  ]) {
    expect(await ask(headers as HeadersInit)).toEqual([401, refused]);
  }
});
