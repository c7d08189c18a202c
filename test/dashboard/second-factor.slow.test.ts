import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { pruneSessions, reencryptSecondFactors } from '#members';
import { watchedLimit } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import {
  type Browser,
  browserWith,
  cookieOf,
  createPerson,
  FORM,
  PASSWORD,
  signedIn,
  signIn,
} from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { codeOf } from '../helpers/totp.ts';
import { startWorker } from '../helpers/worker.ts';

const unlimited = { limit: async () => ({ success: true }) };
const LIMITS = { SIGN_IN_LIMIT: unlimited, SIGN_IN_EMAIL_LIMIT: unlimited, SIGN_IN_ADDRESS_LIMIT: unlimited };
const worker = startWorker(LIMITS);
const ACCOUNT = '/settings/account';

const STEP_MS = 30_000;

// The clock stands still, in the middle of a step: the codes of three steps are valid.
beforeEach(() => {
  const now = Math.floor(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2;
  vi.useFakeTimers({ toFake: ['Date'], now });
});
afterEach(() => vi.useRealTimers());

const codeBefore = (key: string) => codeOf(key, Date.now() - STEP_MS);
const codeAfter = (key: string) => codeOf(key, Date.now() + STEP_MS);

const wrongCode = async (key: string) =>
  ((Number(await codeOf(key)) + 1) % 1_000_000).toString().padStart(6, '0');

/** Adds an app to a person's sign-in, by its code before the current one; returns its key and the recovery codes. */
async function addApp(browser: Browser) {
  const page = await pageOf(await browser.submit(`${ACCOUNT}/app`, { password: PASSWORD }));
  const [key = ''] = page.all('.notice code').map(({ text }) => text);
  const recovery = page.one('.notice pre').text.split('\n');
  const added = await browser.post(`${ACCOUNT}/app/confirm`, { code: await codeBefore(key) });
  expect([added.status, added.headers.get('location')]).toEqual([303, `${ACCOUNT}?done=second_factor_added`]);
  return { key, recovery };
}

const logIn = (person: { email: string; password: string }, on = worker) =>
  on.request('/login', {
    method: 'POST',
    headers: FORM,
    body: new URLSearchParams({ email: person.email, password: person.password, next: ACCOUNT }).toString(),
  });

/** Answers the second step of a sign-in. */
const enter = (first: Response, code: string, on = worker) =>
  on.request('/login/code', {
    method: 'POST',
    headers: { ...FORM, Cookie: cookieOf(first) },
    body: new URLSearchParams({ code, next: ACCOUNT }).toString(),
  });

const open = (answer: Response) => worker.request(ACCOUNT, { headers: { Cookie: cookieOf(answer) } });

async function personWithApp() {
  const { team } = await createTenant();
  const person = await createPerson(team, 'owner');
  return { team, person, ...(await addApp(await signIn(worker, person))) };
}

it('is added by a code of the app, and asked for from then on', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'owner');
  const browser = await signIn(worker, person);
  const made = await pageOf(await browser.submit(`${ACCOUNT}/app`, { password: PASSWORD }));
  const [key = ''] = made.all('.notice code').map(({ text }) => text);
  expect(key).toMatch(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/);
  // The key is in no page that is opened later, and nothing changes before a code was entered.
  expect(await (await browser.get(ACCOUNT)).text()).not.toContain(key);
  expect((await logIn(person)).headers.get('location')).toBe(ACCOUNT);
  const wrong = await browser.post(`${ACCOUNT}/app/confirm`, { code: await wrongCode(key) });
  expect([wrong.status, (await pageOf(wrong)).faults]).toEqual([
    400,
    { code: 'Code is not the one that the app shows now' },
  ]);
  expect((await logIn(person)).headers.get('location')).toBe(ACCOUNT);

  const added = await browser.post(`${ACCOUNT}/app/confirm`, { code: await codeBefore(key) });
  expect(added.status).toBe(303);
  expect((await browser.get(ACCOUNT)).status).toBe(200);
  expect((await browser.post(`${ACCOUNT}/app/confirm`, { code: await codeOf(key) })).status).toBe(400);
  const first = await logIn(person);
  expect(first.headers.get('location')).toBe(`/login/code?next=${encodeURIComponent(ACCOUNT)}`);
  // The password alone opens nothing.
  expect((await open(first)).status).toBe(302);
  const refused = await enter(first, await wrongCode(key));
  expect([refused.status, (await open(refused)).status]).toEqual([400, 302]);
  const entered = await enter(first, await codeOf(key));
  expect([entered.status, entered.headers.get('location')]).toEqual([303, ACCOUNT]);
  expect((await open(entered)).status).toBe(200);
  const actions = (await listAudit(database(env.DB), team.id, { limit: 10 })).map(({ action }) => action);
  expect(actions).toContain('member.second_factor_added');
});

