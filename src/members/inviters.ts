import { and, eq, exists, ne, not, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Database, invitations, members } from '#db';

const inviter = alias(members, 'inviter');

/**
 * Over a row of `invitations`: whether the person who made it is still in the team, in a role that could make it. An invitation ends
 * with that role, so that nobody who was removed comes back through one of their own.
 */
export function inviterMay(db: Database): SQL {
  const role = or(eq(inviter.role, 'owner'), and(eq(inviter.role, 'admin'), ne(invitations.role, 'owner')));
  return exists(
    db
      .select({ id: inviter.userId })
      .from(inviter)
      .where(and(eq(inviter.userId, invitations.createdBy), eq(inviter.teamId, invitations.teamId), role)),
  );
}

/** Deletes the invitations that someone made and, by the role that they have at this statement, could not make any more. */
export const endInvitations = (db: Database, teamId: string, userId: string) =>
  db
    .delete(invitations)
    .where(and(eq(invitations.teamId, teamId), eq(invitations.createdBy, userId), not(inviterMay(db))));
