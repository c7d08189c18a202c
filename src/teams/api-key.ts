import type { apiKeys } from '#db';
import { newApiKey } from '#lib/credentials';
import { encryptText, sha256Hex } from '#lib/crypto';

/** A new application API key and its row, which stores the key only hashed and encrypted. */
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
