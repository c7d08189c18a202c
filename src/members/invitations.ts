import { and, desc, eq, gt, sql } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { type Database, database, hasRow, invitations, teams, users } from '#db';
import { AppError } from '#http';
import { randomSecret, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { inviterMay } from './inviters.ts';
import { isMember, type MemberCaller, type NewPerson, personStatements, type Role } from './members.ts';

export const INVITATION_DAYS = 7;

/**
 * Creates an invitation. The returned secret is the last segment of its link; only its SHA-256 is stored. The link works once, for
 * `INVITATION_DAYS` days, as long as its creator's role still allows creating it. Throws `forbidden` if a member who is not an owner
 * invites an owner.
 */
export async function invite(
  caller: MemberCaller,
  { role, note }: { role: Role; note: string },
): Promise<string> {
  if (role === 'owner' && caller.role !== 'owner') {
    throw new AppError('forbidden', 'Only an owner can invite an owner');
  }
  const { db, team, userId, now } = caller;
  const secret = randomSecret();
  const row = {
    hash: await sha256Hex(secret),
    teamId: team.id,
    role,
    createdBy: userId,
    note,
    createdAt: now,
    expiresAt: now + INVITATION_DAYS * DAY_MS,
  };
  await db.batch([
    db.insert(invitations).values(row),
    auditStatement(caller, 'member.invited', `${note}, as ${role}`),
  ]);
  return secret;
}

/** A team's open invitations, newest first. `hash` identifies one. */
export async function listInvitations(db: Database, teamId: string, now: number) {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.teamId, teamId), gt(invitations.expiresAt, now)))
    .orderBy(desc(invitations.createdAt));
}

/** Idempotent. Leaves another team's invitation unchanged. */
export async function withdrawInvitation(caller: Caller, hash: string): Promise<void> {
  const { db, team } = caller;
  const own = and(eq(invitations.hash, hash), eq(invitations.teamId, team.id));
  const note = db.select({ note: invitations.note }).from(invitations).where(own);
  await db.batch([
    auditStatement(caller, 'member.invitation_withdrawn', sql<string>`(${note})`, hasRow(invitations, own)),
    db.delete(invitations).where(own),
  ]);
}

/** The invitation of a link, or null if it was used, withdrawn, expired or never existed, or if its creator's role has ended. */
export async function findInvitation(db: Database, secret: string, now: number) {
  const [found] = await db
    .select({ hash: invitations.hash, role: invitations.role, teamId: teams.id, teamName: teams.name })
    .from(invitations)
    .innerJoin(teams, eq(teams.id, invitations.teamId))
    .where(and(eq(invitations.hash, await sha256Hex(secret)), gt(invitations.expiresAt, now), inviterMay()));
  return found ?? null;
}

/**
 * Creates the invited person, once. Returns false if the email has an account already. Throws `conflict` if the invitation is gone by then.
 */
export async function acceptInvitation(
  d1: D1Database,
  invitation: { hash: string; role: Role; teamId: string },
  person: NewPerson,
  now: number,
): Promise<boolean> {
  const db = database(d1);
  const userId = newId('usr');
  const open = hasRow(
    invitations,
    and(eq(invitations.hash, invitation.hash), gt(invitations.expiresAt, now), inviterMay()),
  );
  const made = isMember(userId);
  const caller: Caller = { db, team: { id: invitation.teamId }, actor: person.email, now };
  const [inserted] = await db.batch([
    ...(await personStatements(db, userId, person, invitation, now, open)),
    db.delete(invitations).where(and(eq(invitations.hash, invitation.hash), made)),
    auditStatement(caller, 'member.joined', `${person.email} as ${invitation.role}`, made),
  ]);
  if (inserted.meta.changes === 1) return true;
  const [taken] = await db.select({ id: users.id }).from(users).where(eq(users.email, person.email));
  if (taken) return false;
  throw new AppError('conflict', 'This invitation was just used or withdrawn. Ask for a new one.');
}
