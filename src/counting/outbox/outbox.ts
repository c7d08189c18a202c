import { and, asc, count, eq, gt, min, ne, sql } from 'drizzle-orm';
import { batchWithRetry, isTransient } from '#db';
import { logWarning } from '#lib/log';
import type { Steps } from '#lib/steps';
import {
  type Compacted,
  type OutboxPart,
  type PartSource,
  partStatements,
  partToKeep,
  readPart,
  sumsIn,
} from '#rollup';
import { applyPages } from '../devices/page-writer.ts';
import { noteLost } from '../devices/unknown-devices.ts';
import { progressOf } from '../log.ts';
import { discardUncommitted } from '../outbound/parts.ts';
import { outbox, preparedWrites, progress } from '../schema.ts';
import { readCounterName } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { findRefused, parkRefused } from './refused-rows.ts';
import { hasStarted, keepSent, noteStarted } from './sent-parts.ts';
import { nextSequence, readApplied, SequenceGap } from './sequence-gap.ts';
import type { StatementLimit } from './statement-limit.ts';
import { moveOn, wasAborted } from './turn.ts';

// What a run writes, from its steps to D1. It prepares its writes, each in a transaction of its own. The transaction that advances `progress.run` to
// the run's number then makes all of them valid at once: pages of devices are applied, and sums move to the outbox, from which they are added to D1.
// Whatever was prepared for a higher number belongs to a run that did not get that far, and is discarded.

/** Pages of devices, or a part of the outbox. */
type PreparedWrite = { run: number; kind: 'devices' | 'sums'; payload: string; oldestAt: number };

export function prepareWrite(store: ObjectStore, prepared: PreparedWrite): void {
  store.insert(preparedWrites).values(prepared).run();
}

/** Deletes the sums that earlier commits of a run left, because those of `run` include them. Call it in the transaction that commits `run`. */
export function replaceSums(store: ObjectStore, run: number): void {
  store
    .delete(preparedWrites)
    .where(and(eq(preparedWrites.kind, 'sums'), ne(preparedWrites.run, run)))
    .run();
}

/** Moves the prepared sums to the outbox. Call it in a transaction, with nothing prepared that is not valid. */
export function publishSums(store: ObjectStore): void {
  const areSums = eq(preparedWrites.kind, 'sums');
  const sums = store.select({ n: count() }).from(preparedWrites).where(areSums).get()?.n ?? 0;
  if (sums === 0) return;
  store.run(sql`INSERT INTO ${outbox}
    SELECT (SELECT ${progress.sequence} FROM ${progress}) + row_number() OVER (ORDER BY ${preparedWrites.part}),
      ${preparedWrites.payload}, ${preparedWrites.oldestAt}
    FROM ${preparedWrites} WHERE ${areSums}`);
  store
    .update(progress)
    .set({ sequence: sql`${progress.sequence} + ${sums}` })
    .run();
  store.delete(preparedWrites).where(areSums).run();
}

/** Writes the prepared changes of devices, each part in a transaction of its own. Valid only after their run was committed. Idempotent. */
export function* applyDevices(storage: DurableObjectStorage, store: ObjectStore): Steps {
  for (;;) {
    const next = store
      .select({ part: preparedWrites.part, payload: preparedWrites.payload })
      .from(preparedWrites)
      .where(ne(preparedWrites.kind, 'sums'))
      .orderBy(asc(preparedWrites.part))
      .limit(1)
      .get();
    if (!next) return;
    storage.transactionSync(() => {
      applyPages(store, next.payload);
      store.delete(preparedWrites).where(eq(preparedWrites.part, next.part)).run();
    });
    yield;
  }
}

/** Finishes what a run that was interrupted had committed, and discards the rest of it. Idempotent. */
export function* finishInterrupted(storage: DurableObjectStorage, store: ObjectStore): Steps {
  discardUncommitted(store);
  if (!store.select({ part: preparedWrites.part }).from(preparedWrites).limit(1).get()) return;
  storage.transactionSync(() => {
    const committed = sql`(SELECT ${progress.run} FROM ${progress})`;
    store.delete(preparedWrites).where(gt(preparedWrites.run, committed)).run();
    publishSums(store);
  });
  yield* applyDevices(storage, store);
}

