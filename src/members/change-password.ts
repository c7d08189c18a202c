import { and, eq } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { accounts, hasRow, passwordResets, sessions } from '#db';

/**
 * Changes a person's password, and ends all of their sessions and an open link to choose a new one; the caller signs them in again. Returns false if the current password is wrong.
 * Slow on purpose (scrypt), so the caller must limit how often it is tried.
 *
 * Not by better-auth's own call, which makes each of these changes in a transaction of its own, so that a failure in between would leave
 * other sessions open or the change unrecorded. Its hooks run outside of them, too.
 */
export async function changePassword(
  caller: Caller,
  { userId, email }: { userId: string; email: string },
  passwords: { current: string; next: string },
): Promise<boolean> {
  const { db, now } = caller;
  const { hashPassword, verifyPassword } = await import('better-auth/crypto');
  const own = and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential'));
  const [account] = await db.select({ hash: accounts.password }).from(accounts).where(own);
  const hash = account?.hash;
  if (!hash || !(await verifyPassword({ hash, password: passwords.current }))) return false;
  const next = await hashPassword(passwords.next);
  // It may have been changed in the meantime, by the person or by a reset.
  const isCurrent = hasRow(accounts, and(own, eq(accounts.password, hash)));
  const [, , , changed] = await db.batch([
    auditStatement(caller, 'member.password_changed', email, isCurrent),
    db.delete(sessions).where(and(eq(sessions.userId, userId), isCurrent)),
    db.delete(passwordResets).where(and(eq(passwordResets.userId, userId), isCurrent)),
    db
      .update(accounts)
      .set({ password: next, updatedAt: new Date(now) })
      .where(and(own, eq(accounts.password, hash)))
      .returning({ id: accounts.id }),
  ]);
  return changed.length > 0;
}
