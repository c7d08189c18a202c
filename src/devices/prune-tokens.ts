import { batchWithRetry } from '#db';
import { idTime } from '#lib/ids';
import { DAY_MS } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;
const MINUTE_MS = 60_000;
/** Each minute looks at one part of the devices that are old enough, so that all are looked at within hours. */
const PARTS = 60;

const idAt = (at: number) => `dev_${Math.ceil(at).toString(16).padStart(12, '0')}`;

/**
 * Forgets tokens whose events are taken no more, which is as long after their expiry as they lived; until then a revocation has to
 * be known. Rows are ordered by the time their device was made, and no token is older than its device, so only those of devices
 * that old are looked at. Bounded.
 */
export async function pruneTokens(db: D1Database, ttlDays: number, now: number): Promise<void> {
  const [first] = await batchWithRetry<{ id: string | null }>(db, () => [
    db.prepare('SELECT min(device_id) AS id FROM tokens'),
  ]);
  const oldest = first?.results[0]?.id;
  const before = now - 2 * ttlDays * DAY_MS;
  if (!oldest || idTime(oldest) >= before) return;
  const part = Math.floor(now / MINUTE_MS) % PARTS;
  const boundary = (number: number) => idAt(idTime(oldest) + (number * (before - idTime(oldest))) / PARTS);
  await batchWithRetry(db, () => [
    db
      .prepare(
        `DELETE FROM tokens WHERE (device_id, id) IN (
           SELECT device_id, id FROM tokens
           WHERE device_id >= ?1 AND device_id < ?2 AND 2 * expires_at - created_at < ?3 LIMIT ?4)`,
      )
      .bind(boundary(part), boundary(part + 1), now, PRUNED_AT_ONCE),
  ]);
}
