import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { pruneSessions } from '#members';
import { watchedLimit } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import { cookieOf, createPerson, FORM, PASSWORD, signedIn, signIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

// Signing in is not what is limited here.
const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const first = (email: string, team: string) =>
  new URLSearchParams({ team, name: 'First', email, password: PASSWORD }).toString();

const setUp = (body: string) => worker.request('/setup', { method: 'POST', headers: FORM, body });

it('opens the setup of a new deployment, which creates one owner however many try, and closes', async () => {
  expect((await worker.request('/')).headers.get('location')).toBe('/setup');
  expect((await worker.request('/login')).headers.get('location')).toBe('/setup');
  expect((await worker.request('/setup')).status).toBe(200);
  const short = await setUp(
    new URLSearchParams({ team: 'A', name: 'A', email: 'a@b.test', password: 'short' }).toString(),
  );
  expect(short.status).toBe(400);
  expect((await pageOf(short)).faults).toEqual({ password: 'Password must have at least 12 characters' });

  const answers = await Promise.all([
    setUp(first('one@first.test', 'One')),
    setUp(first('two@first.test', 'Two')),
    setUp(first('three@first.test', 'Three')),
  ]);
  const made = answers.filter(({ status }) => status === 303);
  expect(made).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(2);
  const counts = await env.DB.prepare(
    `SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM members) AS members,
       (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM teams) AS teams`,
  ).first();
  expect(counts).toEqual({ users: 1, members: 1, accounts: 1, teams: 1 });
  const [answer] = made;
  const page = await worker.request('/', { headers: { Cookie: answer ? cookieOf(answer) : '' } });
  expect(page.status).toBe(200);
  expect((await pageOf(page)).cards).toEqual(['Create your first application']);
  expect((await worker.request('/setup')).status).toBe(404);
  expect((await setUp(first('late@first.test', 'Late'))).status).toBe(404);
});

it('stores nothing about the browser, whose header may be as long as it likes', async () => {
  const person = await createPerson((await createTenant()).team, 'viewer');
  const answer = await worker.request('/login', {
    method: 'POST',
    headers: { ...FORM, 'User-Agent': 'x'.repeat(60_000) },
    body: new URLSearchParams({ email: person.email, password: PASSWORD }).toString(),
  });
  expect(answer.status).toBe(303);
  const stored = await env.DB.prepare('SELECT ip_address, user_agent FROM sessions WHERE user_id = ?')
    .bind(person.id)
    .all();
  expect(stored.results).toEqual([{ ip_address: '', user_agent: null }]);
});

it('signs in and out, after which a copied cookie is worthless', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const browser = await signIn(worker, { ...person, email: person.email.toUpperCase() });
  expect((await browser.get('/settings/account')).status).toBe(200);
  const out = await browser.post('/logout');
  expect([out.status, out.headers.get('location')]).toEqual([303, '/login']);
  const later = await browser.get('/settings/account');
  expect([later.status, later.headers.get('location')]).toEqual([302, '/login?next=%2Fsettings%2Faccount']);
});

it.each([
  ['/settings/account?x=1', '/settings/account?x=1'],
  ['//evil.test', '/'],
  ['/\\evil.test', '/'],
  ['/\t/evil.test', '/'],
  ['https://evil.test/', '/'],
  ['javascript:alert(1)', '/'],
  ['', '/'],
])('answers a sign-in with the next page %j by leading to %j', async (next, location) => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const answer = await worker.request('/login', {
    method: 'POST',
    headers: FORM,
    body: new URLSearchParams({ ...person, next }).toString(),
  });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, location]);
  const page = await pageOf(await worker.request(`/login?${new URLSearchParams({ next })}`));
  expect(page.value('next')).toBe(location);
});

it('sets a cookie that scripts, other sites and plain HTTP cannot read', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const answer = await worker.request('/login', {
    method: 'POST',
    headers: FORM,
    body: new URLSearchParams(person).toString(),
  });
  const [cookie = ''] = answer.headers.getSetCookie();
  const [value = '', ...attributes] = cookie.split('; ');
  expect(value).toMatch(/^__Secure-dashboard\.session_token=[\w%.-]+$/);
  expect(attributes).toEqual(['Max-Age=604800', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']);
});

it.each([
  { name: 'a wrong password', email: null, password: 'wrong horse battery' },
  { name: 'an unknown email', email: 'no-one@team.test', password: PASSWORD },
  { name: 'nothing', email: '', password: '' },
])('refuses $name with the same message', async ({ email, password }) => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const body = new URLSearchParams({ email: email ?? person.email, password }).toString();
  const answer = await worker.request('/login', { method: 'POST', headers: FORM, body });
  expect(answer.status).toBe(400);
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect((await pageOf(answer)).notices).toEqual(['Incorrect email or password.']);
});

