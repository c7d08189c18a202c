import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { type Database, hasRow, passkeys } from '#db';
import { AppError } from '#http';
import { HOUR_MS } from '#lib/time';
import { type Auth, authOf, originOf, unlessRefused } from './auth.ts';
import { hasPassword } from './members.ts';

const MAX_PASSKEYS = 20;

/** What a browser needs to ask for a passkey, as JSON, and the cookies that its answer has to bring back within five minutes. */
export type PasskeyChallenge = { options: object; cookies: string[] };

const own = (userId: string) => and(eq(passkeys.userId, userId), eq(passkeys.confirmed, true));

/** A person's passkeys, newest first. */
export const listPasskeys = (db: Database, userId: string) =>
  db
    .select({ id: passkeys.id, name: passkeys.name, createdAt: passkeys.createdAt })
    .from(passkeys)
    .where(own(userId))
    .orderBy(desc(passkeys.createdAt))
    .limit(MAX_PASSKEYS);

/**
 * The challenge for a new passkey; null if the password is wrong. Throws `conflict` beyond 20 passkeys. Slow on purpose (scrypt), so the caller must
 * limit how often it is tried.
 */
export async function beginPasskey(
  env: Env,
  request: Request,
  { db }: Caller,
  { userId, email }: { userId: string; email: string },
  password: string,
): Promise<PasskeyChallenge | null> {
  if (!(await hasPassword(env.DB, email, password))) return null;
  if ((await db.$count(passkeys, eq(passkeys.userId, userId))) >= MAX_PASSKEYS) {
    throw new AppError('conflict', `A person has at most ${MAX_PASSKEYS} passkeys`);
  }
  const auth = await authOf(env, originOf(request));
  const { response, headers } = await auth.api.generatePasskeyRegistrationOptions({
    query: {},
    headers: request.headers,
    returnHeaders: true,
  });
  return { options: response, cookies: headers.getSetCookie() };
}

/**
 * Adds the passkey with which a browser answered the challenge of `beginPasskey`. Returns false if it did not, or if the challenge was used or is older than five
 * minutes. better-auth inserts the row in a transaction of its own, so the passkey counts only once the audit log has it.
 */
export async function addPasskey(
  env: Env,
  request: Request,
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  { name, credential }: { name: string; credential: object },
): Promise<boolean> {
  const auth = await authOf(env, originOf(request));
  const made = await unlessRefused(() =>
    auth.api.verifyPasskeyRegistration({ body: { response: credential, name }, headers: request.headers }),
  );
  if (!made) return false;
  const { db } = caller;
  const waiting = and(eq(passkeys.id, made.id), eq(passkeys.userId, userId), eq(passkeys.confirmed, false));
  const waits = hasRow(passkeys, waiting);
  await db.batch([
    auditStatement(caller, 'member.passkey_added', `${email}: ${name}`, waits),
    db.update(passkeys).set({ confirmed: true }).where(waiting),
  ]);
  return true;
}

/** Nobody signs in with it any more. Sessions stay. Throws `not_found` for another person's passkey too. */
export async function removePasskey(
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  id: string,
): Promise<void> {
  const { db } = caller;
  const one = and(own(userId), eq(passkeys.id, id));
  const [passkey] = await db.select({ name: passkeys.name }).from(passkeys).where(one);
  if (!passkey) throw new AppError('not_found', 'Passkey not found');
  await db.batch([
    auditStatement(caller, 'member.passkey_removed', `${email}: ${passkey.name}`, hasRow(passkeys, one)),
    db.delete(passkeys).where(one),
  ]);
}

/** Statements that remove all of a person's passkeys if a condition holds, and record which. */
export function removeAllPasskeys(
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  condition: SQL,
) {
  const { db } = caller;
  const isAny = hasRow(passkeys, own(userId));
  const names = sql<string>`(SELECT coalesce(group_concat(${passkeys.name}, ', '), '') FROM ${passkeys} WHERE ${own(userId)})`;
  const subject = sql<string>`${`${email}: `} || ${names}`;
  return [
    auditStatement(caller, 'member.passkey_removed', subject, sql`${isAny} AND ${condition}`),
    db.delete(passkeys).where(and(eq(passkeys.userId, userId), condition)),
  ] as const;
}

type PasskeyResponse = NonNullable<
  Parameters<Auth['api']['verifyPasskeyAuthentication']>[0]
>['body']['response'];

/** The challenge for a sign-in with any passkey of this deployment. */
export async function beginPasskeySignIn(env: Env, request: Request): Promise<PasskeyChallenge> {
  const auth = await authOf(env, originOf(request));
  const { response, headers } = await auth.api.generatePasskeyAuthenticationOptions({
    headers: request.headers,
    returnHeaders: true,
  });
  return { options: { ...response, userVerification: 'required' }, cookies: headers.getSetCookie() };
}

/**
 * Signs in with the passkey with which a browser answered the challenge of `beginPasskeySignIn`, also without the code of an authenticator app: a passkey stands for
 * both factors. Returns the session's cookies, null if the passkey is not known here or did not answer this challenge.
 */
export async function signInWithPasskey(
  env: Env,
  request: Request,
  credential: object,
): Promise<string[] | null> {
  const auth = await authOf(env, originOf(request));
  const answer = await unlessRefused(() =>
    auth.api.verifyPasskeyAuthentication({
      // The plugin checks it.
      body: { response: credential as PasskeyResponse },
      headers: request.headers,
      returnHeaders: true,
    }),
  );
  return answer?.headers.getSetCookie() ?? null;
}

/** A statement that deletes passkeys whose addition broke off an hour ago. */
export const pruneUnconfirmedPasskeys = (db: Database, now: number) =>
  db
    .delete(passkeys)
    .where(and(eq(passkeys.confirmed, false), lt(passkeys.createdAt, new Date(now - HOUR_MS))));
