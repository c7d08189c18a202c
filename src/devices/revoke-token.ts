import { and, eq, inArray, isNull } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { counterOf, retryCall } from '#counting';
import { applications, hasRow, insertWhere, tokens } from '#db';
import { AppError } from '#http';
import type { TokenClaims } from './token.ts';

/**
 * Revokes a token: `/verify-token` refuses it at once, and its counter no longer counts events that are sent with it. Returns when it was
 * revoked, in epoch milliseconds. Idempotent: if a call failed before it reached the counter, the next call completes it and keeps the
 * time of the first. Throws `not_found` for another team's token.
 */
export async function revokeToken(env: Env, caller: Caller, claims: TokenClaims): Promise<number> {
  const { db, team, now } = caller;
  const own = and(
    eq(tokens.deviceId, claims.deviceId),
    eq(tokens.id, claims.tokenId),
    inArray(
      tokens.applicationId,
      db.select({ id: applications.id }).from(applications).where(eq(applications.teamId, team.id)),
    ),
  );
  const valid = and(own, isNull(tokens.revokedAt));
  await restoreRow(env, caller, claims);
  const subject = `${claims.tokenId} of ${claims.applicationId}`;
  const [, , found] = await db.batch([
    auditStatement(caller, 'token.revoked', subject, hasRow(tokens, valid)),
    db.update(tokens).set({ revokedAt: now }).where(valid),
    db.select({ revokedAt: tokens.revokedAt }).from(tokens).where(own),
  ]);
  const revokedAt = found[0]?.revokedAt;
  if (typeof revokedAt !== 'number') throw new AppError('not_found', 'Token not found');
  await retryCall(() =>
    counterOf(env, claims.applicationId, claims.shard).revokeToken(claims.tokenId, revokedAt),
  );
  return revokedAt;
}

/**
 * Writes the row of a token again that was pruned, to keep the revocation. An erased device's token has none either: the counter, which
 * knows the device until it is erased, tells them apart.
 */
async function restoreRow(env: Env, { db, team }: Caller, claims: TokenClaims): Promise<void> {
  const { tokenId: id, applicationId, deviceId, shard, createdAt, expiresAt } = claims;
  const isOwn = hasRow(
    applications,
    and(eq(applications.id, applicationId), eq(applications.teamId, team.id)),
  );
  const [found] = await db
    .select({ id: tokens.id })
    .from(tokens)
    .where(and(eq(tokens.deviceId, deviceId), eq(tokens.id, id)));
  if (found || !(await retryCall(() => counterOf(env, applicationId, shard).readDevice(deviceId)))) return;
  const row = { id, applicationId, deviceId, createdAt, expiresAt };
  await insertWhere(db, tokens, row, isOwn).onConflictDoNothing();
}