const logIn = (on: TestWorker, address: string, email: string, password = 'wrong horse battery') =>
  on.request('/login', {
    method: 'POST',
    headers: { ...FORM, 'cf-connecting-ip': address },
    body: new URLSearchParams({ email, password }).toString(),
  });

it('limits attempts by address, then by email and address, then by email', async () => {
  const limits = [watchedLimit(), watchedLimit(), watchedLimit()] as const;
  const [byAddress, byBoth, byEmail] = limits;
  const on = (refusing: number) => {
    const [first, second, third] = limits.map((limit, index) =>
      index === refusing ? watchedLimit(() => true).binding : limit.binding,
    );
    return startWorker({
      ...(first && { SIGN_IN_ADDRESS_LIMIT: first }),
      ...(second && { SIGN_IN_LIMIT: second }),
      ...(third && { SIGN_IN_EMAIL_LIMIT: third }),
    });
  };
  for (const refusing of [0, 1, 2]) {
    const answer = await logIn(on(refusing), '192.0.2.7', 'a@b.test');
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '60']);
    expect((await pageOf(answer)).error).toBe('Too many attempts. Wait a minute, then try again.');
  }
  // What an earlier limit refuses does not count for the later ones.
  expect(byAddress.keys).toEqual(['192.0.2.7', '192.0.2.7']);
  expect(byBoth.keys).toEqual(['192.0.2.7 a@b.test']);
  expect(byEmail.keys).toEqual([]);
});

slowIt("locks nobody out by others' wrong passwords, under the limits of a deployment", async () => {
  const { team } = await createTenant();
  const { email, password } = await createPerson(team, 'owner');
  const deployed = startWorker();
  // More than one address has in two minutes.
  for (let stranger = 1; stranger <= 21; stranger++) {
    expect((await logIn(deployed, `198.51.100.${stranger}`, email)).status).toBe(400);
  }
  expect((await logIn(deployed, '192.0.2.1', email, password)).status).toBe(303);

  // Ten in a minute; twenty where a new minute begins meanwhile.
  let guesses = 0;
  while ((await logIn(deployed, '203.0.113.1', email)).status === 400) guesses++;
  expect(guesses).toBeGreaterThanOrEqual(10);
  expect(guesses).toBeLessThanOrEqual(20);
  expect((await logIn(deployed, '192.0.2.1', email, password)).status).toBe(303);
});

it('limits guesses of the current password', async () => {
  const { team } = await createTenant();
  const limit = watchedLimit((key) => key.startsWith('usr_'));
  const browser = await signIn(
    startWorker({ SIGN_IN_LIMIT: limit.binding }),
    await createPerson(team, 'viewer'),
  );
  const answer = await browser.post('/settings/account', { current: 'x', next: 'another long password' });
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '60']);
});

it('accepts an invitation once, and not after it was withdrawn', async () => {
  const { team } = await createTenant();
  const owner = await signedIn(worker, team, 'owner');
  const linkFor = async (role: string) => {
    const page = await pageOf(await owner.submit('/settings/members', { note: 'Ada', role }));
    return new URL(page.one('.notice code').text).pathname;
  };
  const link = await linkFor('admin');
  const body = (email: string) => new URLSearchParams({ name: 'Ada', email, password: PASSWORD }).toString();
  const join = (path: string, email: string) =>
    worker.request(path, { method: 'POST', headers: FORM, body: body(email) });
  expect((await worker.request(link)).status).toBe(200);
  const answers = await Promise.all([join(link, 'ada@team.test'), join(link, 'eve@team.test')]);
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  expect((await worker.request(link)).status).toBe(404);

  const taken = await linkFor('viewer');
  const owners = await createPerson(team, 'viewer');
  const refused = await join(taken, owners.email);
  const page = await pageOf(refused);
  expect([refused.status, page.faults, page.value('name')]).toEqual([
    400,
    { email: 'Email has an account already: sign in, or use another address' },
    'Ada',
  ]);
  expect((await worker.request(taken)).status).toBe(200);
  const { hash } = (await env.DB.prepare('SELECT hash FROM invitations WHERE team_id = ?')
    .bind(team.id)
    .first<{ hash: string }>()) ?? { hash: '' };
  await owner.post(`/settings/members/invitations/${hash}/withdraw`);
  expect((await join(taken, 'new@team.test')).status).toBe(404);
});