it('signs in by apps that were added before and while the secret was rotated', async () => {
  const [former, secret] = [env.SESSION_SECRET, 'a-new-session-secret-of-the-tests-00000'];
  const rotating = startWorker({ ...LIMITS, SESSION_SECRET: `${secret} ${former}` });
  const rotated = startWorker({ ...LIMITS, SESSION_SECRET: secret });
  const { team, person, key, recovery } = await personWithApp();
  const [code, spare = ''] = [await codeOf(key), recovery[0]];
  expect((await enter(await logIn(person, rotating), code, rotating)).status).toBe(303);
  expect((await enter(await logIn(person, rotating), spare, rotating)).status).toBe(303);

  const later = await createPerson(team, 'viewer');
  const app = await addApp(await signIn(rotating, later));
  const signedInWith = async (text: string) =>
    (await enter(await logIn(later, rotated), text, rotated)).status;
  expect(await signedInWith(await codeOf(app.key))).toBe(303);
  expect(await signedInWith(app.recovery[0] ?? '')).toBe(303);
});

it('signs in by an app that was added before the secret was rotated, once the former one has ended', async () => {
  const [former, secret] = [env.SESSION_SECRET, 'a-new-session-secret-of-the-tests-00000'];
  const rotated = startWorker({ ...LIMITS, SESSION_SECRET: secret });
  const { person, key, recovery } = await personWithApp();
  const during = { ...env, SESSION_SECRET: `${secret} ${former}` };
  await reencryptSecondFactors(env);
  await reencryptSecondFactors(during);
  const stored = () => env.DB.prepare('SELECT secret, backup_codes FROM two_factors ORDER BY id').all();
  const { results } = await stored();
  await reencryptSecondFactors(during);
  expect((await stored()).results).toEqual(results);
  const signedInWith = async (text: string) =>
    (await enter(await logIn(person, rotated), text, rotated)).status;
  expect(await signedInWith(await codeOf(key))).toBe(303);
  expect(await signedInWith(recovery[0] ?? '')).toBe(303);
  expect(await signedInWith(recovery[0] ?? '')).toBe(400);
});

it('takes the code of a sign-in once, and nothing without one', async () => {
  const { person, key } = await personWithApp();
  const first = await logIn(person);
  expect((await enter(first, await codeOf(key))).status).toBe(303);
  expect((await enter(first, await codeOf(key))).status).toBe(400);
  const without = await worker.request('/login/code', {
    method: 'POST',
    headers: FORM,
    body: new URLSearchParams({ code: await codeOf(key) }).toString(),
  });
  expect(without.status).toBe(400);
});

