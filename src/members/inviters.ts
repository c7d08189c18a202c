/**
 * SQL over a row of `invitations`: whether the person who made it is still in the team, in a role that could make it. An
 * invitation ends with that role, so that nobody who was removed comes back through one of their own.
 */
export const INVITER_MAY = `EXISTS (SELECT 1 FROM members AS inviter
  WHERE inviter.user_id = invitations.created_by AND inviter.team_id = invitations.team_id
    AND (inviter.role = 'owner' OR (inviter.role = 'admin' AND invitations.role <> 'owner')))`;

/** Deletes the invitations that someone made and, by the role that they have at this statement, could not make any more. */
export function endInvitations(d1: D1Database, teamId: string, userId: string): D1PreparedStatement {
  return d1
    .prepare(`DELETE FROM invitations WHERE team_id = ?1 AND created_by = ?2 AND NOT ${INVITER_MAY}`)
    .bind(teamId, userId);
}
