import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { passwordResetSql, pruneSessions } from '#members';
import { type Authenticator, type Challenge, createAuthenticator } from '../helpers/authenticator.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import {
  type Browser,
  cookieOf,
  createPerson,
  FORM,
  openSession,
  PASSWORD,
  signedIn,
} from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { codeOf } from '../helpers/totp.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const unlimited = { limit: async () => ({ success: true }) };
const LIMITS = { SIGN_IN_LIMIT: unlimited, SIGN_IN_EMAIL_LIMIT: unlimited, SIGN_IN_ADDRESS_LIMIT: unlimited };
const worker = startWorker(LIMITS);
const ACCOUNT = '/settings/account';

const post = (path: string, fields: Record<string, string>, cookie = '', at: TestWorker = worker) =>
  at.request(path, {
    method: 'POST',
    headers: { ...FORM, Cookie: cookie },
    body: new URLSearchParams(fields).toString(),
  });

async function add(browser: Browser, authenticator: Authenticator, name = 'Laptop'): Promise<Response> {
  const begun = await browser.post(`${ACCOUNT}/passkeys/challenge`, { passkey_password: PASSWORD });
  expect(begun.status).toBe(200);
  const credential = authenticator.create(await begun.json<Challenge>());
  return post(
    `${ACCOUNT}/passkeys`,
    { passkey_name: name, credential },
    `${browser.cookie}; ${cookieOf(begun)}`,
  );
}

async function begin() {
  const begun = await post('/login/passkey/challenge', {});
  return { challenge: await begun.json<Challenge>(), cookie: cookieOf(begun) };
}

async function signInBy(authenticator: Authenticator): Promise<Response> {
  const { challenge, cookie } = await begin();
  return post('/login/passkey', { credential: await authenticator.get(challenge), next: ACCOUNT }, cookie);
}

const isSignedIn = async (answer: Response) =>
  (await worker.request(ACCOUNT, { headers: { Cookie: cookieOf(answer) } })).status === 200;

async function personWithPasskey() {
  const { team } = await createTenant();
  const person = await createPerson(team, 'owner');
  const browser = await openSession(worker, person);
  const authenticator = await createAuthenticator();
  const added = await add(browser, authenticator);
  expect([added.status, added.headers.get('Location')]).toEqual([303, `${ACCOUNT}?done=passkey_added`]);
  return { team, person, browser, authenticator };
}

async function namesOf(browser: Browser): Promise<string[]> {
  const card = (await pageOf(await browser.get(ACCOUNT))).card('Passkeys');
  return card.tables.length === 0 ? [] : card.table('Your passkeys').rows.map(([name = '']) => name);
}

it('is added with the password, signs in, and is removed', async () => {
  const { team, browser, authenticator } = await personWithPasskey();
  expect(await namesOf(browser)).toEqual(['Laptop']);
  const entered = await signInBy(authenticator);
  expect([entered.status, entered.headers.get('Location')]).toEqual([303, ACCOUNT]);
  expect(await isSignedIn(entered)).toBe(true);
  const page = await pageOf(await browser.get(ACCOUNT));
  const [remove = ''] = page.row('Your passkeys', 'Laptop').actions;
  const stranger = await signedIn(worker, team, 'owner');
  expect((await stranger.post(remove)).status).toBe(404);
  expect((await browser.post(remove)).status).toBe(303);
  const refused = await signInBy(authenticator);
  expect([refused.status, await isSignedIn(refused)]).toEqual([400, false]);
  const actions = (await listAudit(database(env.DB), team.id, { limit: 10 })).map(({ action }) => action);
  expect(actions.filter((action) => action.includes('passkey'))).toEqual([
    'member.passkey_removed',
    'member.passkey_added',
  ]);
});

it('takes each challenge once, of its own browser and kind, and no other passkey', async () => {
  const { browser, authenticator } = await personWithPasskey();
  const { challenge, cookie } = await begin();
  const credential = await authenticator.get(challenge);
  const foreign = await begin();
  for (const [sent, of] of [
    [credential, ''],
    [credential, foreign.cookie],
    [await (await createAuthenticator()).get(challenge), cookie],
    ['{}', cookie],
    ['no JSON', cookie],
  ] as const) {
    const answer = await post('/login/passkey', { credential: sent }, of);
    expect([answer.status, await isSignedIn(answer)], sent).toEqual([400, false]);
  }
  const fresh = await begin();
  const answered = { credential: await authenticator.get(fresh.challenge) };
  expect((await post('/login/passkey', answered, fresh.cookie)).status).toBe(303);
  expect((await post('/login/passkey', answered, fresh.cookie)).status).toBe(400);
  const begun = await browser.post(`${ACCOUNT}/passkeys/challenge`, { passkey_password: PASSWORD });
  const asSignIn = await authenticator.get(await begun.json<Challenge>());
  expect((await post('/login/passkey', { credential: asSignIn }, cookieOf(begun))).status).toBe(400);
});

it('stands for both factors, so it has to verify its user', async () => {
  const { browser, authenticator } = await personWithPasskey();
  const made = await pageOf(await browser.submit(`${ACCOUNT}/app`, { password: PASSWORD }));
  const code = await codeOf(made.texts('.notice code')[0] ?? '');
  expect((await browser.post(`${ACCOUNT}/app/confirm`, { code })).status).toBe(303);
  expect(await isSignedIn(await signInBy(authenticator))).toBe(true);

  const touchOnly = await createAuthenticator({ verifiesUser: false });
  await add(browser, touchOnly, 'Key');
  const refused = await signInBy(touchOnly);
  expect([refused.status, await isSignedIn(refused)]).toEqual([400, false]);
});

