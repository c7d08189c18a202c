import { eq, lt } from 'drizzle-orm';
import { database, invitations, members, passwordResets, sessions, teams, verifications } from '#db';
import { authOf, originOf, unlessRefused } from './auth.ts';
import type { Role } from './members.ts';
import { pruneUnconfirmedPasskeys } from './passkeys.ts';

/** A signed-in person, with their current team and role. */
export type Person = {
  userId: string;
  name: string;
  email: string;
  role: Role;
  team: { id: string; name: string };
};

/** `cookies` must be set on the answer: a session is renewed while it is in use. */
export type SignedIn = { person: Person; cookies: string[] };

/** The person who sent the request, or null. Someone who was removed from the team counts as signed out. */
export async function personOf(env: Env, request: Request): Promise<SignedIn | null> {
  // Without a session cookie there is nothing to look up, and no reason to load better-auth.
  if (!request.headers.get('cookie')?.includes('dashboard.session_token=')) return null;
  const auth = await authOf(env, originOf(request));
  const { response, headers } = await auth.api.getSession({ headers: request.headers, returnHeaders: true });
  if (!response) return null;
  const { id, name, email } = response.user;
  const [membership] = await database(env.DB)
    .select({ role: members.role, team: { id: teams.id, name: teams.name } })
    .from(members)
    .innerJoin(teams, eq(teams.id, members.teamId))
    .where(eq(members.userId, id));
  if (!membership) return null;
  return { person: { userId: id, name, email, ...membership }, cookies: headers.getSetCookie() };
}

/** `cookies` must be set on the answer. With `needsCode`, they are good for `enterCode` only: nobody is signed in yet. */
export type SignIn = { cookies: string[]; needsCode: boolean };

/**
 * Signs in by email and password, for people with an authenticator app only up to its code. Null if they are wrong, without revealing which of
 * the two. Slow on purpose (scrypt), so the caller must limit how often it is tried.
 */
export async function signIn(
  env: Env,
  request: Request,
  credentials: { email: string; password: string },
): Promise<SignIn | null> {
  const auth = await authOf(env, originOf(request));
  const answer = await unlessRefused(() =>
    auth.api.signInEmail({
      body: { email: credentials.email.toLowerCase(), password: credentials.password },
      headers: request.headers,
      returnHeaders: true,
    }),
  );
  return (
    answer && { cookies: answer.headers.getSetCookie(), needsCode: 'twoFactorRedirect' in answer.response }
  );
}

/** Ends the session in the database too, so that a copied cookie is worthless. Returns the cookies to clear. */
export async function signOut(env: Env, request: Request): Promise<string[]> {
  const auth = await authOf(env, originOf(request));
  const { headers } = await auth.api.signOut({ headers: request.headers, returnHeaders: true });
  return headers.getSetCookie();
}

/** Deletes expired sessions, sign-ins without their code, invitations and password resets. They are already without effect; this keeps their tables small. */
export async function pruneSessions(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  await db.batch([
    db.delete(sessions).where(lt(sessions.expiresAt, new Date(now))),
    db.delete(verifications).where(lt(verifications.expiresAt, new Date(now))),
    db.delete(invitations).where(lt(invitations.expiresAt, now)),
    pruneUnconfirmedPasskeys(db, now),
    db.delete(passwordResets).where(lt(passwordResets.expiresAt, now)),
  ]);
}
