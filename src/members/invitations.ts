import { and, desc, eq, gt, sql } from 'drizzle-orm';
import { type Database, invitations, teams } from '#db';
import { AppError } from '#http';
import { randomSecret, sha256Hex } from '#lib/crypto';
import { DAY_MS } from '#lib/time';
import { INVITER_MAY } from './inviters.ts';
import { type NewPerson, personStatements, type Role } from './members.ts';

export const INVITATION_DAYS = 7;

/**
 * A new invitation; the secret is the last segment of its link, is shown this once and stored only as its SHA-256.
 * It works once, for `INVITATION_DAYS` days, as long as its maker could make it again. Throws `forbidden` when someone who is no owner invites one.
 */
export async function invite(
  db: Database,
  acting: { userId: string; teamId: string; role: Role },
  invited: { role: Role; note: string },
  now: number,
): Promise<string> {
  if (invited.role === 'owner' && acting.role !== 'owner') {
    throw new AppError('forbidden', 'Only an owner can invite an owner');
  }
  const secret = randomSecret();
  await db.insert(invitations).values({
    hash: await sha256Hex(secret),
    teamId: acting.teamId,
    role: invited.role,
    createdBy: acting.userId,
    note: invited.note,
    createdAt: now,
    expiresAt: now + INVITATION_DAYS * DAY_MS,
  });
  return secret;
}

/** A team's open invitations, newest first; `hash` names one. */
export async function listInvitations(db: Database, teamId: string, now: number) {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.teamId, teamId), gt(invitations.expiresAt, now)))
    .orderBy(desc(invitations.createdAt));
}

/** Repeatable. Another team's invitation stays as it is. */
export async function withdrawInvitation(db: Database, teamId: string, hash: string): Promise<void> {
  await db.delete(invitations).where(and(eq(invitations.hash, hash), eq(invitations.teamId, teamId)));
}

/** The invitation behind a link, or null where it is used, withdrawn, over, made up, or its maker's role has ended. */
export async function findInvitation(db: Database, secret: string, now: number) {
  const [found] = await db
    .select({ hash: invitations.hash, role: invitations.role, teamId: teams.id, teamName: teams.name })
    .from(invitations)
    .innerJoin(teams, eq(teams.id, invitations.teamId))
    .where(
      and(
        eq(invitations.hash, await sha256Hex(secret)),
        gt(invitations.expiresAt, now),
        sql.raw(INVITER_MAY),
      ),
    );
  return found ?? null;
}

/** Makes the invited person, once. Throws `conflict` when the invitation has gone meanwhile or the email is taken. */
export async function acceptInvitation(
  d1: D1Database,
  invitation: { hash: string; role: Role; teamId: string },
  person: NewPerson,
  now: number,
): Promise<void> {
  const { userId, statements } = await personStatements(
    d1,
    person,
    invitation,
    now,
    `EXISTS (SELECT 1 FROM invitations WHERE hash = ?6 AND expires_at > ?3 AND ${INVITER_MAY})`,
    invitation.hash,
  );
  const used = d1
    .prepare('DELETE FROM invitations WHERE hash = ?1 AND EXISTS (SELECT 1 FROM members WHERE user_id = ?2)')
    .bind(invitation.hash, userId);
  const [membership] = await d1.batch([...statements, used]);
  if (membership?.meta.changes !== 1) {
    throw new AppError('conflict', 'This email has an account already, or the invitation was just used');
  }
}
