import { and, asc, count, eq, gt, ne, sql } from 'drizzle-orm';
import type { Steps } from '#lib/steps';
import { applyPages } from '../devices/page-writer.ts';
import { discardUncommitted } from '../outbound/parts.ts';
import { outbox, preparedWrites, progress } from '../schema.ts';
import type { Store } from '../store.ts';

// A run prepares what it writes in steps, each a transaction of its own. The transaction that advances `progress.run` to the run's number then
// makes all of it valid at once. Whatever was prepared for a higher number belongs to a run that did not get that far, and is discarded.

/** Pages of devices, or parts of the outbox. */
type PreparedKind = 'devices' | 'sums';

export type Prepared = { run: number; kind: PreparedKind; payload: string; oldestAt: number };

export function prepareWrite(store: Store, prepared: Prepared): void {
  store.insert(preparedWrites).values(prepared).run();
}

/** Deletes the sums that earlier commits of a run left, because those of `run` include them. Call it in the transaction that commits `run`. */
export function replaceSums(store: Store, run: number): void {
  store
    .delete(preparedWrites)
    .where(and(eq(preparedWrites.kind, 'sums'), ne(preparedWrites.run, run)))
    .run();
}

/** Moves the prepared sums to the outbox. Call it in a transaction, with nothing prepared that is not valid. */
export function publishSums(store: Store): void {
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
export function* applyDevices(storage: DurableObjectStorage, store: Store): Steps {
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
export function* finishInterrupted(storage: DurableObjectStorage, store: Store): Steps {
  discardUncommitted(store);
  if (!store.select({ part: preparedWrites.part }).from(preparedWrites).limit(1).get()) return;
  storage.transactionSync(() => {
    const committed = sql`(SELECT ${progress.run} FROM ${progress})`;
    store.delete(preparedWrites).where(gt(preparedWrites.run, committed)).run();
    publishSums(store);
  });
  yield* applyDevices(storage, store);
}
