import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { passwordResetSql } from '#members';
import { pageOf } from '../helpers/page.ts';
import { createPerson, FORM, openSession, PASSWORD, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// No way to set a password takes one that guessing programs try first, or that consists of what is known about the person.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const COMMON = 'is too easy to guess: it consists of common words, sequences or repetitions';
const PERSONAL = 'is too easy to guess: it contains your name, email or team and little else';

const post = (path: string, fields: Record<string, string>) =>
  worker.request(path, { method: 'POST', headers: FORM, body: new URLSearchParams(fields).toString() });

async function faultsOf(answer: Response): Promise<Record<string, string>> {
  expect(answer.status).toBe(400);
  return (await pageOf(answer)).faults;
}

it('is refused for the first owner, also if it is the name of the team', async () => {
  const person = { team: 'Rocketgames', name: 'Anneliese', email: 'boss@company-two.test' };
  for (const [password, fault] of [
    ['aaaaaaaaaaaa', COMMON],
    ['Rocketgames2026', PERSONAL],
    ['Anneliese1990', PERSONAL],
    ['boss@company-two', PERSONAL],
  ] as const) {
    const answer = await post('/setup', { ...person, password });
    expect(await faultsOf(answer)).toEqual({ password: `Password ${fault}` });
  }
  expect(await env.DB.prepare('SELECT count(*) AS n FROM members').first('n')).toBe(0);
});

it('is refused for someone who is invited', async () => {
  const { team } = await createTenant();
  const owner = await signedIn(worker, team, 'owner');
  const page = await pageOf(await owner.submit('/settings/members', { note: 'Ada', role: 'viewer' }));
  const link = new URL(page.one('.notice code').text).pathname;
  const person = { name: 'Anneliese', email: 'ann@two.test' };
  const common = await post(link, { ...person, password: 'password1234' });
  expect(await faultsOf(common)).toEqual({ password: `Password ${COMMON}` });
  const personal = await post(link, { ...person, password: 'Anneliese1990' });
  expect(await faultsOf(personal)).toEqual({ password: `Password ${PERSONAL}` });
  expect((await post(link, { ...person, password: PASSWORD })).status).toBe(303);
});

it('is refused for a change', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const browser = await openSession(worker, person);
  const change = (next: string) => browser.post('/settings/account', { current: PASSWORD, next });
  expect(await faultsOf(await change('qwertyuiop12'))).toEqual({ next: `New password ${COMMON}` });
  expect(await faultsOf(await change(`${person.email}1`))).toEqual({ next: `New password ${PERSONAL}` });
});

it('is refused for a new one by a link, as the command line prints it', async () => {
  const { team } = await createTenant();
  const person = await createPerson(team, 'viewer');
  const { statements, secret } = await passwordResetSql(person.email, Date.now());
  for (const statement of statements.split(';\n')) await env.DB.prepare(statement).run();
  const link = `/reset-password/${secret}`;
  const common = await post(link, { password: 'abcabcabcabc' });
  expect(await faultsOf(common)).toEqual({ password: `New password ${COMMON}` });
  const personal = await post(link, { password: person.email });
  expect(await faultsOf(personal)).toEqual({ password: `New password ${PERSONAL}` });
  expect((await post(link, { password: 'another long password' })).status).toBe(303);
});
