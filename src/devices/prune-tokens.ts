import { and, gte, lt, min, sql } from 'drizzle-orm';
import { database, retryTransient, tokens } from '#db';
import { firstIdAt, idTime } from '#lib/ids';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;
/** Each minute's run looks at one part of the old enough devices, so that all of them are covered within an hour. */
const PARTS = 60;

/**
 * Deletes tokens whose events are no longer accepted. Events are accepted for as long after a token's expiry as the token was valid, and
 * until then a revocation has to be known. Rows are ordered by the creation time of their device, and no token is older than its device,
 * so only devices of that age are scanned. Bounded.
 */
export async function pruneTokens(d1: D1Database, ttlDays: number, now: number): Promise<void> {
  const db = database(d1);
  const { deviceId, id, createdAt, expiresAt } = tokens;
  const [first] = await retryTransient(() => db.select({ deviceId: min(deviceId) }).from(tokens));
  const oldest = first?.deviceId;
  // The same for a whole hour, or devices at the boundary of two parts could fall into neither.
  const before = Math.floor(now / HOUR_MS) * HOUR_MS - 2 * ttlDays * DAY_MS;
  if (!oldest || idTime(oldest) >= before) return;
  const part = Math.floor(now / MINUTE_MS) % PARTS;
  const boundary = (number: number) =>
    firstIdAt('dev', idTime(oldest) + (number * (before - idTime(oldest))) / PARTS);
  const old = db
    .select({ deviceId, id })
    .from(tokens)
    .where(
      and(
        gte(deviceId, boundary(part)),
        lt(deviceId, boundary(part + 1)),
        lt(sql`2 * ${expiresAt} - ${createdAt}`, now),
      ),
    )
    .limit(PRUNED_AT_ONCE);
  await retryTransient(() => db.delete(tokens).where(sql`(${deviceId}, ${id}) IN ${old}`).run());
}
