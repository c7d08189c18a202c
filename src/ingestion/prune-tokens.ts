import { batchWithRetry } from '#db';
import { DAY_MS } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;

/**
 * Forgets tokens whose events are taken no more, which is as long after their expiry as they lived; until then a revocation has to
 * be known. Ids sort by the time of issue, so only tokens older than that are looked at. Bounded.
 */
export async function pruneTokens(db: D1Database, ttlDays: number, now: number): Promise<void> {
  const before = `tok_${Math.max(0, now - 2 * ttlDays * DAY_MS)
    .toString(16)
    .padStart(12, '0')}`;
  await batchWithRetry(db, () => [
    db
      .prepare(
        `DELETE FROM tokens WHERE id IN (
           SELECT id FROM tokens WHERE id < ?1 AND 2 * expires_at - created_at < ?2 ORDER BY id LIMIT ?3)`,
      )
      .bind(before, now, PRUNED_AT_ONCE),
  ]);
}
