import { batchWithRetry } from '#db';
import { DAY_MS } from '#lib/time';

/** So long a credential that ended is still listed as such. */
const LISTED_MS = 30 * DAY_MS;

/** Forgets API keys and access tokens that expired or were revoked more than 30 days ago. Their tables are small. */
export async function pruneCredentials(db: D1Database, now: number): Promise<void> {
  await batchWithRetry(db, () => [
    db.prepare('DELETE FROM api_keys WHERE expires_at < ?').bind(now - LISTED_MS),
    db
      .prepare('DELETE FROM access_tokens WHERE min(coalesce(expires_at, ?1), coalesce(revoked_at, ?1)) < ?2')
      .bind(now, now - LISTED_MS),
  ]);
}
