import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { pruneTokens, readToken, signToken } from '#ingestion';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

const DAY = 86_400_000;
let worker: TestWorker;
let tenant: Tenant;
beforeAll(async () => {
  worker = startWorker();
  tenant = await createTenant();
});

const revoke = (token: string, of = tenant) => worker.team(of, `/v1/tokens/${token}`, { method: 'DELETE' });
const verify = (token: string) => worker.post(tenant, '/verify-token', { token });
const audited = async () => {
  const { results } = await env.DB.prepare(
    "SELECT actor, subject FROM audit_log WHERE action = 'token.revoked' AND team_id = ?",
  )
    .bind(tenant.team.id)
    .all();
  return results;
};

it('revokes a token at once, says when, however often it is asked, and audits it once', async () => {
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

it('leaves the other tokens of a device alone', async () => {
  const data = { device_id: 'one' };
  const [first, second] = [
    await fetchToken(worker, tenant, { data }),
    await fetchToken(worker, tenant, { data }),
  ];
  await revoke(first);
  expect((await verify(second)).status).toBe(200);
});

it('does not tell another team’s token from a forged one', async () => {
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

it('takes the events of a token past its expiry, as long again as it lived, and flags them', async () => {
  worker.queue.take();
  const expired = await tokenThatLived(10, 19);
  expect((await worker.post(tenant, '/webhook', envelope.ad(expired))).status).toBe(200);
  const body = worker.queue.take()[0]?.body;
  expect(body).toMatchObject({ events: [{ token_expired: true }] });
  expect((await verify(expired)).status).toBe(400);
  const answer = await worker.post(tenant, '/webhook', envelope.ad(await tokenThatLived(10, 21)));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: 'creativeToken has expired, fetch a new one' });
});

it('remembers a token as long as its events are taken', async () => {
  const now = Date.now();
  const insert = (createdAt: number) =>
    env.DB.prepare(
      'INSERT INTO tokens (id, application_id, device_id, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)',
    )
      .bind(
        `tok_${createdAt.toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
        'app_pruned',
        'dev',
        createdAt,
        createdAt + 400 * DAY,
      )
      .run();
  await insert(now - 799 * DAY);
  await insert(now - 801 * DAY);
  await pruneTokens(env.DB, 400, now);
  const { results } = await env.DB.prepare(
    "SELECT created_at FROM tokens WHERE application_id = 'app_pruned'",
  ).all();
  expect(results).toEqual([{ created_at: now - 799 * DAY }]);
});

it('answers at /auth what an SDK’s editor asks by a bearer', async () => {
  const ask = async (headers: HeadersInit) => {
    const answer = await worker.request('/auth', { headers });
    return [answer.status, await answer.json()];
  };
  const enabled = { success: true, enabled: true, server_time: expect.any(String) };
  expect(await ask({ Authorization: `Bearer ${tenant.apiKey}` })).toEqual([200, enabled]);
  expect(await ask({ Authorization: `bearer  ${tenant.apiKey} ` })).toEqual([200, enabled]);
  const refused = { success: false, error: 'Invalid or missing API key' };
  for (const headers of [
    {},
    { Authorization: tenant.apiKey },
    { Authorization: 'Bearer x' },
    { 'service-api-key': tenant.apiKey },
  ]) {
    expect(await ask(headers as HeadersInit)).toEqual([401, refused]);
  }
});
