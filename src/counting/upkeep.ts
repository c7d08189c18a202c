import { inArray, lt, min } from 'drizzle-orm';
import { database, parkedMessages } from '#db';
import { settingsOf } from '#env';
import { DAY_MS } from '#lib/time';
import { pruneKeys } from './key-book.ts';
import { progressOf } from './log.ts';
import { progress, revokedTokens } from './schema.ts';
import type { SeenIds } from './seen-ids.ts';
import type { Store } from './store.ts';

/**
 * A message may be delivered for 4 days, and for 4 more from the dead letters, before it is parked. Source: Cloudflare's
 * documentation of Queues, "Limits".
 */
const REDELIVERED_FOR_MS = 9 * DAY_MS;

export const MAX_BACKOFF_MS = 300_000;
/** How long to wait after so many failures in a row: 1 s after none, 5 minutes at most. */
export const backoffMs = (failures: number): number => Math.min(1_000 * 2 ** failures, MAX_BACKOFF_MS);

/** When what tells repeats is to be pruned next; null for a counter that has counted nothing. */
export function pruneDueAt(store: Store): number | null {
  const { prunedAt, countedBatch } = progressOf(store);
  return countedBatch === 0 ? null : prunedAt + DAY_MS;
}

/** The time before which no event can come again by its id. What a parked message holds may come back whenever it is replayed. */
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

/** Forgets ids and keys once nothing can repeat them, and revoked tokens once no event can bring them. To be called in a transaction. */
export function pruneRepeats(
  store: Store,
  seen: SeenIds,
  env: Env,
  redeliveryLimit: number,
  now: number,
): void {
  const { IDEMPOTENCY_DAYS, RAW_RETENTION_DAYS, TOKEN_TTL_DAYS } = settingsOf(env);
  seen.prune(redeliveryLimit);
  // Events of an expired token are taken for as long again; what was taken then may be delivered until its limit.
  const lastValid = redeliveryLimit - 2 * TOKEN_TTL_DAYS * DAY_MS;
  store.delete(revokedTokens).where(lt(revokedTokens.revokedAt, lastValid)).run();
  pruneKeys(store, now - IDEMPOTENCY_DAYS * DAY_MS, now - RAW_RETENTION_DAYS * DAY_MS, now);
  store.update(progress).set({ prunedAt: now }).run();
}
