import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { counterOf, retried } from '#counting';
import { applications, auditLog, database, tokens } from '#db';
import { AppError, type AuthenticatedTeam } from '#http';
import { newId } from '#lib/ids';
import { teamActor } from '#members';
import type { TokenClaims } from './token.ts';

/**
 * Revokes a token: `/verify-token` refuses it at once, and what is sent with it from now on is not counted, which its counter
 * decides. Answers when it was revoked, epoch milliseconds. Repeatable: a call that failed before its counter heard of it is
 * completed by the next, with the time of the first. Throws `not_found` for another team's token.
 */
export async function revokeToken(
  env: Env,
  team: AuthenticatedTeam,
  claims: TokenClaims,
  now: number,
): Promise<number> {
  const db = database(env.DB);
  const own = and(
    eq(tokens.deviceId, claims.deviceId),
    eq(tokens.id, claims.tokenId),
    inArray(
      tokens.applicationId,
      db.select({ id: applications.id }).from(applications).where(eq(applications.teamId, team.id)),
    ),
  );
  const valid = and(own, isNull(tokens.revokedAt));
  const audited = db
    .select({
      teamId: sql<string>`${team.id}`.as('team_id'),
      id: sql<string>`${newId('aud')}`.as('id'),
      at: sql<number>`${now}`.as('at'),
      actor: sql<string>`${teamActor(team)}`.as('actor'),
      action: sql<string>`${'token.revoked'}`.as('action'),
      subject: sql<string>`${`${claims.tokenId} of ${claims.applicationId}`}`.as('subject'),
    })
    .from(tokens)
    .where(valid);
  const [, , found] = await db.batch([
    db.insert(auditLog).select(audited),
    db.update(tokens).set({ revokedAt: now }).where(valid),
    db.select({ revokedAt: tokens.revokedAt }).from(tokens).where(own),
  ]);
  const revokedAt = found[0]?.revokedAt;
  if (typeof revokedAt !== 'number') throw new AppError('not_found', 'Token not found');
  await retried(() =>
    counterOf(env, claims.applicationId, claims.shard).revokeToken(claims.tokenId, revokedAt),
  );
  return revokedAt;
}
