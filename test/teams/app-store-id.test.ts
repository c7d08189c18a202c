import type { D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database } from '#db';
import { findByAppStoreId, refreshAppStoreIds } from '#teams';
import { appStoreIdOf } from '../../src/lib/store-urls.ts';
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

const URLS: [string, string | null][] = [
  ['https://apps.apple.com/app/id525463029', '525463029'],
  ['https://apps.apple.com/us/app/chess/id525463029?mt=8', '525463029'],
  ['https://apps.apple.com/us/app/chess/id525463029/', '525463029'],
  ['https://itunes.apple.com/id/app/idle-chess/id525463029#top', '525463029'],
  ['https://geo.itunes.apple.com/us/app/id1/id525463029/reviews', '525463029'],
  ['https://APPS.apple.com/us/app/chess/id525463029', '525463029'],
  ['https://apps.apple.com/us/app/say-"chess"/id525463029', '525463029'],
  ['https://apps.apple.com/us/app/chess', null],
  ['https://apps.apple.com/us/app/chess/id525463029x', null],
  ['https://apps.apple.com/us/app/grid525463029', null],
  ['https://apps.apple.com/us/app/chess/id12345678901234567890', null],
  ['https://apps.apple.com/us/app/chess?x=/id525463029', null],
  ['https://apps.apple.com/us/app/chess#/id525463029', null],
  ['https://example.com/us/app/chess/id525463029', null],
  ['https://evil.example/x.apple.com/y/id525463029', null],
  ['https://apps.apple.com.evil.example/us/app/chess/id525463029', null],
  ['https://evil.apple.com/us/app/chess/id525463029', null],
  ['https://apps.apple.com@evil.example/us/app/chess/id525463029', null],
  ['https://evil.example/https://apps.apple.com/us/app/chess/id525463029', null],
];

it.each([...URLS, [null, null] as const])('finds the App Store id in %s', (url, id) => {
  expect(appStoreIdOf(url)).toBe(id);
});

it('gives the stores of earlier releases the ids of their URLs, each to the oldest application', async () => {
  const { MIGRATIONS } = env as unknown as { MIGRATIONS: D1Migration[] };
  const [, ...statements] = MIGRATIONS.find(({ name }) => name.includes('app_store_id'))?.queries ?? [];
  expect(statements).toHaveLength(3);
  const tenants = await Promise.all([...URLS, ...URLS].map(() => createTenant()));
  const stored = tenants
    .map(({ application }) => application.id)
    .sort()
    .map((id, at) => ({ id, url: URLS[at % URLS.length]?.[0], place: at }));
  // Each URL has an id of its own, so that the second half of the applications claims those of the first.
  const withOwnId = (url = '', at = 0) => url.replace('525463029', `5254630${10 + (at % URLS.length)}`);
  await env.DB.batch([
    env.DB.prepare('DROP INDEX applications_by_app_store_id'),
    ...stored.map(({ id, url, place }) =>
      env.DB.prepare('UPDATE applications SET ios_store_url = ?, app_store_id = NULL WHERE id = ?').bind(
        withOwnId(url, place),
        id,
      ),
    ),
    ...statements.map((statement) => env.DB.prepare(statement)),
  ]);
  const { results } = await env.DB.prepare('SELECT id, app_store_id FROM applications ORDER BY id').all();
  expect(results.filter(({ id }) => stored.some((one) => one.id === id))).toEqual(
    stored.map(({ id, url, place }) => ({
      id,
      app_store_id: place < URLS.length ? appStoreIdOf(withOwnId(url, place)) : null,
    })),
  );
  await env.DB.prepare('UPDATE applications SET ios_store_url = NULL, app_store_id = NULL').run();
});

it('stores the ids of URLs that the previous release changed, unless another application has them', async () => {
  const [mine, other] = [await createTenant(), await createTenant()];
  await call(mine, 'PATCH', `/v1/applications/${mine.application.id}`, { ios_store_url: storeUrl(2001) });
  const change = (of: Tenant, id: number) =>
    env.DB.prepare('UPDATE applications SET ios_store_url = ? WHERE id = ?')
      .bind(storeUrl(id), of.application.id)
      .run();
  const found = async (id: number) => (await findByAppStoreId(db, String(id)))?.id;
  await change(other, 2001);
  await refreshAppStoreIds(db);
  expect(await found(2001)).toBe(mine.application.id);
  await change(mine, 2002);
  // The first pass frees the id, the next one gives it to whoever has the URL.
  for (let pass = 0; pass < 2; pass++) await refreshAppStoreIds(db);
  expect([await found(2001), await found(2002)]).toEqual([other.application.id, mine.application.id]);
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
