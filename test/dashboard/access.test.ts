import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { dashboard } from '../../src/dashboard/app.tsx';
import { pageOf } from '../helpers/page.ts';
import { type Browser, FORM, ORIGIN, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Signing in is not what is limited here.
const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const routes = (method: string) => [
  ...new Set(dashboard.routes.filter((route) => route.method === method).map(({ path }) => path)),
];

/** Routes that people without a session need. */
const OPEN = new Set([
  '/login',
  '/login/code',
  '/login/passkey',
  '/login/passkey/challenge',
  '/setup',
  '/join/:secret',
  '/reset-password/:secret',
  '/shared/:secret',
  '/settings',
]);
/** Changes that concern nobody but the person, and the views that everyone of a team may save. */
const OWN = new Set([
  '/logout',
  '/settings/account',
  '/settings/account/app',
  '/settings/account/app/confirm',
  '/settings/account/app/remove',
  '/settings/account/passkeys',
  '/settings/account/passkeys/challenge',
  '/settings/account/passkeys/:id/remove',
  '/views',
  '/views/:id/remove',
]);
const ADMIN_PAGES = ['/settings/tokens', '/settings/members', '/settings/audit'];

const POSTS = routes('POST').filter((path) => !OPEN.has(path));
const CHANGES = POSTS.filter((path) => !OWN.has(path));
const PAGES = routes('GET').filter((path) => !OPEN.has(path));

let mine: Tenant;
let theirs: Tenant;
let viewer: Browser;
let admin: Browser;
let stranger: Browser;
/** The values of the routes' parameters, always of the first team. */
let ids: { application: string; token: string; member: string; invitation: string; parked: string };

const pathOf = (route: string) =>
  route
    .replace('/settings/applications/:id', `/settings/applications/${ids.application}`)
    .replace('/settings/tokens/:id', `/settings/tokens/${ids.token}`)
    .replace('/settings/members/:id', `/settings/members/${ids.member}`)
    .replace('invitations/:id', `invitations/${ids.invitation}`)
    .replace('/status/:id', `/status/${ids.parked}`)
    .replace(/:\w+/, 'unknown');

beforeAll(async () => {
  [mine, theirs] = [await createTenant(), await createTenant()];
  viewer = await signedIn(worker, mine.team, 'viewer');
  admin = await signedIn(worker, mine.team, 'admin');
  stranger = await signedIn(worker, theirs.team, 'owner');
  await admin.post('/settings/members', { note: 'open', role: 'viewer' });
  const one = (sql: string) => env.DB.prepare(sql).bind(mine.team.id).first<string>('id');
  await env.DB.prepare(
    `INSERT INTO parked_messages (id, application_id, body, reason, parked_at) VALUES ('prk_mine', ?, '{"v":1,"events":[]}', 'my reason', 1)`,
  )
    .bind(mine.application.id)
    .run();
  ids = {
    application: mine.application.id,
    token: (await one('SELECT id FROM access_tokens WHERE team_id = ?')) ?? '',
    member: (await one(`SELECT user_id AS id FROM members WHERE team_id = ? AND role = 'viewer'`)) ?? '',
    invitation: (await one('SELECT hash AS id FROM invitations WHERE team_id = ?')) ?? '',
    parked: 'prk_mine',
  };
});

/** Everything that a change could have changed. */
async function stateOf(teamId: string): Promise<string> {
  const tables = [
    'SELECT * FROM applications WHERE team_id = ?1',
    'SELECT hash, expires_at FROM api_keys WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
    'SELECT * FROM access_tokens WHERE team_id = ?1',
    'SELECT * FROM members WHERE team_id = ?1',
    'SELECT * FROM invitations WHERE team_id = ?1',
    'SELECT * FROM audit_log WHERE team_id = ?1',
    'SELECT * FROM costs WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
    'SELECT * FROM parked_messages WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
    'SELECT * FROM alerts WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
    'SELECT * FROM channels WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
    'SELECT * FROM share_links WHERE team_id = ?1',
    'SELECT * FROM saved_views WHERE team_id = ?1',
    'SELECT * FROM creatives WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)',
  ];
  const results = await env.DB.batch(tables.map((sql) => env.DB.prepare(sql).bind(teamId)));
  return JSON.stringify(results.map(({ results: rows }) => rows));
}

/** Fields with which every form would do something. */
const FIELDS = {
  name: 'Changed',
  timezone: 'UTC',
  currency: 'usd',
  days: '30',
  note: 'x',
  text: 'x',
  day: '2026-03-01',
  role: 'viewer',
  grace_hours: '0',
  csv: 'date,campaign,currency,amount\n2026-01-01,x,usd,1',
  creative: 'x',
};

describe('without a session', () => {
  it.each(PAGES)('GET %s leads to the sign-in', async (route) => {
    const answer = await worker.request(pathOf(route));
    const { pathname, search } = new URL(pathOf(route), ORIGIN);
    const next = pathname === '/' ? '' : `?next=${encodeURIComponent(pathname + search)}`;
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `/login${next}`]);
  });

  it.each(POSTS)('POST %s changes nothing', async (route) => {
    const before = await stateOf(mine.team.id);
    const answer = await worker.request(pathOf(route), { method: 'POST', headers: FORM, body: 'name=x' });
    expect(answer.status).toBe(401);
    expect(await stateOf(mine.team.id)).toBe(before);
  });
});

