import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { createPasswordReset, passwordResetSql, pruneSessions } from '#members';
import { pageOf } from '../helpers/page.ts';
import {
  type Browser,
  cookieOf,
  createPerson,
  FORM,
  openSession,
  PASSWORD,
  signedIn,
  signIn,
} from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const allow = { limit: async () => ({ success: true }) };
const worker = startWorker({ SIGN_IN_LIMIT: allow, SIGN_IN_ADDRESS_LIMIT: allow });
const NEXT = 'a new long password';

let tenant: Tenant;
let admin: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
});

const idOf = async (email: string) =>
  await env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).first<string>('id');

async function linkFor(email: string, by = admin): Promise<string> {
  const page = await pageOf(await by.submit(`/settings/members/${await idOf(email)}/password-reset`));
  return new URL(page.one('.notice code').text).pathname;
}

const choose = (path: string, password: string) =>
  worker.request(path, { method: 'POST', headers: FORM, body: new URLSearchParams({ password }).toString() });

it('lets a member choose a new password once, by an admin’s link, and ends every session', async () => {
  const person = await createPerson(tenant.team, 'viewer');
  const before = await signIn(worker, person);
  const path = await linkFor(person.email);
  expect((await pageOf(await worker.request(path))).texts('main p')).toEqual([
    'Attribution',
    `For ${person.email}. All open sessions of this account end.`,
    'At least 12 characters, not only common words or your name. A few random words work well.',
    'Documentation',
  ]);
  const short = await choose(path, 'short');
  expect(short.status).toBe(400);
  expect((await pageOf(short)).faults).toEqual({ password: 'New password must have at least 12 characters' });

  const malformed = await worker.request(path, {
    method: 'POST',
    headers: { ...FORM, 'Content-Type': 'multipart/form-data; boundary=x' },
    body: 'no boundary here',
  });
  expect(malformed.status).toBe(400);

  const chosen = await choose(path, NEXT);
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/']);
  expect(cookieOf(chosen)).toMatch(/^__Secure-dashboard\.session_token=[^;]+$/);
  expect((await before.get('/')).status).toBe(302);
  await expect(signIn(worker, person)).rejects.toThrow('400');
  await signIn(worker, { ...person, password: NEXT });
  expect((await choose(path, 'another long password')).status).toBe(404);
  const log = await listAudit(database(env.DB), tenant.team.id, { limit: 2 });
  expect(log.map(({ action, actor, subject }) => [action, actor === person.email, subject])).toEqual([
    ['member.password_reset', true, person.email],
    ['member.password_reset_created', false, person.email],
  ]);
});

it('lets one of two people who use a link at the same time set the password', async () => {
  const person = await createPerson(tenant.team, 'viewer');
  const path = await linkFor(person.email);
  const answers = await Promise.all([choose(path, `${NEXT} one`), choose(path, `${NEXT} two`)]);
  const won = answers.findIndex(({ status }) => status === 303);
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  await signIn(worker, { ...person, password: `${NEXT} ${won === 0 ? 'one' : 'two'}` });
});

it('ends a link after a day, with a newer link, and with the membership', async () => {
  const person = await createPerson(tenant.team, 'viewer');
  const first = await linkFor(person.email);
  const second = await linkFor(person.email);
  expect((await worker.request(first)).status).toBe(404);
  expect((await worker.request(second)).status).toBe(200);
  await env.DB.prepare('UPDATE password_resets SET expires_at = ?')
    .bind(Date.now() - 1)
    .run();
  expect((await worker.request(second)).status).toBe(404);
  await pruneSessions(env.DB, Date.now());
  expect(await env.DB.prepare('SELECT count(*) AS n FROM password_resets').first('n')).toBe(0);

  const third = await linkFor(person.email);
  await admin.post(`/settings/members/${await idOf(person.email)}/remove`);
  expect((await worker.request(third)).status).toBe(404);
  expect((await worker.request('/reset-password/made-up')).status).toBe(404);
});

