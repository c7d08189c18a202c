import { applications, database, hashKeys, hasRow, insertWhere, reencryptColumn, retryTransient } from '#db';
import { settingsOf } from '#env';
import { decryptText, encryptText, secretsIn } from '#lib/crypto';

// What identifies a person's device is stored as a hash and found by it. The plain text is not stored, so that it cannot be hashed again with
// another key, and devices that never return would be new ones under it. So the key of these hashes never changes: it is the first
// KEY_ENCRYPTION_SECRET that a deployment had. From its first hour on, the database has it, encrypted with the current secret. A
// rotation encrypts it again.

/** What a deployment had before the database had its key. */
const firstSecret = (secret: string): string => secretsIn(secret).at(-1) ?? secret;

const ROW = 'identifiers';

/** Once per `env` object, so once per isolate. */
const known = new WeakMap<object, string>();

async function readHashKey(env: Env): Promise<string> {
  const secret = settingsOf(env).KEY_ENCRYPTION_SECRET;
  const [row] = await retryTransient(() => database(env.DB).select().from(hashKeys));
  const key = row ? await decryptText(secret, row.encrypted) : firstSecret(secret);
  if (key !== null) return key;
  throw new Error(
    'KEY_ENCRYPTION_SECRET was exchanged before a rotation was complete: put its former value back, after the current one',
  );
}

/**
 * The key of the hashes of identifiers, for `hmac`. Read it once for whatever is hashed together, because the first call in an isolate asks the
 * database. Throws an error if that does not answer, or if the deployment lacks the secret that encrypted the key.
 */
export async function hashKeyOf(env: Env): Promise<string> {
  const key = known.get(env) ?? (await readHashKey(env));
  known.set(env, key);
  return key;
}

/**
 * Stores the key of a deployment that has applications, so that a restore into an empty one finds no other key, and encrypts it with the
 * newest secret. Idempotent.
 */
export async function keepHashKey(env: Env): Promise<void> {
  const secret = settingsOf(env).KEY_ENCRYPTION_SECRET;
  const db = database(env.DB);
  const encrypted = await encryptText(secret, await readHashKey(env));
  const hasApplications = hasRow(applications);
  await insertWhere(db, hashKeys, { id: ROW, encrypted }, hasApplications).onConflictDoNothing();
  await reencryptColumn(db, secret, hashKeys.encrypted);
}
