import { inArray, lt, min } from 'drizzle-orm';
import { database, parkedMessages } from '#db';
import { settingsOf } from '#env';
import { DAY_MS } from '#lib/time';
import { pruneErased } from './devices/unknown-devices.ts';
import { pruneKeys } from './keys/key-book.ts';
import { pruneSent } from './outbox/sent-parts.ts';
import { progress, revokedTokens } from './schema.ts';
import type { SeenIds } from './seen-ids.ts';
import type { ObjectStore } from './store.ts';

/**
 * A message may be delivered for 4 days, and for 4 more as a dead letter, before it is parked. Source: Cloudflare's documentation of Queues,
 * "Limits".
 */
const REDELIVERED_FOR_MS = 9 * DAY_MS;

/** Events older than this cannot be redelivered. Parked messages are excluded from this, because they may be replayed at any time. */
export async function readRedeliveryLimit(
  db: D1Database,
  applicationId: string,
  now: number,
): Promise<number> {
  const [parked] = await database(db)
    .select({ oldest: min(parkedMessages.parkedAt) })
    .from(parkedMessages)
    .where(inArray(parkedMessages.applicationId, [applicationId, '']));
  return Math.min(now, parked?.oldest ?? now) - REDELIVERED_FOR_MS;
}

/** Deletes ids and keys once nothing can repeat them, revoked tokens and erased devices once no event can have them, and sent parts once D1 cannot lose them. Call it in a transaction. */
export function pruneRepeats(
  store: ObjectStore,
  seen: SeenIds,
  env: Env,
  redeliveryLimit: number,
  now: number,
): void {
  const { IDEMPOTENCY_DAYS, RAW_RETENTION_DAYS, TOKEN_TTL_DAYS } = settingsOf(env);
  seen.prune(redeliveryLimit);
  // Events of an expired token are accepted for the same time again, and may then be delivered until the limit.
  const lastValid = redeliveryLimit - 2 * TOKEN_TTL_DAYS * DAY_MS;
  store.delete(revokedTokens).where(lt(revokedTokens.revokedAt, lastValid)).run();
  pruneErased(store, lastValid);
  pruneKeys(store, now - IDEMPOTENCY_DAYS * DAY_MS, now - RAW_RETENTION_DAYS * DAY_MS, now);
  pruneSent(store, now);
  store.update(progress).set({ prunedAt: now }).run();
}
