import { and, asc, gt, inArray, isNull, lt } from 'drizzle-orm';
import type { ObjectStore } from '#counting';
import { isAmong } from '#db';
import { firstIdAt } from '#lib/ids';
import { nextTurn } from '#lib/next-turn';
import { DAY_MS } from '#lib/time';
import { deliveries, waitingParts } from './schema.ts';

/** How a destination uses its object's 10 GB: sizes of the database in bytes. */
export type Space = {
  /** From here on, requests and answers are kept only of what has failed for good: a fourth of the space. */
  terse: number;
  /** From here on, the oldest deliveries are forgotten before their 30 days are over, unless they are to be tried again. */
  log: number;
  /** What is still to be sent takes so much that nothing more is accepted. The destination is switched off. */
  full: number;
  /** How long an alarm forgets before the next one continues. */
  pruningMs: number;
};

export const SPACE: Space = {
  ...{ terse: 2_000_000_000, log: 5_000_000_000, full: 8_000_000_000 },
  pruningMs: 10_000,
};

const KEPT_MS = 30 * DAY_MS;
const ROWS_AT_ONCE = 2_000;
const PARTS_AT_ONCE = 100;

function forget(store: ObjectStore, ids: readonly string[]): void {
  if (ids.length > 0) store.delete(deliveries).where(isAmong(deliveries.eventId, ids)).run();
}

/** Forgets some of what was received more than 30 days ago, also of what a destination that is off still has to send. Returns whether any may be left. */
function forgetOld(store: ObjectStore, now: number): boolean {
  const { eventId } = deliveries;
  const old = store
    .select({ id: eventId })
    .from(deliveries)
    .where(lt(eventId, firstIdAt('evt', now - KEPT_MS)))
    .orderBy(asc(eventId))
    .limit(ROWS_AT_ONCE)
    .all();
  forget(
    store,
    old.map(({ id }) => id),
  );
  const { sequence, acceptedAt } = waitingParts;
  const parts = store
    .select({ sequence, acceptedAt })
    .from(waitingParts)
    .orderBy(asc(sequence))
    .limit(PARTS_AT_ONCE)
    .all()
    .filter((part) => part.acceptedAt < now - KEPT_MS)
    .map((part) => part.sequence);
  if (parts.length > 0) store.delete(waitingParts).where(inArray(sequence, parts)).run();
  return old.length === ROWS_AT_ONCE || parts.length === PARTS_AT_ONCE;
}

/** Forgets some of the oldest deliveries after an event, but none that is to be tried again. Returns the event after which to continue; null if none is left. */
function forgetOldest(store: ObjectStore, after: string): string | null {
  const { eventId, dueAt } = deliveries;
  const ids = store
    .select({ id: eventId })
    .from(deliveries)
    .where(and(gt(eventId, after), isNull(dueAt)))
    .orderBy(asc(eventId))
    .limit(ROWS_AT_ONCE)
    .all()
    .map(({ id }) => id);
  forget(store, ids);
  return ids.length < ROWS_AT_ONCE ? null : (ids.at(-1) ?? null);
}

type PruneDependencies = {
  store: () => ObjectStore;
  /** The size of the database. */
  bytes: () => number;
  space: Space;
  transaction: <Result>(work: () => Result) => Result;
  isEnded: () => boolean;
};

/** Forgets what is too old, and the oldest deliveries if they take too much, a round at a time. Returns whether more is left than `pruningMs` allow. */
export async function prune({
  store,
  bytes,
  space,
  transaction,
  isEnded,
}: PruneDependencies): Promise<boolean> {
  const until = Date.now() + space.pruningMs;
  let after: string | null = '';
  while (!isEnded()) {
    const from: string | null = after;
    const isOldLeft = transaction(() => forgetOld(store(), Date.now()));
    if (from !== null && bytes() >= space.log) after = transaction(() => forgetOldest(store(), from));
    if (!isOldLeft && (after === null || bytes() < space.log)) return false;
    if (Date.now() >= until) return true;
    await nextTurn();
  }
  return false;
}
