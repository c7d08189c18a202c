import { and, desc, eq, exists, isNull, sql } from 'drizzle-orm';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { accessTokens, type Database } from '#db';
import { AppError } from '#http';
import { newAccessToken } from '#lib/credentials';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';

/**
 * Creates a team access token. It is returned only here; only its SHA-256 is stored.
 * `expiresAt` is epoch milliseconds, null for a token that does not expire.
 */
export async function createAccessToken(
  caller: Caller,
  name: string,
  expiresAt: number | null,
): Promise<{ id: string; accessToken: string }> {
  const { db, team, now } = caller;
  const accessToken = newAccessToken();
  const id = newId('tkn');
  const hash = await sha256Hex(accessToken);
  await db.batch([
    db.insert(accessTokens).values({ hash, id, teamId: team.id, name, createdAt: now, expiresAt }),
    auditStatement(caller, newAuditEntry('access_token.created', name)),
  ]);
  return { id, accessToken };
}

/** A team's access tokens, newest first, including revoked ones; never the tokens themselves. */
export async function listAccessTokens(db: Database, teamId: string) {
  const { id, name, createdAt, expiresAt, revokedAt } = accessTokens;
  return db
    .select({ id, name, createdAt, expiresAt, revokedAt })
    .from(accessTokens)
    .where(eq(accessTokens.teamId, teamId))
    .orderBy(desc(accessTokens.id));
}

/** Idempotent. Takes effect everywhere within 60 s. Throws `not_found` for another team's token. */
export async function revokeAccessToken(caller: Caller, id: string): Promise<void> {
  const { db, team, now } = caller;
  const own = and(eq(accessTokens.id, id), eq(accessTokens.teamId, team.id));
  const working = and(own, isNull(accessTokens.revokedAt));
  const name = db.select({ name: accessTokens.name }).from(accessTokens).where(own);
  const [, , found] = await db.batch([
    auditStatement(
      caller,
      newAuditEntry('access_token.revoked', sql<string>`(${name})`),
      exists(db.select({ id: accessTokens.id }).from(accessTokens).where(working)),
    ),
    db.update(accessTokens).set({ revokedAt: now }).where(working),
    db.select({ id: accessTokens.id }).from(accessTokens).where(own),
  ]);
  if (found.length === 0) throw new AppError('not_found', 'Access token not found');
}