it('is not added without the password, and its guesses are limited', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const browser = await openSession(worker, person);
  const wrong = await browser.post(`${ACCOUNT}/passkeys/challenge`, { passkey_password: 'wrong horse' });
  expect([wrong.status, await wrong.json()]).toEqual([400, { message: 'Your password is incorrect.' }]);
  const credential = (await createAuthenticator()).create({ challenge: 'x' });
  const answer = await browser.post(`${ACCOUNT}/passkeys`, { passkey_name: 'x', credential });
  expect([answer.status, await namesOf(browser)]).toEqual([400, []]);
  const limit = watchedLimit((key) => key.startsWith('usr_'));
  const limited = startWorker({ ...LIMITS, SIGN_IN_LIMIT: limit.binding });
  const refused = await post(`${ACCOUNT}/passkeys/challenge`, {}, browser.cookie, limited);
  expect(refused.status).toBe(429);
});

it('counts for nothing until the audit log has it', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'owner');
  const browser = await openSession(worker, person);
  const authenticator = await createAuthenticator();
  await env.DB.exec(
    "CREATE TRIGGER refuse_audit BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'refused by the test'); END",
  );
  expect((await add(browser, authenticator)).status).toBe(500);
  await env.DB.exec('DROP TRIGGER refuse_audit');
  expect(await namesOf(browser)).toEqual([]);
  expect(await isSignedIn(await signInBy(authenticator))).toBe(false);
  const left = () =>
    env.DB.prepare('SELECT count(*) AS n FROM passkeys WHERE user_id = ?').bind(person.id).first('n');
  expect(await left()).toBe(1);
  await pruneSessions(env.DB, Date.now() + 3_700_000);
  expect(await left()).toBe(0);
});

it('goes with its person', async () => {
  const { team, person, authenticator } = await personWithPasskey();
  const other = await signedIn(worker, team, 'owner');
  expect((await other.post(`/settings/members/${person.id}/remove`)).status).toBe(303);
  expect((await signInBy(authenticator)).status).toBe(400);
  const left = await env.DB.prepare('SELECT count(*) AS n FROM passkeys WHERE user_id = ?')
    .bind(person.id)
    .first('n');
  expect(left).toBe(0);
});

/** The page of a new link with which the person chooses a password. */
async function openReset(email: string): Promise<string> {
  const { statements, secret } = await passwordResetSql(email, Date.now());
  await env.DB.batch(statements.split(';\n').map((one) => env.DB.prepare(one)));
  return `/reset-password/${secret}`;
}

it('is listed by a password reset, which removes it unless the person keeps it', async () => {
  const { team, person, browser, authenticator } = await personWithPasskey();
  const other = await personWithPasskey();
  const kept = await openReset(person.email);
  const shown = await pageOf(await worker.request(kept));
  expect(shown.texts('.passkeys li')).toEqual([expect.stringMatching(/^Laptop, added \d+ \w+$/)]);
  const isChecked = (page: typeof shown) =>
    page.one('#field-remove_passkeys').getAttribute('checked') !== undefined;
  expect(isChecked(shown)).toBe(true);
  const refused = await pageOf(await post(kept, { password: 'short' }));
  expect(isChecked(refused)).toBe(false);
  const password = 'a new long password';
  expect((await post(kept, { password })).status).toBe(303);
  expect(await isSignedIn(await signInBy(authenticator))).toBe(true);

  expect((await post(await openReset(person.email), { password, remove_passkeys: 'true' })).status).toBe(303);
  expect(await isSignedIn(await signInBy(authenticator))).toBe(false);
  expect(await isSignedIn(await signInBy(other.authenticator))).toBe(true);
  expect((await browser.get(ACCOUNT)).status).toBe(302);
  const log = await listAudit(database(env.DB), team.id, { limit: 2 });
  expect(log.map(({ action, subject }) => [action, subject])).toEqual([
    ['member.password_reset', person.email],
    ['member.passkey_removed', `${person.email}: Laptop`],
  ]);
  const none = await pageOf(await worker.request(await openReset(person.email)));
  expect(none.texts('.passkeys li')).toEqual([]);
});

it('is dated in the time zone of the team’s application where a password is reset', async () => {
  const { team, person } = await personWithPasskey();
  await env.DB.prepare("UPDATE applications SET timezone = 'Pacific/Kiritimati' WHERE team_id = ?")
    .bind(team.id)
    .run();
  await env.DB.prepare('UPDATE passkeys SET created_at = ? WHERE user_id = ?')
    .bind(Date.UTC(2024, 4, 9, 22, 30), person.id)
    .run();
  const shown = await pageOf(await worker.request(await openReset(person.email)));
  expect(shown.texts('.passkeys li')).toEqual(['Laptop, added 10 May 2024']);
});

it('is named by the command that creates the link', async () => {
  const { person } = await personWithPasskey();
  const { statements } = await passwordResetSql(person.email, Date.now());
  const results = await env.DB.batch(statements.split(';\n').map((one) => env.DB.prepare(one)));
  expect(results.at(-1)?.results).toEqual([{ email: person.email, passkeys: '["Laptop"]' }]);
});
