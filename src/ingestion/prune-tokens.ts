import { and, gte, lt, min, sql } from 'drizzle-orm';
import { database, retryTransient, tokens } from '#db';
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
export async function pruneTokens(d1: D1Database, ttlDays: number, now: number): Promise<void> {
  const db = database(d1);
  const { deviceId, id, createdAt, expiresAt } = tokens;
  const [first] = await retryTransient(() => db.select({ deviceId: min(deviceId) }).from(tokens));
  const oldest = first?.deviceId;
  const before = now - 2 * ttlDays * DAY_MS;
  if (!oldest || idTime(oldest) >= before) return;
  const part = Math.floor(now / MINUTE_MS) % PARTS;
  const boundary = (number: number) => idAt(idTime(oldest) + (number * (before - idTime(oldest))) / PARTS);
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