it('ends the sessions of a person who is removed, and refuses to remove the last owner', async () => {
  const { team } = await createTenant();
  const owner = await signedIn(worker, team, 'owner');
  const person = await createPerson(team, 'viewer');
  const browser = await signIn(worker, person);
  const idOf = async (email: string) =>
    env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).first<string>('id');
  expect((await owner.post(`/settings/members/${await idOf(person.email)}/remove`)).status).toBe(303);
  expect((await browser.get('/')).status).toBe(302);
  // No row of the person is left, so that the email can be invited again.
  const left = await env.DB.prepare(
    `SELECT (SELECT count(*) FROM users WHERE email = ?1) AS users,
       (SELECT count(*) FROM sessions WHERE user_id NOT IN (SELECT id FROM users)) AS sessions,
       (SELECT count(*) FROM accounts WHERE user_id NOT IN (SELECT id FROM users)) AS accounts`,
  )
    .bind(person.email)
    .first();
  expect(left).toEqual({ users: 0, sessions: 0, accounts: 0 });
  const self = await env.DB.prepare('SELECT user_id FROM members WHERE team_id = ?')
    .bind(team.id)
    .first<string>('user_id');
  expect((await owner.post(`/settings/members/${self}/remove`)).status).toBe(409);
  expect((await owner.post(`/settings/members/${self}/role`, { role: 'viewer' })).status).toBe(409);
  expect((await owner.get('/settings/members')).status).toBe(200);
});

it('changes the password and ends the other sessions', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const [here, elsewhere] = [await signIn(worker, person), await signIn(worker, person)];
  const next = 'another long password';
  expect((await here.post('/settings/account', { current: 'not this one', next })).status).toBe(400);
  const changed = await here.post('/settings/account', { current: PASSWORD, next });
  expect(changed.status).toBe(303);
  expect((await elsewhere.get('/settings/account')).status).toBe(302);
  await signIn(worker, { ...person, password: next });
  // The person stays signed in here, in a new session.
  expect((await here.get('/settings/account')).status).toBe(302);
  const page = await worker.request('/settings/account', { headers: { Cookie: cookieOf(changed) } });
  expect(page.status).toBe(200);
  const log = await listAudit(database(env.DB), team.id, { limit: 10 });
  expect(log).toMatchObject([
    { action: 'member.password_changed', actor: person.email, subject: person.email },
  ]);
});

it('of two changes of a password at the same time, makes one', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const browsers = [await signIn(worker, person), await signIn(worker, person)];
  const answers = await Promise.all(
    browsers.map((browser, index) =>
      browser.post('/settings/account', { current: PASSWORD, next: `${index} long password` }),
    ),
  );
  const made = answers.findIndex(({ status }) => status === 303);
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  await signIn(worker, { ...person, password: `${made} long password` });
  expect(await listAudit(database(env.DB), team.id, { limit: 10 })).toHaveLength(1);
});

it('accepts no expired session or invitation, and deletes them', async () => {
  const { team } = await createTenant();
  const browser = await signedIn(worker, team, 'owner');
  const page = await pageOf(await browser.submit('/settings/members', { note: 'late', role: 'viewer' }));
  const link = new URL(page.one('.notice code').text).pathname;
  expect((await worker.request(link)).status).toBe(200);
  const past = Date.now() - 1;
  await env.DB.batch([
    env.DB.prepare('UPDATE invitations SET expires_at = ? WHERE team_id = ?').bind(past, team.id),
    env.DB.prepare(
      'UPDATE sessions SET expires_at = ? WHERE user_id IN (SELECT user_id FROM members WHERE team_id = ?)',
    ).bind(past, team.id),
  ]);
  expect((await worker.request(link)).status).toBe(404);
  expect((await browser.get('/settings/account')).status).toBe(302);
  await pruneSessions(env.DB, Date.now());
  const left = await env.DB.prepare(
    'SELECT (SELECT count(*) FROM sessions WHERE expires_at < ?1) + (SELECT count(*) FROM invitations WHERE expires_at < ?1) AS n',
  )
    .bind(Date.now())
    .first('n');
  expect(left).toBe(0);
});