/** Appends compacted parts of the cube to the outbox. */
export function queueCompacted(store: ObjectStore, compacted: Compacted, now: number): void {
  const part: OutboxPart = [{ kind: 'compacted', rows: [compacted] }];
  const sequence = progressOf(store).sequence + 1;
  store
    .insert(outbox)
    .values({ sequence, payload: JSON.stringify(part), oldestAt: now })
    .run();
  store.update(progress).set({ sequence }).run();
}

/**
 * Adds the next part of the outbox to D1. It is added exactly once however often it is sent, because the part and its number are one
 * transaction. Rows that D1 refuses are parked, so that they do not hold up others. Returns false if the outbox is empty. Throws if D1
 * does not accept the part, which then remains the next one. `limit` counts the statements, `onParts` is called if parts of the cube were added.
 */
export async function flushNext(
  store: ObjectStore,
  db: D1Database,
  counter: string,
  now: number,
  { limit, onParts }: { limit: StatementLimit; onParts: () => void },
): Promise<boolean> {
  const next = store.select().from(outbox).orderBy(asc(outbox.sequence)).limit(1).get();
  if (!next) return false;
  const source = { ...readCounterName(counter), sequence: next.sequence };
  const name = `${counter}/${next.sequence}`;
  const part = await readPart(source, name, next.payload);
  if (next.sequence === 1 && !hasStarted(store)) {
    const applied = await readApplied(db, counter);
    if (applied > 0) {
      noteLost(store, now);
      throw new SequenceGap(applied, 1);
    }
    noteStarted(store, now);
  }
  try {
    await batchWithRetry(db, () =>
      limit.spend([moveOn(db, counter, next.sequence), ...partStatements(db, source, part, now)]),
    );
  } catch (error) {
    if (!wasAborted(error)) {
      const rest = isTransient(error) ? null : await withoutRefused(db, { source, name }, part, limit);
      if (!rest) throw error;
      logWarning('rows refused', error, { counter });
      const payload = JSON.stringify(rest);
      store.update(outbox).set({ payload }).where(eq(outbox.sequence, next.sequence)).run();
      return true;
    }
    const applied = await readApplied(db, counter);
    // If the part is gone, another call that had timed out added it. Otherwise D1 may have added it and its answer was lost.
    const isWaiting = nextSequence(store) === next.sequence;
    if (isWaiting && applied !== next.sequence) throw new SequenceGap(applied, next.sequence);
  }
  keepSent(store, { ...next, payload: JSON.stringify(partToKeep(part)) }, now);
  if (part.some(({ kind }) => kind === 'parts')) onParts();
  return true;
}

/**
 * The part with the refused rows parked instead; null if D1 refuses no row by itself. A refused compaction is left out, which leaves the
 * parts as they are.
 */
async function withoutRefused(
  db: D1Database,
  { source, name }: { source: PartSource; name: string },
  part: OutboxPart,
  limit: StatementLimit,
): Promise<OutboxPart | null> {
  if (part.length > 0 && part.every(({ kind }) => kind === 'compacted')) return [];
  const refused = await findRefused(db, sumsIn(source, part), limit);
  if (refused.length === 0) return null;
  const rows = new Set<unknown>(refused.flatMap(({ sums }) => sums.rows));
  const rest = part.flatMap((own): OutboxPart => {
    const taken = (own.rows as unknown[]).filter((row) => !rows.has(row));
    return taken.length > 0 ? [{ ...own, rows: taken } as OutboxPart[number]] : [];
  });
  return [...rest, { kind: 'parked', rows: await parkRefused(source.applicationId, name, refused) }];
}

/** When the oldest waiting event was appended; null if the outbox is empty. */
export function oldestInOutbox(store: ObjectStore): number | null {
  return (
    store
      .select({ at: min(outbox.oldestAt) })
      .from(outbox)
      .get()?.at ?? null
  );
}
