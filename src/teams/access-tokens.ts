import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { accessTokens, type Database, hasRow, insertWhere } from '#db';
import { AppError } from '#http';
import { newAccessToken } from '#lib/credentials';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';

const roleHasEnded = () => new AppError('forbidden', 'Your role no longer allows this');

/**
 * Creates a team access token. It is returned only here; only its SHA-256 is stored.
 * `expiresAt` is epoch milliseconds, null for a token that does not expire. `mayCreate` is SQL for whether the caller's role still allows it
 * when it takes effect: a token must not outlive the role that ends meanwhile. Throws `forbidden` if it does not.
 */
export async function createAccessToken(
  caller: Caller,
  name: string,
  expiresAt: number | null,
  mayCreate: SQL = sql`TRUE`,
): Promise<{ id: string; accessToken: string }> {
  const { db, team, actor, now } = caller;
  const accessToken = newAccessToken();
  const id = newId('tkn');
  const hash = await sha256Hex(accessToken);
  const row = { hash, id, teamId: team.id, name, createdBy: actor, createdAt: now, expiresAt };
  const [created] = await db.batch([
    insertWhere(db, accessTokens, row, mayCreate),
    auditStatement(caller, 'access_token.created', name, mayCreate),
  ]);
  if (created.meta.changes !== 1) throw roleHasEnded();
  return { id, accessToken };
}

/** A team's access tokens, newest first, including revoked ones; never the tokens themselves. */
export async function listAccessTokens(db: Database, teamId: string) {
  const { id, name, createdBy, createdAt, expiresAt, revokedAt } = accessTokens;
  return db
    .select({ id, name, createdBy, createdAt, expiresAt, revokedAt })
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
    auditStatement(caller, 'access_token.revoked', sql<string>`(${name})`, hasRow(accessTokens, working)),
    db.update(accessTokens).set({ revokedAt: now }).where(working),
    db.select({ id: accessTokens.id }).from(accessTokens).where(own),
  ]);
  if (found.length === 0) throw new AppError('not_found', 'Access token not found');
}

/**
 * Makes a token the caller's own, so that it does not end with its creator's role. Throws `not_found` for another team's token and for one that
 * is revoked, and `forbidden` unless `mayCreate` holds, as for a new token.
 */
export async function takeOverAccessToken(caller: Caller, id: string, mayCreate: SQL): Promise<void> {
  const { db, team, actor } = caller;
  const working = and(
    eq(accessTokens.id, id),
    eq(accessTokens.teamId, team.id),
    isNull(accessTokens.revokedAt),
  );
  const [token] = await db.select({ name: accessTokens.name }).from(accessTokens).where(working);
  if (!token) throw new AppError('not_found', 'Access token not found');
  const [, taken] = await db.batch([
    auditStatement(caller, 'access_token.taken_over', token.name, mayCreate),
    db.update(accessTokens).set({ createdBy: actor }).where(and(working, mayCreate)),
  ]);
  if (taken.meta.changes !== 1) throw roleHasEnded();
}

/** Statements that revoke the tokens that someone created, if `condition` holds. For the transaction that ends their role. */
export function endAccessTokens(caller: Caller, createdBy: string, condition: SQL) {
  const { db, team, now } = caller;
  const own = and(
    eq(accessTokens.teamId, team.id),
    eq(accessTokens.createdBy, createdBy),
    isNull(accessTokens.revokedAt),
    condition,
  );
  const names = db
    .select({ names: sql`group_concat(${accessTokens.name}, ', ')` })
    .from(accessTokens)
    .where(own);
  return [
    auditStatement(caller, 'access_token.revoked', sql<string>`(${names})`, hasRow(accessTokens, own)),
    db.update(accessTokens).set({ revokedAt: now }).where(own),
  ];
}