it('takes each code of the app once, whoever signs in with it, and none from before it', async () => {
  const { person, key } = await personWithApp();
  const sessions = async () =>
    (await env.DB.prepare('SELECT count(*) AS n FROM sessions WHERE user_id = ?')
      .bind(person.id)
      .first('n')) ?? 0;
  // The one that added the app is used, too.
  const before = await sessions();
  expect((await enter(await logIn(person), await codeBefore(key))).status).toBe(400);
  expect(await sessions()).toBe(before);
  const firsts = [await logIn(person), await logIn(person), await logIn(person)];
  const code = await codeOf(key);
  const answers = await Promise.all(firsts.map((first) => enter(first, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  const [refused] = answers.filter(({ status }) => status === 400);
  expect(refused && cookieOf(refused)).toBe('');
  expect(await sessions()).toBe(Number(before) + 1);
  expect((await enter(await logIn(person), code)).status).toBe(400);
  expect((await enter(await logIn(person), await codeAfter(key))).status).toBe(303);
  expect((await enter(await logIn(person), code)).status).toBe(400);
});

it('takes each recovery code once', async () => {
  const { person, recovery } = await personWithApp();
  expect(recovery).toHaveLength(10);
  const [code = ''] = recovery;
  expect((await enter(await logIn(person), code)).status).toBe(303);
  expect((await enter(await logIn(person), code)).status).toBe(400);
  expect((await enter(await logIn(person), recovery[1] ?? '')).status).toBe(303);
});

it('takes five guesses in a sign-in and ten in a row, then none for 15 minutes', async () => {
  const { person, key } = await personWithApp();
  const wrong = await wrongCode(key);
  for (let signIns = 0; signIns < 2; signIns++) {
    const first = await logIn(person);
    for (let guess = 0; guess < 5; guess++) expect((await enter(first, wrong)).status).toBe(400);
    expect((await enter(first, await codeOf(key))).status).toBe(400);
  }
  expect((await enter(await logIn(person), await codeOf(key))).status).toBe(400);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 + 1_000 });
  expect((await enter(await logIn(person), await codeOf(key))).status).toBe(303);
});

it('is not replaced while it is on', async () => {
  const { person, key } = await personWithApp();
  const browser = await signedInWith(person, key);
  const again = await browser.post(`${ACCOUNT}/app`, { password: PASSWORD });
  expect([again.status, again.headers.get('location')]).toEqual([303, ACCOUNT]);
  expect((await enter(await logIn(person), await codeAfter(key))).status).toBe(303);
});

async function signedInWith(person: { email: string; password: string }, key: string): Promise<Browser> {
  const entered = await enter(await logIn(person), await codeOf(key));
  return browserWith(worker, cookieOf(entered));
}

it('is removed with the password, which then is enough again', async () => {
  const { team, person, key } = await personWithApp();
  const browser = await signedInWith(person, key);
  const wrong = await browser.post(`${ACCOUNT}/app/remove`, { password: 'wrong horse battery' });
  expect([wrong.status, (await pageOf(wrong)).faults]).toEqual([
    400,
    { password: 'Your password is incorrect' },
  ]);
  expect((await logIn(person)).headers.get('location')).toContain('/login/code');
  const removed = await browser.post(`${ACCOUNT}/app/remove`, { password: PASSWORD });
  expect(removed.headers.get('location')).toBe(`${ACCOUNT}?done=second_factor_removed`);
  expect((await logIn(person)).headers.get('location')).toBe(ACCOUNT);
  const actions = (await listAudit(database(env.DB), team.id, { limit: 10 })).map(({ action }) => action);
  expect(actions).toContain('member.second_factor_removed');
});

it('is asked for after a new password, too', async () => {
  const { person, key } = await personWithApp();
  const browser = await signedInWith(person, key);
  const next = 'another long password';
  const changed = await browser.post(ACCOUNT, { current: PASSWORD, next });
  expect(changed.headers.get('location')).toMatch(/^\/login\/code\?next=/);
  expect((await open(changed)).status).toBe(302);
  expect((await enter(changed, await codeAfter(key))).status).toBe(303);
});

it('is stored encrypted, goes with its person, and leaves no unfinished sign-in', async () => {
  const { team, person, key } = await personWithApp();
  await logIn(person);
  const rows = async (table: string) => (await env.DB.prepare(`SELECT * FROM ${table}`).all()).results;
  const own = (await rows('two_factors')).filter(({ user_id }) => user_id === person.id);
  expect(own).toHaveLength(1);
  expect(JSON.stringify(own)).not.toContain(key.replaceAll(' ', ''));
  expect(await rows('verifications')).not.toEqual([]);
  await pruneSessions(env.DB, Date.now() + 11 * 60_000);
  expect(await rows('verifications')).toEqual([]);
  const other = await signedIn(worker, team, 'owner');
  expect((await other.post(`/settings/members/${person.id}/remove`)).status).toBe(303);
  expect((await rows('two_factors')).filter(({ user_id }) => user_id === person.id)).toEqual([]);
});

it.each(['app', 'app/confirm', 'app/remove'])('limits guesses at %s', async (path) => {
  const { team } = await createTenant();
  const limit = watchedLimit((key) => key.startsWith('usr_'));
  const limited = startWorker({ ...LIMITS, SIGN_IN_LIMIT: limit.binding });
  const browser = await signIn(limited, await createPerson(team, 'viewer'));
  const answer = await browser.post(`${ACCOUNT}/${path}`, { password: PASSWORD, code: '123456' });
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '60']);
});
