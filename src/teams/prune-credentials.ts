import { lt, sql } from 'drizzle-orm';
import { accessTokens, apiKeys, database, intakeSecrets, retryTransient } from '#db';
import { DAY_MS } from '#lib/time';

/** How long a credential that ended remains listed. */
const LISTED_MS = 30 * DAY_MS;

/** Deletes API keys, intake secrets and access tokens that expired or were revoked more than 30 days ago. Their tables are small. */
export async function pruneCredentials(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { expiresAt, revokedAt } = accessTokens;
  const endedAt = sql`min(coalesce(${expiresAt}, ${now}), coalesce(${revokedAt}, ${now}))`;
  await retryTransient(() =>
    db.batch([
      db.delete(apiKeys).where(lt(apiKeys.expiresAt, now - LISTED_MS)),
      db.delete(intakeSecrets).where(lt(intakeSecrets.expiresAt, now - LISTED_MS)),
      db.delete(accessTokens).where(lt(endedAt, now - LISTED_MS)),
    ]),
  );
}
