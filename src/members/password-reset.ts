import { and, eq, gt, not, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { auditStatement } from '#audit';
import { accounts, type Database, hasRow, insertWhere, members, passwordResets, sessions, users } from '#db';
import { AppError } from '#http';
import { randomSecret, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { HOUR_MS } from '#lib/time';
import { type MemberCaller, memberFor } from './members.ts';
import { removeAllPasskeys } from './passkeys.ts';

export const RESET_HOURS = 24;
const RESET_MS = RESET_HOURS * HOUR_MS;

const creator = alias(members, 'creator');

/** SQL for whether the caller may still do this when it takes effect: their role may have ended since the request was checked. */
const mayReset = ({ team, userId: callerId }: MemberCaller, userId: string) => {
  const owner = and(eq(members.teamId, team.id), eq(members.userId, userId), eq(members.role, 'owner'));
  const isNoOwner = not(hasRow(members, owner));
  return hasRow(
    creator,
    and(
      eq(creator.teamId, team.id),
      eq(creator.userId, callerId),
      or(eq(creator.role, 'owner'), and(eq(creator.role, 'admin'), isNoOwner)),
    ),
  );
};

/**
 * Creates a link with which a member chooses a new password. The returned secret is its last segment; only its SHA-256 is stored. The
 * link works once, for a day, and replaces any earlier one. Throws `not_found` for another team's member, and `forbidden` if only an
 * owner may do this, or if the caller's role has just ended.
 */
export async function createPasswordReset(
  caller: MemberCaller,
  userId: string,
): Promise<{ email: string; secret: string }> {
  const { db, now } = caller;
  const member = await memberFor(caller, userId, 'reset the password of an owner');
  const secret = randomSecret();
  const row = { hash: await sha256Hex(secret), createdAt: now, expiresAt: now + RESET_MS };
  const condition = mayReset(caller, userId);
  const [created] = await db.batch([
    insertWhere(db, passwordResets, { userId, ...row }, condition).onConflictDoUpdate({
      target: passwordResets.userId,
      set: row,
    }),
    auditStatement(caller, 'member.password_reset_created', member.email, condition),
  ]);
  if (created.meta.changes !== 1) throw new AppError('forbidden', 'Your role no longer allows this');
  return { email: member.email, secret };
}

export type PasswordReset = { hash: string; userId: string; name: string; email: string; teamId: string };

/**
 * The member of a link, or null if there is none: the link was used, replaced, expired or made up, their password was changed, or someone
 * of the team was removed or given another role.
 */
export async function findPasswordReset(
  db: Database,
  secret: string,
  now: number,
): Promise<PasswordReset | null> {
  const [found] = await db
    .select({
      hash: passwordResets.hash,
      userId: passwordResets.userId,
      name: users.name,
      email: users.email,
      teamId: members.teamId,
    })
    .from(passwordResets)
    .innerJoin(users, eq(users.id, passwordResets.userId))
    .innerJoin(members, eq(members.userId, passwordResets.userId))
    .where(and(eq(passwordResets.hash, await sha256Hex(secret)), gt(passwordResets.expiresAt, now)));
  return found ?? null;
}

/**
 * Sets the password, which has passed `newPassword`, and ends all of the member's sessions, once; with `removePasskeys`, also their passkeys,
 * because whoever else knew the password may have added one. Throws `conflict` if the link has ended in the meantime.
 */
export async function resetPassword(
  db: Database,
  { hash, userId, email, teamId }: PasswordReset,
  { password, removePasskeys }: { password: string; removePasskeys: boolean },
  now: number,
): Promise<void> {
  const { hashPassword } = await import('better-auth/crypto');
  const isOpen = hasRow(passwordResets, eq(passwordResets.hash, hash));
  const hashed = await hashPassword(password);
  const caller = { db, team: { id: teamId }, actor: email, now };
  const [changed] = await db.batch([
    db
      .update(accounts)
      .set({ password: hashed, updatedAt: new Date(now) })
      .where(and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential'), isOpen))
      .returning({ id: accounts.id }),
    db.delete(sessions).where(and(eq(sessions.userId, userId), isOpen)),
    ...(removePasskeys ? removeAllPasskeys(caller, { userId, email }, isOpen) : []),
    auditStatement(caller, 'member.password_reset', email, isOpen),
    db.delete(passwordResets).where(eq(passwordResets.hash, hash)),
  ]);
  if (changed.length === 0) throw new AppError('conflict', 'This link no longer works');
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * The same for an operator who cannot sign in: the link's secret, and SQL that returns a row if there is such a member, with the names of
 * their passkeys as JSON. Self-contained, because the command line reaches the database only through `wrangler d1 execute`.
 */
export async function passwordResetSql(
  email: string,
  now: number,
): Promise<{ statements: string; secret: string }> {
  const secret = randomSecret();
  const who = `FROM users JOIN members ON members.user_id = users.id WHERE users.email = ${quoted(email.toLowerCase())}`;
  const statements = [
    `INSERT INTO password_resets (user_id, hash, created_at, expires_at)
     SELECT users.id, '${await sha256Hex(secret)}', ${now}, ${now + RESET_MS} ${who}
     ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`,
    `INSERT INTO audit_log (team_id, id, at, actor, action, subject)
     SELECT members.team_id, '${newId('aud')}', ${now}, 'command line', 'member.password_reset_created', users.email ${who}`,
    `SELECT users.email AS email,
      (SELECT json_group_array(name) FROM passkeys WHERE user_id = users.id AND confirmed = 1) AS passkeys ${who}`,
  ];
  return { statements: statements.join(';\n'), secret };
}
