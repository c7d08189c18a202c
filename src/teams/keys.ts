import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm';
import { accessTokens, apiKeys, applications, type Database } from '#db';
import { AppError } from '#http';
import { newAccessToken, newApiKey } from '#lib/credentials';
import { decryptText, encryptText, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';

/** A new application API key and the row that stands for it; the key itself is stored only encrypted. */
export async function makeApiKey(applicationId: string, encryptionSecret: string, now: number) {
  const apiKey = newApiKey();
  const row: typeof apiKeys.$inferInsert = {
    hash: await sha256Hex(apiKey),
    applicationId,
    encrypted: await encryptText(encryptionSecret, apiKey),
    createdAt: now,
    expiresAt: null,
  };
  return { apiKey, row };
}

/**
 * A new team access token, which is shown this once and stored only as its SHA-256.
 * `expiresAt` is epoch milliseconds, null for one that does not expire.
 */
export async function createAccessToken(
  db: Database,
  teamId: string,
  name: string,
  expiresAt: number | null,
  now: number,
): Promise<{ id: string; accessToken: string }> {
  const accessToken = newAccessToken();
  const id = newId('tkn');
  const hash = await sha256Hex(accessToken);
  await db.insert(accessTokens).values({ hash, id, teamId, name, createdAt: now, expiresAt });
  return { id, accessToken };
}

/** A team's access tokens, newest first, the revoked ones too; never the tokens themselves. */
export async function listAccessTokens(db: Database, teamId: string) {
  const { id, name, createdAt, expiresAt, revokedAt } = accessTokens;
  return db
    .select({ id, name, createdAt, expiresAt, revokedAt })
    .from(accessTokens)
    .where(eq(accessTokens.teamId, teamId))
    .orderBy(desc(accessTokens.id));
}

/** Answers the token's name. Repeatable; takes effect everywhere within 60 s. Throws `not_found` for another team's. */
export async function revokeAccessToken(
  db: Database,
  teamId: string,
  id: string,
  now: number,
): Promise<string> {
  const [row] = await db
    .update(accessTokens)
    .set({ revokedAt: sql`coalesce(${accessTokens.revokedAt}, ${now})` })
    .where(and(eq(accessTokens.id, id), eq(accessTokens.teamId, teamId)))
    .returning({ name: accessTokens.name });
  if (!row) throw new AppError('not_found', 'Access token not found');
  return row.name;
}

/** The API key that an application's backends should use now. Throws `not_found` for another team's application. */
export async function revealApiKey(
  db: Database,
  teamId: string,
  applicationId: string,
  encryptionSecret: string,
): Promise<string> {
  const [row] = await db
    .select({ encrypted: apiKeys.encrypted })
    .from(apiKeys)
    .innerJoin(applications, eq(applications.id, apiKeys.applicationId))
    .where(
      and(
        eq(apiKeys.applicationId, applicationId),
        eq(applications.teamId, teamId),
        isNull(apiKeys.expiresAt),
      ),
    );
  if (!row) throw new AppError('not_found', 'Application not found');
  const apiKey = await decryptText(encryptionSecret, row.encrypted);
  if (apiKey === null) throw new Error('the API key was encrypted under another secret');
  return apiKey;
}

/** Earlier keys of an application that still work, with the moment (epoch milliseconds) at which each stops. */
export async function listKeysInGrace(db: Database, teamId: string, applicationId: string, now: number) {
  return db
    .select({ expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .innerJoin(applications, eq(applications.id, apiKeys.applicationId))
    .where(
      and(
        eq(apiKeys.applicationId, applicationId),
        eq(applications.teamId, teamId),
        gt(apiKeys.expiresAt, now),
      ),
    );
}
