import { min, sql } from 'drizzle-orm';
import { counterFlushes, database, excluded, isAmong, retryTransient } from '#db';
import type { ClosedGap } from '../api.ts';
import { noteLost } from '../devices/unknown-devices.ts';
import { progressOf } from '../log.ts';
import { outbox, progress } from '../schema.ts';
import type { ObjectStore } from '../store.ts';
import { hasStarted, keptFrom, requeueSent } from './sent-parts.ts';

/**
 * The database and the counter disagree about what was written, because one of them was restored to an earlier time. Nothing is written
 * until someone decides to resume counting: see `closeGap`.
 */
export class SequenceGap extends Error {
  constructor(applied: number, next: number) {
    super(`the database has part ${applied} of this counter, whose next one is ${next}`);
  }
}

/** The number of the last part of a counter that the database has; 0 if it has none. */
export async function readApplied(db: D1Database, counter: string): Promise<number> {
  return (await readAllApplied(db, [counter])).get(counter) ?? 0;
}

/** The same of several counters, by name. Those that have none are left out. */
export async function readAllApplied(
  db: D1Database,
  counters: readonly string[],
): Promise<Map<string, number>> {
  const rows = await database(db)
    .select()
    .from(counterFlushes)
    .where(isAmong(counterFlushes.counter, counters));
  return new Map(rows.map(({ counter, sequence }) => [counter, sequence]));
}

/** The number of the first part that is waiting; null if the outbox is empty. */
export const nextSequence = (store: ObjectStore): number | null =>
  store
    .select({ next: min(outbox.sequence) })
    .from(outbox)
    .get()?.next ?? null;

/** The number of the first part that the database has not confirmed. */
const nextToSend = (store: ObjectStore): number => nextSequence(store) ?? progressOf(store).sequence + 1;

/**
 * Closes a `SequenceGap`, so that the database accepts the next part. If the database is behind, the parts that it lost go back to the outbox,
 * and its number moves past those that are no longer kept. If the counter is behind, it renumbers its parts, and if it never
 * wrote any, it has lost what it stored. Safe to repeat.
 */
export async function closeGap(store: ObjectStore, db: D1Database, counter: string): Promise<ClosedGap> {
  const none = { hadGap: false, missingParts: 0 };
  const next = nextToSend(store);
  const applied = await readApplied(db, counter);
  // Otherwise a part was accepted in the meantime, so there is no gap.
  if (nextToSend(store) !== next) return none;
  // The part was added, and only the answer was lost.
  const isAdded = applied === next && nextSequence(store) !== null && (next > 1 || hasStarted(store));
  if (applied === next - 1 || isAdded) return none;
  if (applied >= next) {
    if (!hasStarted(store)) noteLost(store, Date.now());
    renumber(store, applied + 1 - next);
    return { hadGap: true, missingParts: applied + 1 - next };
  }
  const from = keptFrom(store, applied, next);
  if (from > applied + 1) await moveTo(db, counter, from - 1);
  requeueSent(store, from);
  return { hadGap: true, missingParts: from - 1 - applied };
}

/** Moves a counter's number in the database forward. Never back. */
async function moveTo(db: D1Database, counter: string, to: number): Promise<void> {
  const { sequence } = counterFlushes;
  await retryTransient(() =>
    database(db)
      .insert(counterFlushes)
      .values({ counter, sequence: to })
      .onConflictDoUpdate({
        target: counterFlushes.counter,
        set: { sequence: sql`max(${sequence}, ${excluded(sequence)})` },
      })
      .run(),
  );
}

/** Synchronous, so no other call runs between the statements. Goes through negative numbers, so that no number is taken twice. */
function renumber(store: ObjectStore, shift: number): void {
  store
    .update(outbox)
    .set({ sequence: sql`-${outbox.sequence}` })
    .run();
  store
    .update(outbox)
    .set({ sequence: sql`${shift} - ${outbox.sequence}` })
    .run();
  store
    .update(progress)
    .set({ sequence: sql`${progress.sequence} + ${shift}` })
    .run();
}
