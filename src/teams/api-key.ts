import type { apiKeys } from '#db';
import { newApiKey } from '#lib/credentials';
import { encryptText, sha256Hex } from '#lib/crypto';

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
