import { env } from 'cloudflare:workers';
import { hashPassword, makeSignature } from 'better-auth/crypto';
import { accounts, database, members, sessions, users } from '#db';
import { settingsOf } from '#env';
import { newId } from '#lib/ids';
import type { Role } from '#members';
import type { TestWorker } from './worker.ts';

export const ORIGIN = 'https://ingest.test';
export const PASSWORD = 'correct horse battery';

let people = 0;
let passwordHash: string | undefined;

/** A member of a team, with the rows that accepting an invitation writes. The password is hashed once: scrypt is slow on purpose. */
export async function createPerson(team: { id: string }, role: Role) {
  const db = database(env.DB);
  const now = Date.now();
  const times = { createdAt: new Date(now), updatedAt: new Date(now) };
  const id = newId('usr');
  const email = `person-${++people}@team.test`;
  passwordHash ??= await hashPassword(PASSWORD);
  const account = { id: newId('acc'), accountId: id, providerId: 'credential', userId: id };
  await db.batch([
    db.insert(members).values({ userId: id, teamId: team.id, role, createdAt: now }),
    db.insert(users).values({ id, name: `Person ${people}`, email, ...times }),
    db.insert(accounts).values({ ...account, password: passwordHash, ...times }),
  ]);
  return { id, email, password: PASSWORD };
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

export const FORM = { Origin: ORIGIN, 'Content-Type': 'application/x-www-form-urlencoded' };

/** The cookie that an answer sets, as a browser would send it back; empty when it sets none. */
export const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ');

/** A browser that holds a cookie. */
export function browserWith(worker: TestWorker, cookie: string) {
  const get = (path: string, more = '') =>
    worker.request(path, { headers: { Cookie: more === '' ? cookie : `${cookie}; ${more}` } });
  const post = (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    worker.request(path, {
      method: 'POST',
      headers: { ...FORM, Cookie: cookie, ...headers },
      body: form(fields),
    });
  /** Sends a form and opens the page that it redirects to, with the cookies that the redirect sets. */
  const submit = async (path: string, fields: Record<string, string> = {}) => {
    const answer = await post(path, fields);
    const to = answer.headers.get('Location');
    if (answer.status !== 303 || to === null) throw new Error(`${path} was answered with ${answer.status}`);
    return get(to.split('#')[0] ?? to, cookieOf(answer));
  };
  return { cookie, get, post, submit };
}

export type Browser = ReturnType<typeof browserWith>;

/** Signs in with the form, as a person does. */
export async function signIn(
  worker: TestWorker,
  { email, password }: { email: string; password: string },
): Promise<Browser> {
  const answer = await worker.request('/login', {
    method: 'POST',
    headers: FORM,
    body: form({ email, password }),
  });
  if (answer.status !== 303) throw new Error(`the sign-in was answered with ${answer.status}`);
  return browserWith(worker, cookieOf(answer));
}

const SESSION_MS = 7 * 86_400_000;

/** A browser in which the person is signed in already: with the session that the form would start, but without scrypt. */
export async function openSession(worker: TestWorker, person: { id: string }): Promise<Browser> {
  const now = new Date();
  const token = crypto.randomUUID();
  await database(env.DB)
    .insert(sessions)
    .values({
      id: crypto.randomUUID(),
      userId: person.id,
      token,
      expiresAt: new Date(now.getTime() + SESSION_MS),
      createdAt: now,
      updatedAt: now,
    });
  const signature = await makeSignature(token, settingsOf(env).SESSION_SECRET);
  const value = encodeURIComponent(`${token}.${signature}`);
  return browserWith(worker, `__Secure-dashboard.session_token=${value}`);
}

/** A new member of the team and a browser in which they are signed in. */
export async function signedIn(worker: TestWorker, team: { id: string }, role: Role): Promise<Browser> {
  return openSession(worker, await createPerson(team, role));
}