describe('a viewer', () => {
  it.each(CHANGES)('POST %s is refused and changes nothing', async (route) => {
    const before = await stateOf(mine.team.id);
    expect((await viewer.post(pathOf(route), FIELDS)).status).toBe(403);
    expect(await stateOf(mine.team.id)).toBe(before);
  });

  it.each(PAGES)('GET %s reveals no key', async (route) => {
    const answer = await viewer.get(pathOf(route));
    expect(answer.status).toBe(ADMIN_PAGES.includes(route) ? 403 : answer.status);
    expect([200, 403, 404]).toContain(answer.status);
    const page = await answer.text();
    expect(page).not.toContain(mine.apiKey);
    expect(page).not.toContain('method="post" action="/settings/applications');
  });
});

describe('another team', () => {
  it.each(CHANGES)('POST %s changes nothing of this team', async (route) => {
    const before = await stateOf(mine.team.id);
    const path = pathOf(route);
    const own = path === route;
    const target = own && route === '/costs' ? `/costs?app=${mine.application.id}` : path;
    const answer = await stranger.post(target, FIELDS);
    if (!own || target !== path) expect(answer.status).toBe(route.includes('withdraw') ? 303 : 404);
    expect(await stateOf(mine.team.id)).toBe(before);
  });

  it.each(PAGES)('GET %s shows nothing of this team', async (route) => {
    const path = pathOf(route);
    const pages = [await stranger.get(path), await stranger.get(`${path}?app=${mine.application.id}`)];
    for (const answer of pages) {
      const page = await answer.text();
      expect(page).not.toContain(mine.application.id);
      expect(page).not.toContain(mine.apiKey);
      expect(page).not.toContain('my reason');
    }
  });
});

describe('another site', () => {
  it.each([...POSTS, '/login', '/setup'])('cannot post %s with a stolen cookie', async (route) => {
    const before = await stateOf(mine.team.id);
    for (const headers of [
      { Origin: 'https://evil.test' },
      { Origin: 'null' },
      { Origin: '', 'Sec-Fetch-Site': 'cross-site' },
      { Origin: '', 'Sec-Fetch-Site': 'same-site' },
      { Origin: '' },
    ]) {
      const answer = await admin.post(pathOf(route), FIELDS, headers as Record<string, string>);
      expect(answer.status).toBe(403);
    }
    expect(await stateOf(mine.team.id)).toBe(before);
  });
});

describe('every page', () => {
  it.each([...PAGES, '/login', '/no-such/page'])('GET %s has the security headers', async (route) => {
    const answer = await admin.get(pathOf(route));
    if (route === '/no-such/page') return expect(answer.status).toBe(404);
    expect(answer.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const elements = (await pageOf(answer)).all('*');
    // One line of a page.
    const fewest = route === '/status/fresh' ? 2 : 10;
    expect(elements.length > fewest).toBe(answer.headers.get('Content-Type')?.startsWith('text/html'));
    const forbidden = elements.filter(
      ({ tagName, attributes }) =>
        (tagName === 'SCRIPT' && !attributes.src) ||
        Object.keys(attributes).some((name) => name === 'style' || name.startsWith('on')),
    );
    expect(forbidden.map(String)).toEqual([]);
  });
});

it('lets an admin see the key, and records it in the audit log each time', async () => {
  const key = `/settings/applications/${mine.application.id}/key`;
  const entries = async () => {
    const log = await pageOf(await admin.get('/settings/audit'));
    return log
      .cells('Audit log', 'What')
      .flat()
      .filter((what) => what === 'Looked at an API key').length;
  };
  const before = await entries();
  const page = await pageOf(await admin.submit(key));
  expect(page.texts('#key code')).toEqual([mine.apiKey]);
  await admin.post(key);
  expect(await entries()).toBe(before + 2);
});

it('does not let an admin invite or appoint an owner', async () => {
  const before = await env.DB.prepare('SELECT count(*) AS n FROM invitations').first('n');
  expect((await admin.post('/settings/members', { note: 'x', role: 'owner' })).status).toBe(403);
  expect((await admin.post(`/settings/members/${ids.member}/role`, { role: 'owner' })).status).toBe(403);
  expect(await env.DB.prepare('SELECT count(*) AS n FROM invitations').first('n')).toBe(before);
});
