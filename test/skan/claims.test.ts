import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import type { Role } from '#members';
import { keepPostbacks } from '#skan';
import { WatchedD1 } from '../helpers/d1.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, createPerson, openSession } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { makePostback, store } from './postbacks.ts';

const worker = startWorker();
const db = database(env.DB);
const APPS = '/v1/app-store-apps';
const [CHESS, GO] = ['770010017', '770010023'];
const storeUrl = (id: string) => `https://apps.apple.com/us/app/x/id${id}`;
const FORBIDDEN = {
  status: 403,
  body: { message: expect.stringContaining("Only an owner of the deployment's first team") },
};

let first: Tenant;
let squatter: Tenant;
let rightful: Tenant;
let owner: Browser;

/** The browser of someone who created the team's token. */
async function signIn({ team }: Tenant, role: Role = 'owner'): Promise<Browser> {
  const person = await createPerson(team, role);
  const statement = env.DB.prepare('UPDATE access_tokens SET created_by = ? WHERE team_id = ?');
  await statement.bind(person.email, team.id).run();
  return openSession(worker, person);
}

async function call(of: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(of, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const assign = (of: Tenant, app: string, { application }: Tenant) =>
  call(of, 'PUT', `${APPS}/${app}`, { application_id: application.id });
const claim = (of: Tenant, app: string | null) =>
  call(of, 'PATCH', `/v1/applications/${of.application.id}`, { ios_store_url: app && storeUrl(app) });

async function ownersOf(app: string): Promise<string[]> {
  const { results } = await env.DB.prepare('SELECT application_id AS id FROM skan_postbacks WHERE app_id = ?')
    .bind(app)
    .all<{ id: string }>();
  return results.map(({ id }) => id).sort();
}

beforeEach(async () => {
  await env.DB.batch(
    ['skan_postbacks', 'applications', 'members', 'access_tokens', 'teams'].map((table) =>
      env.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  [first, squatter, rightful] = [await createTenant(), await createTenant(), await createTenant()];
  // Ids of one millisecond are in no order.
  await env.DB.prepare('UPDATE teams SET created_at = created_at - 60000 WHERE id = ?')
    .bind(first.team.id)
    .run();
  owner = await signIn(first);
});

const claimOf = (tenant: Tenant, app: string, confirmed: boolean, waiting: number) => ({
  ...{ app_store_id: app, application_id: tenant.application.id, application: 'Test game' },
  ...{ team_id: tenant.team.id, team: 'Test team', confirmed, waiting_postbacks: waiting },
});
const list = async () =>
  ((await call(first, 'GET', APPS)).body.data as { app_store_id: string }[]).sort(byApp);
const byApp = (left: { app_store_id: string }, right: { app_store_id: string }) =>
  left.app_store_id < right.app_store_id ? -1 : 1;
const auditOf = async ({ team }: Tenant) =>
  (await listAudit(db, team.id, { limit: 20 }))
    .filter(({ action }) => action.startsWith('app_store_app'))
    .map(({ action, actor, subject }) => ({ action, actor, subject }));
const named = ({ application }: Tenant) => `Test game (${application.id})`;

it('gives waiting postbacks to a new claim only when the owner confirms it', async () => {
  for (const app of [CHESS, CHESS, GO]) await store(makePostback({ appId: app }));
  await claim(squatter, CHESS);
  await claim(rightful, GO);
  await keepPostbacks(env.DB, Date.now());
  expect([await ownersOf(CHESS), await ownersOf(GO)]).toEqual([['', ''], ['']]);
  expect(await list()).toEqual([claimOf(squatter, CHESS, false, 2), claimOf(rightful, GO, false, 1)]);

  const confirmed = { status: 200, body: { app_store_id: GO, application_id: rightful.application.id } };
  for (let times = 0; times < 2; times++) expect(await assign(first, GO, rightful)).toEqual(confirmed);
  await keepPostbacks(env.DB, Date.now());
  expect([await ownersOf(CHESS), await ownersOf(GO)]).toEqual([['', ''], [rightful.application.id]]);
  expect(await list()).toEqual([claimOf(squatter, CHESS, false, 2), claimOf(rightful, GO, true, 0)]);
  const entry = { action: 'app_store_app.confirmed', actor: expect.stringMatching(/^access token tkn_/) };
  const entries = [{ ...entry, subject: `${GO}: ${named(rightful)}` }];
  expect([await auditOf(first), await auditOf(rightful), await auditOf(squatter)]).toEqual([
    entries,
    entries,
    [],
  ]);
});

it('asks again once a confirmed application has another app', async () => {
  await claim(squatter, GO);
  await assign(first, GO, squatter);
  await store(makePostback({ appId: CHESS }));
  await claim(squatter, CHESS);
  await keepPostbacks(env.DB, Date.now());
  expect(await ownersOf(CHESS)).toEqual(['']);
});

it('needs no confirmation while there is a single team', async () => {
  await env.DB.prepare('DELETE FROM teams WHERE id <> ?').bind(first.team.id).run();
  await store(makePostback({ appId: CHESS }));
  await claim(first, CHESS);
  await keepPostbacks(env.DB, Date.now());
  expect(await ownersOf(CHESS)).toEqual([first.application.id]);
});

it('moves an app with its postbacks, and leaves those of other apps', async () => {
  await claim(squatter, GO);
  await store(makePostback({ appId: GO }));
  await claim(squatter, CHESS);
  await env.DB.prepare('UPDATE applications SET timezone = ? WHERE id = ?')
    .bind('Asia/Tokyo', rightful.application.id)
    .run();
  const receivedAt = Date.parse('2026-03-01T20:00:00Z');
  await store(makePostback({ appId: CHESS }), receivedAt);
  expect(await assign(first, CHESS, rightful)).toMatchObject({ status: 200 });
  expect([await ownersOf(CHESS), await ownersOf(GO)]).toEqual([
    [rightful.application.id],
    [squatter.application.id],
  ]);
  const day = await env.DB.prepare('SELECT day FROM skan_postbacks WHERE app_id = ?')
    .bind(CHESS)
    .first('day');
  expect(day).toBe('2026-03-02');
  const urlOf = async (of: Tenant) =>
    (await call(of, 'GET', `/v1/applications/${of.application.id}`)).body.ios_store_url;
  expect([await urlOf(squatter), await urlOf(rightful)]).toEqual([
    null,
    `https://apps.apple.com/app/id${CHESS}`,
  ]);
  expect(await list()).toEqual([claimOf(rightful, CHESS, true, 0)]);
  const entries = [
    {
      action: 'app_store_app.moved',
      actor: expect.any(String),
      subject: `${CHESS}: ${named(squatter)} to ${named(rightful)}`,
    },
  ];
  expect([await auditOf(first), await auditOf(squatter), await auditOf(rightful)]).toEqual([
    entries,
    entries,
    entries,
  ]);
  expect(await claim(squatter, CHESS)).toMatchObject({ status: 409 });
  await keepPostbacks(env.DB, receivedAt);
  await store(makePostback({ appId: CHESS }));
  expect(await ownersOf(CHESS)).toEqual([rightful.application.id, rightful.application.id]);
  // It can move back, which the first move no longer keeps from.
  expect(await assign(first, CHESS, squatter)).toMatchObject({ status: 200 });
  expect(await ownersOf(CHESS)).toEqual([squatter.application.id, squatter.application.id]);
});

it('refuses a move while the postbacks of the last one are on their way', async () => {
  await claim(squatter, CHESS);
  await assign(first, CHESS, rightful);
  await env.DB.prepare('UPDATE applications SET app_store_id_from = ? WHERE id = ?')
    .bind(squatter.application.id, rightful.application.id)
    .run();
  expect(await assign(first, CHESS, squatter)).toEqual({
    status: 409,
    body: { message: 'The postbacks of an earlier move are still on their way. Repeat it in an hour.' },
  });
  expect(await list()).toEqual([claimOf(rightful, CHESS, true, 0)]);
});

it('continues a move whose postbacks could not be moved at once', async () => {
  await claim(squatter, CHESS);
  await store(makePostback({ appId: CHESS }));
  const d1 = new WatchedD1(env.DB);
  const failing = startWorker({ DB: d1.asBinding() });
  d1.failWhen((sql) => sql.startsWith('UPDATE "skan_postbacks"'), 'Exceeded maximum DB size');
  const body = { application_id: rightful.application.id };
  const answer = await failing.team(first, `${APPS}/${CHESS}`, { method: 'PUT', body });
  expect([answer.status, await ownersOf(CHESS)]).toEqual([500, [squatter.application.id]]);
  expect(await list()).toEqual([claimOf(rightful, CHESS, true, 0)]);
  await keepPostbacks(env.DB, Date.now());
  expect(await ownersOf(CHESS)).toEqual([rightful.application.id]);
});

it.each([
  ['an app that no application has', GO, 404, 'No application has this App Store app'],
  ['an application with another app', CHESS, 409, 'The application has another App Store app'],
])('refuses %s', async (_, app, status, message) => {
  await claim(squatter, CHESS);
  await claim(rightful, '770010031');
  const before = await list();
  expect(await assign(first, app, rightful)).toEqual({ status, body: { message } });
  expect(await list()).toEqual(before);
});

it('refuses an unknown application by name', async () => {
  await claim(squatter, CHESS);
  expect(await call(first, 'PUT', `${APPS}/${CHESS}`, { application_id: 'app_unknown' })).toEqual({
    status: 404,
    body: { message: 'Application not found' },
  });
  expect(await call(first, 'PUT', `${APPS}/${CHESS}`, {})).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('application_id') },
  });
});

it.each([
  ['an admin of the first team', () => first, 'admin'],
  ['a viewer of the first team', () => first, 'viewer'],
  ['an owner of another team', () => squatter, 'owner'],
] as const)('shows nothing to %s, and moves nothing', async (_, team, role) => {
  await claim(squatter, CHESS);
  await claim(rightful, GO);
  const before = await list();
  const browser = await signIn(team(), role);
  expect(await call(team(), 'GET', APPS)).toEqual(FORBIDDEN);
  expect(await assign(team(), GO, squatter)).toEqual(FORBIDDEN);
  const fields = { app_store_id: CHESS, application_id: team().application.id };
  const answers = [await browser.get('/skan/apps'), await browser.post('/skan/apps', fields)];
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  expect(await answers[0]?.text()).not.toContain(GO);
  await signIn(first);
  expect(await list()).toEqual(before);
});

it('refuses a token whose creator is no owner any more, and one that nobody created', async () => {
  await claim(squatter, CHESS);
  await env.DB.prepare(`UPDATE members SET role = 'admin'`).run();
  expect(await assign(first, CHESS, rightful)).toEqual(FORBIDDEN);
  await env.DB.prepare(`UPDATE members SET role = 'owner'`).run();
  await env.DB.prepare('UPDATE access_tokens SET created_by = NULL').run();
  expect(await assign(first, CHESS, rightful)).toEqual(FORBIDDEN);
});

it('lists claims in pages', async () => {
  await claim(squatter, CHESS);
  await claim(rightful, GO);
  const seen = [];
  let cursor = '';
  do {
    const { body } = await call(first, 'GET', `${APPS}?limit=1&cursor=${cursor}`);
    seen.push(...(body.data as { app_store_id: string }[]));
    cursor = (body.next_cursor as string | null) ?? '';
  } while (cursor !== '');
  expect(seen.map(({ app_store_id }) => app_store_id).sort()).toEqual([CHESS, GO]);
});

it('is a page on which the owner confirms and moves apps', async () => {
  await store(makePostback({ appId: CHESS }));
  await claim(squatter, CHESS);
  const rows = async () => {
    const page = await pageOf(await owner.get('/skan/apps'));
    return page.cells('App Store apps', 'App Store id', 'Application', 'Waiting postbacks', 'Actions');
  };
  expect(await rows()).toEqual([[CHESS, named(squatter), '1', 'Confirm']]);
  await owner.submit('/skan/apps', { app_store_id: CHESS, application_id: squatter.application.id });
  expect(await rows()).toEqual([[CHESS, named(squatter), '0', 'Confirmed']]);
  await owner.submit('/skan/apps', { app_store_id: CHESS, application_id: rightful.application.id });
  expect(await rows()).toEqual([[CHESS, named(rightful), '0', 'Confirmed']]);
  const refused = await owner.post('/skan/apps', { app_store_id: CHESS });
  expect(refused.status).toBe(400);
  expect((await pageOf(refused)).texts('form').join()).toContain('Application id');
});
