import { eq, lt } from 'drizzle-orm';
import { database, invitations, members, passwordResets, sessions, teams } from '#db';
import { authOf } from './auth.ts';
import type { Role } from './members.ts';

/** Someone who is signed in, with the team and the role that they have now. */
export type Person = {
  userId: string;
  name: string;
  email: string;
  role: Role;
  team: { id: string; name: string };
};

/** The cookies that an answer has to set go with the person: a session is renewed while it is used. */
export type SignedIn = { person: Person; cookies: string[] };

const originOf = (request: Request) => new URL(request.url).origin;

/** Who sent the request, or null. A person who was removed from the team is no one. */
export async function personOf(env: Env, request: Request): Promise<SignedIn | null> {
  // Without any cookie of ours there is nothing to look up, nor a reason to load the machinery.
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

/**
 * The session cookies of a right email and password; null for a wrong pair, without a word about which of the two it was.
 * Slow on purpose (scrypt), so the caller must limit how often it is tried.
 */
export async function signIn(
  env: Env,
  request: Request,
  credentials: { email: string; password: string },
): Promise<string[] | null> {
  const auth = await authOf(env, originOf(request));
  return cookiesUnlessRefused(() =>
    auth.api.signInEmail({
      body: { email: credentials.email.toLowerCase(), password: credentials.password },
      headers: request.headers,
      returnHeaders: true,
    }),
  );
}

/** The cookies that a call of the machinery sets; null where it refuses what it was given. */
async function cookiesUnlessRefused(call: () => Promise<{ headers: Headers }>): Promise<string[] | null> {
  const { isAPIError } = await import('better-auth/api');
  try {
    const { headers } = await call();
    return headers.getSetCookie();
  } catch (error) {
    if (isAPIError(error)) return null;
    throw error;
  }
}

/** Ends the session in the database too, so that a copied cookie is worth nothing; answers the cookies to clear. */
export async function signOut(env: Env, request: Request): Promise<string[]> {
  const auth = await authOf(env, originOf(request));
  const { headers } = await auth.api.signOut({ headers: request.headers, returnHeaders: true });
  return headers.getSetCookie();
}

/** Ends every other session of the person and answers this one's new cookies; null when the current password is wrong. */
export async function changePassword(
  env: Env,
  request: Request,
  passwords: { current: string; next: string },
): Promise<string[] | null> {
  const auth = await authOf(env, originOf(request));
  return cookiesUnlessRefused(() =>
    auth.api.changePassword({
      body: { currentPassword: passwords.current, newPassword: passwords.next, revokeOtherSessions: true },
      headers: request.headers,
      returnHeaders: true,
    }),
  );
}

/** Forgets sessions, invitations and password resets that are over. They open no door any more; this keeps their tables small. */
export async function pruneSessions(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  await db.batch([
    db.delete(sessions).where(lt(sessions.expiresAt, new Date(now))),
    db.delete(invitations).where(lt(invitations.expiresAt, now)),
    db.delete(passwordResets).where(lt(passwordResets.expiresAt, now)),
  ]);
}
