import { accessTokens, type apiKeys, type Database } from '#db';
import { encryptText, randomSecret, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';

/** Prefixes by which secret scanners recognise a credential that leaked. */
export const API_KEY_PREFIX = 'appkey_';
export const ACCESS_TOKEN_PREFIX = 'teamtoken_';

/** A new application API key and the row that stands for it; the key itself is stored only encrypted. */
export async function makeApiKey(applicationId: string, encryptionSecret: string, now: number) {
  const apiKey = API_KEY_PREFIX + randomSecret();
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
  const accessToken = ACCESS_TOKEN_PREFIX + randomSecret();
  const id = newId('tkn');
  const hash = await sha256Hex(accessToken);
  await db.insert(accessTokens).values({ hash, id, teamId, name, createdAt: now, expiresAt });
  return { id, accessToken };
}
