import { and, eq, ne, not, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Database, hasRow, invitations, members } from '#db';

const inviter = alias(members, 'inviter');

/**
 * SQL over a row of `invitations`: whether its creator is still in the team, in a role that may create it. Without this, someone who was
 * removed could return through an invitation of their own.
 */
export function inviterMay(): SQL {
  const role = or(eq(inviter.role, 'owner'), and(eq(inviter.role, 'admin'), ne(invitations.role, 'owner')));
  return hasRow(
    inviter,
    and(eq(inviter.userId, invitations.createdBy), eq(inviter.teamId, invitations.teamId), role),
  );
}

/** Deletes the invitations that a member created and that their current role no longer allows. */
export const endInvitations = (db: Database, teamId: string, userId: string) =>
  db
    .delete(invitations)
    .where(and(eq(invitations.teamId, teamId), eq(invitations.createdBy, userId), not(inviterMay())));
