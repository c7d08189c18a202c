import type { ObjectStore } from '#counting';
import { STORE_FORMATS } from '#lib/encoding/store-formats';
import { DAY_MS, HOUR_MS } from '#lib/time';
import { state } from './schema.ts';

/** Deliveries that have to fail for good in a row before people are told, and before the destination is switched off. */
const TOLD_AT = [5, 10];
const OFF_AT = 20;
/** A destination to which nothing can be delivered is switched off after this time, and people are told before. */
const MAX_FAILING_MS = 3 * DAY_MS;
const OUTAGE_TOLD_AFTER_MS = [HOUR_MS, DAY_MS, 2 * DAY_MS];

type BreakerState = typeof state.$inferSelect;

const ONLY = 1;

const BLANK: Omit<BreakerState, 'name'> = {
  ...{ id: ONLY, failuresInRow: 0, failingSince: null, lastSuccessAt: null, told: 0 },
  ...{ outageTold: 0, format: STORE_FORMATS.destination.number },
  ...{ hour: 0, attempts: 0, failed: 0, attemptsBefore: 0, failedBefore: 0, prunedAt: 0 },
};

export const readState = (store: ObjectStore): BreakerState => ({
  ...BLANK,
  name: '',
  ...store.select().from(state).get(),
});

export function writeState(store: ObjectStore, changes: Partial<BreakerState>): void {
  store
    .insert(state)
    .values({ ...readState(store), ...changes })
    .onConflictDoUpdate({ target: state.id, set: changes })
    .run();
}

/** What a success clears. */
export const NO_FAILURES = { failuresInRow: 0, failingSince: null, told: 0, outageTold: 0 };

/** How an attempt ended: `failed` for good, or to be tried `again`. */
export type AttemptEnding = 'delivered' | 'again' | 'failed';

/** The state after some attempts, in the order in which they ended. Pure. */
export function afterAttempts(
  before: BreakerState,
  endings: readonly AttemptEnding[],
  now: number,
): BreakerState {
  const hour = Math.floor(now / HOUR_MS);
  const isNext = hour === before.hour + 1;
  const next =
    hour === before.hour
      ? { ...before }
      : {
          ...{ ...before, hour, attempts: 0, failed: 0 },
          attemptsBefore: isNext ? before.attempts : 0,
          failedBefore: isNext ? before.failed : 0,
        };
  for (const ending of endings) {
    next.attempts++;
    if (ending === 'delivered') {
      Object.assign(next, { ...NO_FAILURES, lastSuccessAt: now });
      continue;
    }
    next.failed++;
    next.failingSince ??= now;
    if (ending === 'failed') next.failuresInRow++;
  }
  return next;
}

/** Why a destination is to be switched off; null if it is not. */
export function reasonForOff({ failuresInRow, failingSince }: BreakerState, now: number): string | null {
  if (failuresInRow >= OFF_AT) return `${OFF_AT} deliveries in a row have failed for good`;
  if (failingSince !== null && now - failingSince >= MAX_FAILING_MS)
    return 'Nothing could be delivered for 3 days';
  return null;
}

/** What people are to be told: a number of failures in a row, and how long an outage lasts, in milliseconds. Null for what they know, and for too few. */
export function toTell(
  { failuresInRow, told, failingSince, outageTold }: BreakerState,
  now: number,
): { failures: number | null; outageMs: number | null } {
  const failures = TOLD_AT.findLast((number) => failuresInRow >= number && told < number) ?? null;
  const lasts = failingSince === null ? 0 : now - failingSince;
  const outageMs = OUTAGE_TOLD_AFTER_MS.findLast((ms) => lasts >= ms && outageTold < ms) ?? null;
  return { failures, outageMs };
}
