import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { database, members } from '#db';
import { acceptInvitation, findInvitation, invite, type Role } from '#members';
import { forgetAudit } from './tenant.ts';
import type { TestWorker } from './worker.ts';

export const ORIGIN = 'https://ingest.test';
export const PASSWORD = 'correct horse battery';

let people = 0;

/** A member of the team by the way that people take: an invitation. */
export async function createPerson(team: { id: string }, role: Role) {
  const db = database(env.DB);
  const now = Date.now();
  const email = `person-${++people}@team.test`;
  // An invitation works as long as its maker belongs to the team; here it is an owner who leaves afterwards.
  const inviter = { userId: `usr_inviter_${people}`, role: 'owner' } as const;
  await db.insert(members).values({ ...inviter, teamId: team.id, createdAt: now });
  const secret = await invite({ db, team, actor: 'test', now, ...inviter }, { role, note: 'test' });
  const invitation = await findInvitation(db, secret, now);
  if (!invitation) throw new Error('the invitation was not found');
  await acceptInvitation(env.DB, invitation, { name: `Person ${people}`, email, password: PASSWORD }, now);
  await db.delete(members).where(eq(members.userId, inviter.userId));
  await forgetAudit(team, 'test', email);
  return { email, password: PASSWORD };
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

/** Signs in; what a browser does afterwards. */
export async function signIn(worker: TestWorker, { email, password }: { email: string; password: string }) {
  const answer = await worker.request('/login', {
    method: 'POST',
    headers: FORM,
    body: form({ email, password }),
  });
  if (answer.status !== 303) throw new Error(`the sign-in was answered with ${answer.status}`);
  const cookie = cookieOf(answer);
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

export type Browser = Awaited<ReturnType<typeof signIn>>;

export async function signedIn(worker: TestWorker, team: { id: string }, role: Role): Promise<Browser> {
  return signIn(worker, await createPerson(team, role));
}
