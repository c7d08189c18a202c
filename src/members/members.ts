import { and, asc, eq, inArray, not, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { alias } from 'drizzle-orm/sqlite-core';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import {
  accounts,
  type Database,
  database,
  hasRow,
  insertWhere,
  members,
  passkeys,
  passwordResets,
  sessions,
  teams,
  twoFactors,
  users,
} from '#db';
import { AppError, emailAddress, requiredName } from '#http';
import { newId } from '#lib/ids';
import { endInvitations } from './inviters.ts';
import { passwordFault } from './password-strength.ts';

/** Each role may do everything that the roles after it may. A viewer sees the numbers; only an owner manages owners. */
export const ROLES = ['owner', 'admin', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export const atLeast = (role: Role, wanted: Role) => ROLES.indexOf(role) <= ROLES.indexOf(wanted);

const password = z
  .string('is required')
  .min(12, 'must have at least 12 characters')
  .max(128, 'must have at most 128 characters');

/** A password to be set. `own` is what is known about the person, which must not be all that it consists of. */
export const newPassword = (own: readonly string[]) =>
  password.superRefine((text, ctx) => {
    const fault = passwordFault(text, own);
    if (fault) ctx.addIssue({ code: 'custom', message: fault });
  });

/** A new person. A schema that extends this one may add texts that the password must not consist of either, such as the team. */
export const NewPerson = z
  .object({ name: requiredName(100), email: emailAddress(), password })
  .superRefine((person, ctx) => {
    const { password: text, ...own } = person;
    const fault = passwordFault(text, Object.values(own));
    if (fault) ctx.addIssue({ code: 'custom', path: ['password'], message: fault });
  });
export type NewPerson = z.infer<typeof NewPerson>;

/** Whether someone is a member at the time that a transaction's statement runs. */
export const isMember = (userId: string) => hasRow(members, eq(members.userId, userId));

/**
 * The statements that create a person with their membership. They create everything, or nothing if `condition` is false or the email is
 * taken: the first inserts the membership, and the others depend on it.
 */
export async function personStatements(
  db: Database,
  userId: string,
  person: NewPerson,
  { teamId, role }: { teamId: string; role: Role },
  now: number,
  condition: SQL,
) {
  const { hashPassword } = await import('better-auth/crypto');
  const { name, email } = person;
  const password = await hashPassword(person.password);
  const emailIsTaken = hasRow(users, eq(users.email, email));
  const made = isMember(userId);
  const times = { createdAt: new Date(now), updatedAt: new Date(now) };
  return [
    insertWhere(
      db,
      members,
      { userId, teamId, role, createdAt: now },
      sql`${condition} AND NOT ${emailIsTaken}`,
    ),
    insertWhere(db, users, { id: userId, name, email, ...times }, made),
    insertWhere(
      db,
      accounts,
      { id: newId('acc'), accountId: userId, providerId: 'credential', userId, password, ...times },
      made,
    ),
  ] as const;
}

/** First-run setup closes once anyone belongs to a team. */
export async function setupIsOpen(d1: D1Database): Promise<boolean> {
  const db = database(d1);
  return (await db.select({ id: members.userId }).from(members).limit(1)).length === 0;
}

/**
 * Creates a team and its owner, once in the life of a deployment: of two concurrent calls, one succeeds. With `teamId`, the owner joins
 * an existing team. Returns the team's id, or null if someone else was first.
 */
export async function makeFirstOwner(
  d1: D1Database,
  owner: NewPerson,
  team: { name: string } | { teamId: string },
  now: number,
): Promise<string | null> {
  const db = database(d1);
  const teamId = 'teamId' in team ? team.teamId : newId('team');
  const userId = newId('usr');
  const membership = { teamId, role: 'owner' } as const;
  const caller: Caller = { db, team: { id: teamId }, actor: owner.email, now };
  const made = isMember(userId);
  const teamStatements =
    'name' in team
      ? [
          insertWhere(db, teams, { id: teamId, name: team.name, createdAt: now }, made),
          auditStatement(caller, 'team.created', team.name, made),
        ]
      : [auditStatement(caller, 'member.joined', `${owner.email} as owner`, made)];
  const [inserted] = await db.batch([
    ...(await personStatements(db, userId, owner, membership, now, not(hasRow(members)))),
    ...teamStatements,
  ]);
  return inserted.meta.changes === 1 ? teamId : null;
}

/** Whether this email and password sign someone in. Slow on purpose (scrypt). */
export async function hasPassword(d1: D1Database, email: string, password: string): Promise<boolean> {
  const { verifyPassword } = await import('better-auth/crypto');
  const [account] = await database(d1)
    .select({ hash: accounts.password })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.userId))
    .where(eq(users.email, email));
  return account?.hash ? verifyPassword({ hash: account.hash, password }) : false;
}

