import { and, eq, type SQL, sql } from 'drizzle-orm';
import { accessTokens, hasRow, members, teams, users } from '#db';

/** Someone who may be an owner of the deployment: a person, or the access token of a team. */
export type Claimant = { userId: string } | { accessTokenId: string };

/**
 * SQL: whether someone is an owner of the deployment's first team when a statement runs. An access token is its creator.
 * Only they decide what several teams share.
 */
export function isDeploymentOwner(who: Claimant): SQL {
  const person =
    'userId' in who
      ? eq(members.userId, who.userId)
      : sql`${members.userId} = (SELECT ${users.id} FROM ${users} JOIN ${accessTokens} ON ${accessTokens.createdBy} = ${users.email}
          WHERE ${accessTokens.id} = ${who.accessTokenId} AND ${accessTokens.revokedAt} IS NULL AND ${accessTokens.teamId} = ${members.teamId})`;
  const firstTeam = sql`(SELECT ${teams.id} FROM ${teams} ORDER BY ${teams.createdAt}, ${teams.id} LIMIT 1)`;
  return hasRow(members, and(person, eq(members.role, 'owner'), sql`${members.teamId} = ${firstTeam}`));
}
