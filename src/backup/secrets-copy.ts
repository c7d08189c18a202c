import { and, eq, gt } from 'drizzle-orm';
import { database, secretCopies } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { sha256Hex } from '#lib/crypto';
import { logWarning } from '#lib/log';
import { SECRETS } from './layout.ts';

/**
 * The deployment's secrets, for whoever has put the hash of a token into its database, which takes the same rights in the account as deploying a Worker that
 * shows them. A token works once. Throws a 401 for any other.
 */
export async function takeSecrets(env: Env, token: string, now: number): Promise<Record<string, string>> {
  const [taken] = await database(env.DB)
    .delete(secretCopies)
    .where(and(eq(secretCopies.hash, await sha256Hex(token)), gt(secretCopies.expiresAt, now)))
    .returning();
  if (!taken) throw new AppError('unauthenticated', 'This token is not valid, has expired, or was used');
  logWarning('secrets copied', 'the command line keeps a copy of the secrets');
  const settings = settingsOf(env);
  return Object.fromEntries(SECRETS.map((name) => [name, settings[name]]));
}