it('creates no link for an admin who was removed since the request was checked', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const former = await createPerson(team, 'admin');
  const [userId, formerId] = [(await idOf(person.email)) ?? '', (await idOf(former.email)) ?? ''];
  const db = database(env.DB);
  const caller = { db, team, actor: former.email, now: Date.now(), userId: formerId, role: 'admin' as const };
  const rows = () =>
    env.DB.prepare('SELECT count(*) AS n FROM password_resets WHERE user_id = ?').bind(userId).first('n');
  await createPasswordReset(caller, userId);
  expect(await rows()).toBe(1);
  await env.DB.prepare('DELETE FROM password_resets WHERE user_id = ?').bind(userId).run();
  await env.DB.prepare("UPDATE members SET role = 'owner' WHERE user_id = ?").bind(userId).run();
  await expect(createPasswordReset({ ...caller, role: 'owner' }, userId)).rejects.toThrow('no longer allows');
  await env.DB.prepare("UPDATE members SET role = 'viewer' WHERE user_id = ?").bind(userId).run();
  await env.DB.prepare('DELETE FROM members WHERE user_id = ?').bind(formerId).run();
  await expect(createPasswordReset(caller, userId)).rejects.toThrow('Your role no longer allows this');
  expect(await rows()).toBe(0);
  const created = await listAudit(db, team.id, { limit: 10 });
  expect(created.filter(({ action }) => action === 'member.password_reset_created')).toHaveLength(1);
});

it('ends an open link when the member changes their password, but not when they mistype the current one', async () => {
  const person = await createPerson(tenant.team, 'viewer');
  const path = await linkFor(person.email);
  const browser = await openSession(worker, person);
  expect((await browser.post('/settings/account', { current: 'mistyped', next: NEXT })).status).toBe(400);
  expect((await worker.request(path)).status).toBe(200);
  expect((await browser.post('/settings/account', { current: PASSWORD, next: NEXT })).status).toBe(303);
  expect((await choose(path, 'another long password')).status).toBe(404);
  await signIn(worker, { ...person, password: NEXT });
});

it('ends the open links of a team when a member is removed or gets another role, and no others', async () => {
  const { team } = await createTenant();
  const owner = await signedIn(worker, team, 'owner');
  const ownId = await env.DB.prepare('SELECT user_id AS id FROM members WHERE team_id = ?')
    .bind(team.id)
    .first<string>('id');
  const [leaving, person] = [await createPerson(team, 'admin'), await createPerson(team, 'viewer')];
  const elsewhere = await linkFor((await createPerson(tenant.team, 'viewer')).email);
  const role = (id: string | null, to: string) => owner.post(`/settings/members/${id}/role`, { role: to });

  const held = await linkFor(person.email, await openSession(worker, leaving));
  expect((await role(ownId, 'viewer')).status).toBe(409);
  expect((await owner.post(`/settings/members/${ownId}/remove`)).status).toBe(409);
  expect((await worker.request(held)).status).toBe(200);
  expect((await role(person.id, 'owner')).status).toBe(303);
  expect((await worker.request(held)).status).toBe(404);

  const last = await linkFor(person.email, owner);
  expect((await owner.post(`/settings/members/${leaving.id}/remove`)).status).toBe(303);
  expect((await worker.request(last)).status).toBe(404);
  expect((await worker.request(elsewhere)).status).toBe(200);
});

it('lets only an owner reset an owner’s password, and nobody that of another team’s member', async () => {
  const owner = await createPerson(tenant.team, 'owner');
  const reset = async (by: Browser) =>
    (await by.post(`/settings/members/${await idOf(owner.email)}/password-reset`)).status;
  expect(await reset(admin)).toBe(403);
  expect(await reset(await signedIn(worker, tenant.team, 'viewer'))).toBe(403);
  expect(await reset(await signedIn(worker, (await createTenant()).team, 'owner'))).toBe(404);
  expect(await reset(await signIn(worker, owner))).toBe(303);
});

it('creates the same link from the command line by SQL, whatever the email contains', async () => {
  const person = await createPerson(tenant.team, 'viewer');
  const run = async (email: string) => {
    const { statements, secret } = await passwordResetSql(email, Date.now());
    const results = await env.DB.batch(statements.split(';\n').map((one) => env.DB.prepare(one)));
    return { rows: results.at(-1)?.results, secret };
  };
  const { rows, secret } = await run(person.email.toUpperCase());
  expect(rows).toEqual([{ email: person.email, passkeys: '[]' }]);
  expect((await choose(`/reset-password/${secret}`, NEXT)).status).toBe(303);
  await signIn(worker, { ...person, password: NEXT });
  const open = () => env.DB.prepare('SELECT count(*) AS n FROM password_resets').first('n');
  const before = await open();
  expect((await run("nobody' OR '1'='1")).rows).toEqual([]);
  expect(await open()).toBe(before);
});
