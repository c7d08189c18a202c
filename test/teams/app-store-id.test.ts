import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { database } from '#db';
import { findByAppStoreId } from '#teams';
import { appStoreIdOf } from '../../src/lib/store-urls.ts';
import { hasAppStoreId } from '../../src/teams/app-store-id.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const db = database(env.DB);
const storeUrl = (id: number) => `https://apps.apple.com/us/app/chess/id${id}`;
const TAKEN = 'The App Store app of ios_store_url belongs to another application of this deployment';

async function call(of: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(of, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

it.each([
  ['https://apps.apple.com/app/id525463029', '525463029'],
  ['https://apps.apple.com/us/app/chess/id525463029?mt=8', '525463029'],
  ['https://apps.apple.com/us/app/chess/id525463029/', '525463029'],
  ['https://itunes.apple.com/id/app/idle-chess/id525463029#top', '525463029'],
  ['https://APPS.apple.com/us/app/chess/id525463029', '525463029'],
  ['https://apps.apple.com/us/app/chess', null],
  ['https://apps.apple.com/us/app/chess/id525463029x', null],
  ['https://apps.apple.com/us/app/grid525463029', null],
  ['https://example.com/us/app/chess/id525463029', null],
  [null, null],
])('finds the App Store id in %s, here and in SQL', async (url, id) => {
  expect(appStoreIdOf(url)).toBe(id);
  const matches = sql`SELECT ${hasAppStoreId(sql`'525463029'`)} AS "matches" FROM (SELECT ${url} AS ios_store_url) AS applications`;
  const [row] = await db.all<{ matches: number | null }>(matches);
  expect(row?.matches === 1).toBe(id !== null);
});

it('does not take an id for one that begins or ends with it', async () => {
  const tenant = await createTenant();
  await call(tenant, 'PATCH', `/v1/applications/${tenant.application.id}`, { ios_store_url: storeUrl(1234) });
  const found = (id: string) => findByAppStoreId(db, id);
  expect(await found('1234')).toEqual({ id: tenant.application.id, timezone: 'UTC' });
  expect([await found('123'), await found('234'), await found('12345')]).toEqual([null, null, null]);
});

it('gives an App Store app to one application of the deployment', async () => {
  const [mine, other] = [await createTenant(), await createTenant()];
  const path = ({ application }: Tenant) => `/v1/applications/${application.id}`;
  const changes = { name: 'Chess', ios_store_url: storeUrl(1001) };
  expect(await call(mine, 'PATCH', path(mine), changes)).toMatchObject({ status: 200, body: changes });
  expect(await call(mine, 'PATCH', path(mine), changes)).toMatchObject({ status: 200 });
  const again = { ...changes, ios_store_url: `${storeUrl(1001)}?mt=8` };
  expect(await call(other, 'PATCH', path(other), again)).toEqual({ status: 409, body: { message: TAKEN } });
  expect(await call(other, 'GET', path(other))).toMatchObject({
    body: { name: 'Test game', ios_store_url: null },
  });
  const before = await auditOf(other);
  expect(await call(other, 'POST', '/v1/applications', again)).toEqual({
    status: 409,
    body: { message: TAKEN },
  });
  expect((await call(other, 'GET', '/v1/applications')).body.data).toHaveLength(1);
  expect([await auditOf(other), await keysOf(other)]).toEqual([before, 1]);

  expect((await call(mine, 'PATCH', path(mine), { ios_store_url: null })).status).toBe(200);
  expect((await call(other, 'PATCH', path(other), again)).status).toBe(200);
});

it('gives it to exactly one of several that ask at once', async () => {
  const tenants = await Promise.all(Array.from({ length: 5 }, () => createTenant()));
  const body = { name: 'Chess', ios_store_url: storeUrl(1002) };
  const answers = await Promise.all(
    tenants.map((tenant, index) =>
      index % 2 === 0
        ? call(tenant, 'POST', '/v1/applications', body)
        : call(tenant, 'PATCH', `/v1/applications/${tenant.application.id}`, body),
    ),
  );
  expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
});

it('still answers 404 to a change of an application that is gone', async () => {
  const [mine, other] = [await createTenant(), await createTenant()];
  const path = `/v1/applications/${other.application.id}`;
  expect(await call(mine, 'PATCH', path, { ios_store_url: storeUrl(1003) })).toMatchObject({ status: 404 });
});

const auditOf = async ({ team }: Tenant) =>
  (await env.DB.prepare('SELECT count(*) AS rows FROM audit_log WHERE team_id = ?').bind(team.id).first())
    ?.rows;
const keysOf = async ({ team }: Tenant) =>
  (
    await env.DB.prepare(
      'SELECT count(*) AS keys FROM api_keys WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?)',
    )
      .bind(team.id)
      .first()
  )?.keys;
