import { settingsOf } from '#env';
import { secretsIn } from '#lib/crypto';
import { murmur128 } from '#lib/murmur';

// better-auth writes the version of a secret in front of what it encrypts with it. A secret's version is derived from it, so that it stays the
// same whatever is added or dropped. What was written without a version was encrypted with the oldest secret.

const versionOf = (secret: string): number => murmur128(secret)[0] >>> 0;

/** better-auth's options. */
export function sessionSecrets(env: Env) {
  const all = secretsIn(settingsOf(env).SESSION_SECRET);
  return {
    secret: all.at(-1) ?? '',
    secrets: all.map((value) => ({ version: versionOf(value), value })),
  };
}

/** The same for its functions of encryption. */
export function sessionKeys(env: Env) {
  const { secret, secrets } = sessionSecrets(env);
  return {
    keys: new Map(secrets.map(({ version, value }) => [version, value])),
    currentVersion: secrets[0]?.version ?? 0,
    legacySecret: secret,
  };
}
