import { database, reencryptColumn, twoFactors } from '#db';
import { settingsOf } from '#env';
import { sessionKeys } from './session-secrets.ts';

/** While SESSION_SECRET is rotated, encrypts the keys of authenticator apps and their recovery codes with the newest one. Idempotent. */
export async function reencryptSecondFactors(env: Env): Promise<void> {
  const { SESSION_SECRET } = settingsOf(env);
  const keys = sessionKeys(env);
  const reencrypt = async (_: string, text: string) => {
    const { parseEnvelope, symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto');
    if (parseEnvelope(text)?.version === keys.currentVersion) return null;
    // What no secret decrypts stays as it is.
    const plain = await symmetricDecrypt({ key: keys, data: text }).catch(() => null);
    return plain === null ? null : symmetricEncrypt({ key: keys, data: plain });
  };
  for (const encrypted of [twoFactors.secret, twoFactors.backupCodes]) {
    await reencryptColumn(database(env.DB), SESSION_SECRET, encrypted, reencrypt);
  }
}
