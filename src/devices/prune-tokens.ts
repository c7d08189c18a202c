import { and, gte, isNull, lt, min, or, sql } from 'drizzle-orm';
import { database, inRounds, PRUNED_AT_ONCE, retryTransient, TOKEN_ROW_DAYS, tokens } from '#db';
import { firstIdAt, idTime } from '#lib/ids';
import { DAY_MS, MINUTE_MS } from '#lib/time';

/** Each minute's run looks at one part of the old enough devices, so that all of them are covered within a day. */
const PARTS = 1_440;

/**
 * Deletes the rows of tokens after `TOKEN_ROW_DAYS`. That of a revoked token stays as long
 * as events are accepted with it: for as long after its expiry as it was valid. Rows are ordered by the creation time of their device, and no
 * token is older than its device, so only devices of that age are scanned. Bounded.
 */
export async function pruneTokens(d1: D1Database, ttlDays: number, now: number): Promise<void> {
  const db = database(d1);
  const { deviceId, id, createdAt, expiresAt, revokedAt } = tokens;
  const [first] = await retryTransient(() => db.select({ deviceId: min(deviceId) }).from(tokens));
  const oldest = first?.deviceId;
  const keptMs = Math.min(TOKEN_ROW_DAYS, 2 * ttlDays) * DAY_MS;
  // The same for a whole day, or devices at the boundary of two parts could fall into neither.
  const before = Math.floor(now / DAY_MS) * DAY_MS - keptMs;
  if (!oldest || idTime(oldest) >= before) return;
  const part = Math.floor(now / MINUTE_MS) % PARTS;
  const boundary = (number: number) =>
    firstIdAt('dev', idTime(oldest) + (number * (before - idTime(oldest))) / PARTS);
  const isOver = lt(sql`2 * ${expiresAt} - ${createdAt}`, now);
  const old = db
    .select({ deviceId, id })
    .from(tokens)
    .where(
      and(
        gte(deviceId, boundary(part)),
        lt(deviceId, boundary(part + 1)),
        or(and(isNull(revokedAt), lt(createdAt, now - keptMs)), isOver),
      ),
    )
    .limit(PRUNED_AT_ONCE);
  await inRounds(() => db.delete(tokens).where(sql`(${deviceId}, ${id}) IN ${old}`).run());
}