export async function listMembers(db: Database, teamId: string) {
  return db
    .select({
      userId: members.userId,
      name: users.name,
      email: users.email,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.teamId, teamId))
    .orderBy(asc(members.createdAt));
}

/** A member who changes their team, with their current role. */
export type MemberCaller = Caller & { readonly userId: string; readonly role: Role };

/**
 * The member whom an action is about. Throws `not_found` for another team's member, and `forbidden` if only an owner may do `what` to
 * an owner.
 */
export async function memberFor({ db, team, role }: MemberCaller, userId: string, what = 'change an owner') {
  const [member] = await db
    .select({ role: members.role, email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.userId, userId), eq(members.teamId, team.id)));
  if (!member) throw new AppError('not_found', 'Member not found');
  if (member.role === 'owner' && role !== 'owner') {
    throw new AppError('forbidden', `Only an owner can ${what}`);
  }
  return member;
}

const other = alias(members, 'other');

/** SQL over a row of `members`: whether the team has an owner besides it. */
const keepsAnOwner = sql`(${members.role} <> 'owner' OR (SELECT count(*) FROM ${members} AS other
  WHERE ${other.teamId} = ${members.teamId} AND ${other.role} = 'owner') > 1)`;

/**
 * Ends the open password links of the whole team, if `condition` holds. A link belongs to whoever holds it: an admin may have created one
 * for someone who then becomes an owner, or just before leaving. New ones are quickly created.
 */
const endPasswordResets = (db: Database, teamId: string, condition: SQL) =>
  db
    .delete(passwordResets)
    .where(
      and(
        inArray(
          passwordResets.userId,
          db.select({ userId: members.userId }).from(members).where(eq(members.teamId, teamId)),
        ),
        condition,
      ),
    );

/**
 * What else a member has through their role: statements that end it if `condition` holds. They run in the transaction that changes the role, after
 * the change.
 */
export type EndBelongings = (email: string, condition: SQL) => readonly BatchItem<'sqlite'>[];

/** SQL: whether a member's role allows sharing and creating credentials at the time that a statement runs. */
export const mayAdminister = ({ team, userId }: Pick<MemberCaller, 'team' | 'userId'>): SQL =>
  hasRow(
    members,
    and(eq(members.userId, userId), eq(members.teamId, team.id), inArray(members.role, ['owner', 'admin'])),
  );

const lastOwner = () => new AppError('conflict', 'A team keeps at least one owner');

/**
 * Takes effect with the member's next request. Ends the invitations that they created and that the new role does not allow, the team's
 * open password links and, for a viewer, `endBelongings`. Throws `conflict` for the last owner.
 */
export async function changeRole(
  caller: MemberCaller,
  userId: string,
  role: Role,
  endBelongings: EndBelongings,
): Promise<void> {
  const { db, team } = caller;
  const { email } = await memberFor(caller, userId);
  if (role === 'owner' && caller.role !== 'owner') {
    throw new AppError('forbidden', 'Only an owner can make an owner');
  }
  const changeable = and(
    eq(members.userId, userId),
    eq(members.teamId, team.id),
    role === 'owner' ? undefined : keepsAnOwner,
  );
  const isChangeable = hasRow(members, changeable);
  const [, , changed] = await db.batch([
    auditStatement(caller, 'member.role_changed', `${email} to ${role}`, isChangeable),
    endPasswordResets(db, team.id, isChangeable),
    db.update(members).set({ role }).where(changeable),
    endInvitations(db, team.id, userId),
    ...endBelongings(email, not(mayAdminister({ team, userId }))),
  ]);
  if (changed.meta.changes !== 1) throw lastOwner();
}

/**
 * Removes a member with their invitations, sign-in, sessions and `endBelongings`, and ends the team's open password links. Throws `conflict` for the last
 * owner.
 */
export async function removeMember(
  caller: MemberCaller,
  userId: string,
  endBelongings: EndBelongings,
): Promise<void> {
  const { db, team } = caller;
  const { email } = await memberFor(caller, userId);
  const removable = and(eq(members.userId, userId), eq(members.teamId, team.id), keepsAnOwner);
  const gone = not(isMember(userId));
  const isRemovable = hasRow(members, removable);
  const [, , removed] = await db.batch([
    auditStatement(caller, 'member.removed', email, isRemovable),
    endPasswordResets(db, team.id, isRemovable),
    db.delete(members).where(removable),
    endInvitations(db, team.id, userId),
    ...endBelongings(email, not(mayAdminister({ team, userId }))),
    db.delete(sessions).where(and(eq(sessions.userId, userId), gone)),
    db.delete(accounts).where(and(eq(accounts.userId, userId), gone)),
    db.delete(twoFactors).where(and(eq(twoFactors.userId, userId), gone)),
    db.delete(passkeys).where(and(eq(passkeys.userId, userId), gone)),
    db.delete(users).where(and(eq(users.id, userId), gone)),
  ]);
  if (removed.meta.changes !== 1) throw lastOwner();
}
