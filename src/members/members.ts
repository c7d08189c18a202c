import { and, asc, eq } from 'drizzle-orm';
import * as z from 'zod';
import { accounts, type Database, database, members, sessions, users } from '#db';
import { AppError, requiredText } from '#http';
import { newId } from '#lib/ids';
import { endInvitations } from './inviters.ts';

/** What each may do includes what the ones after it may. A viewer sees the numbers; only an owner decides about owners. */
export const ROLES = ['owner', 'admin', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export const atLeast = (role: Role, wanted: Role) => ROLES.indexOf(role) <= ROLES.indexOf(wanted);

export const NewPerson = z.object({
  name: requiredText(100),
  email: requiredText(254).toLowerCase().pipe(z.email('must be an email address')),
  password: z
    .string('is required')
    .min(12, 'must have at least 12 characters')
    .max(128, 'must have at most 128 characters'),
});
export type NewPerson = z.infer<typeof NewPerson>;

/**
 * The statements that make a person, each doing nothing unless `condition` holds: SQL over ?1 user id, ?2 team id, ?3 now, and
 * `bindings` from ?6 on. The first inserts the membership, which the others hang on: a person is there whole or not at all.
 */
export async function personStatements(
  d1: D1Database,
  person: NewPerson,
  membership: { teamId: string; role: Role },
  now: number,
  condition: string,
  ...bindings: (string | number)[]
): Promise<{ userId: string; statements: D1PreparedStatement[] }> {
  const { hashPassword } = await import('better-auth/crypto');
  const userId = newId('usr');
  const isMember = 'EXISTS (SELECT 1 FROM members WHERE user_id = ?1)';
  const statements = [
    d1
      .prepare(
        `INSERT INTO members (user_id, team_id, created_at, role) SELECT ?1, ?2, ?3, ?4
         WHERE ${condition} AND NOT EXISTS (SELECT 1 FROM users WHERE email = ?5)`,
      )
      .bind(userId, membership.teamId, now, membership.role, person.email, ...bindings),
    d1
      .prepare(
        `INSERT INTO users (id, name, email, created_at, updated_at) SELECT ?1, ?2, ?3, ?4, ?4 WHERE ${isMember}`,
      )
      .bind(userId, person.name, person.email, now),
    d1
      .prepare(
        `INSERT INTO accounts (id, account_id, provider_id, user_id, password, created_at, updated_at)
         SELECT ?2, ?1, 'credential', ?1, ?3, ?4, ?4 WHERE ${isMember}`,
      )
      .bind(userId, newId('acc'), await hashPassword(person.password), now),
  ];
  return { userId, statements };
}

/** The first run is over once anyone belongs to a team. */
export async function setupIsOpen(d1: D1Database): Promise<boolean> {
  const row = await d1.prepare('SELECT NOT EXISTS (SELECT 1 FROM members) AS open').first<{ open: number }>();
  return row?.open === 1;
}

/**
 * Makes a team and its owner, once in the life of a deployment: of two that try at the same time, one.
 * With `teamId` the owner joins a team that is there already. Answers the team's id; null when someone was first.
 */
export async function makeFirstOwner(
  d1: D1Database,
  owner: NewPerson,
  team: { name: string } | { teamId: string },
  now: number,
): Promise<string | null> {
  const teamId = 'teamId' in team ? team.teamId : newId('team');
  const person = await personStatements(
    d1,
    owner,
    { teamId, role: 'owner' },
    now,
    'NOT EXISTS (SELECT 1 FROM members)',
  );
  const insertTeam =
    'name' in team
      ? [
          d1
            .prepare(
              `INSERT INTO teams (id, name, created_at)
               SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM members WHERE team_id = ?1)`,
            )
            .bind(teamId, team.name, now),
        ]
      : [];
  const [membership] = await d1.batch([...person.statements, ...insertTeam]);
  return membership?.meta.changes === 1 ? teamId : null;
}

/** Whether someone signs in with just this pair. Slow on purpose (scrypt). */
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

type Acting = { teamId: string; role: Role };

/** The member that someone acts on. Throws `forbidden` where an owner would have to, `not_found` for another team's. */
async function memberFor(db: Database, acting: Acting, userId: string) {
  const [member] = await db
    .select({ role: members.role, email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.userId, userId), eq(members.teamId, acting.teamId)));
  if (!member) throw new AppError('not_found', 'Member not found');
  if (member.role === 'owner' && acting.role !== 'owner') {
    throw new AppError('forbidden', 'Only an owner can change an owner');
  }
  return member;
}

const KEEPS_AN_OWNER = `(role <> 'owner'
  OR (SELECT count(*) FROM members AS other WHERE other.team_id = members.team_id AND other.role = 'owner') > 1)`;

const lastOwner = () => new AppError('conflict', 'A team keeps at least one owner');

/**
 * Answers the member's email. Takes effect with their next request; invitations that they made and could not make any more end
 * with it. Throws `conflict` for the last owner.
 */
export async function changeRole(
  d1: D1Database,
  db: Database,
  acting: Acting,
  userId: string,
  role: Role,
): Promise<string> {
  const { email } = await memberFor(db, acting, userId);
  if (role === 'owner' && acting.role !== 'owner') {
    throw new AppError('forbidden', 'Only an owner can make an owner');
  }
  const change = d1
    .prepare(
      `UPDATE members SET role = ?1 WHERE user_id = ?2 AND team_id = ?3 AND (?1 = 'owner' OR ${KEEPS_AN_OWNER})`,
    )
    .bind(role, userId, acting.teamId);
  const [changed] = await d1.batch([change, endInvitations(d1, acting.teamId, userId)]);
  if (changed?.meta.changes !== 1) throw lastOwner();
  return email;
}

/** Takes a person out with their invitations, sign-in and sessions; answers their email. Throws `conflict` for the last owner. */
export async function removeMember(
  d1: D1Database,
  db: Database,
  acting: Acting,
  userId: string,
): Promise<string> {
  const { email } = await memberFor(db, acting, userId);
  const removal = d1
    .prepare(`DELETE FROM members WHERE user_id = ?1 AND team_id = ?2 AND ${KEEPS_AN_OWNER}`)
    .bind(userId, acting.teamId);
  const [removed] = await d1.batch([removal, endInvitations(d1, acting.teamId, userId)]);
  if (removed?.meta.changes !== 1) throw lastOwner();
  // Without a membership the rest opens no door, so it may follow in a transaction of its own.
  await db.batch([
    db.delete(sessions).where(eq(sessions.userId, userId)),
    db.delete(accounts).where(eq(accounts.userId, userId)),
    db.delete(users).where(eq(users.id, userId)),
  ]);
  return email;
}
