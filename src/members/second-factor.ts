import { and, eq, lt } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { type Database, database, hasRow, sessions, twoFactors, users } from '#db';
import { authOf, originOf, unlessRefused } from './auth.ts';
import { hasPassword } from './members.ts';
import { sessionKeys } from './session-secrets.ts';

/** Whether signing in takes a code of an authenticator app. `unconfirmed`: the app has its key, but no code of it was entered yet. */
export type SecondFactor = 'off' | 'unconfirmed' | 'on';

export async function secondFactorOf(db: Database, userId: string): Promise<SecondFactor> {
  const [user] = await db
    .select({ isOn: users.twoFactorEnabled, id: twoFactors.id })
    .from(users)
    .leftJoin(twoFactors, eq(twoFactors.userId, users.id))
    .where(eq(users.id, userId));
  if (user?.isOn) return 'on';
  return user?.id ? 'unconfirmed' : 'off';
}

/** Codes of the step before and after are valid, too, because clocks differ. */
const STEP_MS = 30_000;

/** The time step of a code of the app whose encrypted key is given; null if the code is not valid now. */
async function stepOf(env: Env, encryptedKey: string, code: string, now: number): Promise<number | null> {
  const [{ symmetricDecrypt }, { createOTP }] = await Promise.all([
    import('better-auth/crypto'),
    import('@better-auth/utils/otp'),
  ]);
  const key = await symmetricDecrypt({ key: sessionKeys(env), data: encryptedKey });
  const current = Math.floor(now / STEP_MS);
  for (const step of [current - 1, current, current + 1]) {
    if ((await createOTP(key).hotp(step)) === code) return step;
  }
  return null;
}

/**
 * Starts adding an authenticator app: returns its key as an `otpauth:` URI, and recovery codes, each of which replaces one code of the app. Both are shown
 * only here. Nothing changes for sign-ins until `confirmSecondFactor`. Null if the password is wrong. Only for a person without a second factor:
 * better-auth would replace the key of another app without a code. Slow on purpose (scrypt), so the caller must limit how often it is tried.
 */
export async function beginSecondFactor(
  env: Env,
  request: Request,
  password: string,
): Promise<{ uri: string; recoveryCodes: string[] } | null> {
  const auth = await authOf(env, originOf(request));
  const answer = await unlessRefused(() =>
    auth.api.enableTwoFactor({ body: { password }, headers: request.headers }),
  );
  return answer?.method === 'totp' ? { uri: answer.totpURI, recoveryCodes: answer.backupCodes } : null;
}

/**
 * Finishes adding the app by one of its codes. Returns false if the code is wrong, or if no app waits for one.
 *
 * As in `changePassword`, the changes here and in `removeSecondFactor` are not better-auth's own: it makes each in a transaction of its own, so that
 * a failure in between would leave a sign-in that no code completes.
 */
export async function confirmSecondFactor(
  env: Env,
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  code: string,
): Promise<boolean> {
  const { db } = caller;
  const own = and(eq(twoFactors.userId, userId), eq(twoFactors.verified, false));
  const [app] = await db.select({ id: twoFactors.id, secret: twoFactors.secret }).from(twoFactors).where(own);
  const step = app && (await stepOf(env, app.secret, code, caller.now));
  if (!app || !step) return false;
  // Another request may have confirmed or replaced it in the meantime.
  const isOwn = and(own, eq(twoFactors.id, app.id));
  const waits = hasRow(twoFactors, isOwn);
  const [, , confirmed] = await db.batch([
    auditStatement(caller, 'member.second_factor_added', email, waits),
    db
      .update(users)
      .set({ twoFactorEnabled: true })
      .where(and(eq(users.id, userId), waits)),
    db
      .update(twoFactors)
      .set({ verified: true, lastStep: step })
      .where(isOwn)
      .returning({ id: twoFactors.id }),
  ]);
  return confirmed.length > 0;
}

/** Removes the app and the recovery codes. Returns false if the password is wrong. Idempotent. Slow, as `beginSecondFactor`. */
export async function removeSecondFactor(
  env: Env,
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  password: string,
): Promise<boolean> {
  if (!(await hasPassword(env.DB, email, password))) return false;
  const { db } = caller;
  const isOn = and(eq(users.id, userId), eq(users.twoFactorEnabled, true));
  await db.batch([
    auditStatement(caller, 'member.second_factor_removed', email, hasRow(users, isOn)),
    db.update(users).set({ twoFactorEnabled: false }).where(isOn),
    db.delete(twoFactors).where(eq(twoFactors.userId, userId)),
  ]);
  return true;
}

/** Takes a code that was valid just now, once: of concurrent calls with the same code, one gets true. */
async function takeCode(env: Env, userId: string, code: string, now: number): Promise<boolean> {
  const db = database(env.DB);
  const own = eq(twoFactors.userId, userId);
  const [app] = await db.select({ secret: twoFactors.secret }).from(twoFactors).where(own);
  const step = app && (await stepOf(env, app.secret, code, now));
  if (!step) return false;
  const taken = await db
    .update(twoFactors)
    .set({ lastStep: step })
    .where(and(own, lt(twoFactors.lastStep, step)));
  return taken.meta.changes > 0;
}

/**
 * Completes a sign-in that `needsCode`, by a code of the app or by a recovery code. Each then no longer works, nor do earlier codes of the app.
 * Returns the session's cookies; null if the code is wrong or was used, if it was the fifth wrong one of this sign-in or the tenth in a row (which lock the person's codes for 15 minutes), or if the
 * sign-in is older than ten minutes.
 */
export async function enterCode(env: Env, request: Request, code: string): Promise<string[] | null> {
  const auth = await authOf(env, originOf(request));
  const given = code.replaceAll(' ', '');
  const input = { body: { code: given }, headers: request.headers, returnHeaders: true } as const;
  if (!/^\d{6}$/.test(given)) {
    const answer = await unlessRefused(() => auth.api.verifyBackupCode(input));
    return answer?.headers.getSetCookie() ?? null;
  }
  const answer = await unlessRefused(() => auth.api.verifyTOTP(input));
  if (!answer) return null;
  // better-auth accepts a code as often as it is sent, for a minute and a half.
  const { token, user } = answer.response;
  if (await takeCode(env, user.id, given, Date.now())) return answer.headers.getSetCookie();
  await database(env.DB).delete(sessions).where(eq(sessions.token, token));
  return null;
}
