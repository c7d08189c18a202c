import { asc, lte } from 'drizzle-orm';
import type { LoggedEvent, StoreEvent, TransactionStepKind } from '#catalogue';
import { newId } from '#lib/ids';
import { hasStep } from '#rollup';
import type { SharedStep, SharedTransaction } from '../api.ts';
import { appendEvents, type CounterLog } from '../log.ts';
import { untoldTransactions } from '../schema.ts';
import { openSegments } from '../segments.ts';
import { type ObjectStore, perStore } from '../store.ts';
import { readSteps } from './transaction-book.ts';

// The steps of one transaction may be counted by several counters of an application: what a store tells goes to a device that it names, or to no
// device, and the client sends the purchase with another one. After a commit, a counter tells the others of the transactions that changed.
// A counter which has the purchase then takes over what others counted: it counts it itself and takes back what they added. So the order in which
// counters learn of a transaction does not matter, and each step is taken over once, by the id of its event.
//
// Of two counters, whichever commits later asks the other one and finds what it has. A counter knows of all before it, which thereby learn of it.

/** Whether an event is what another counter has: it is counted, but no raw event. */
export const isTakenOver = (event: LoggedEvent): boolean => 'counted' in event && event.counted !== undefined;

const STATUS = {
  payment: 'purchase',
  trial: 'trial',
  refund: 'refunded',
  reversal: 'refund_reversed',
} as const satisfies Record<Exclude<TransactionStepKind, 'purchase'>, StoreEvent['status']>;

/** The transactions of which the others have not been told, and the part to forget once they are: see `forgetUntold`. */
export function readUntold(store: ObjectStore, limit: number): { ids: string[]; lastPart: number } {
  const rows = store
    .select()
    .from(untoldTransactions)
    .orderBy(asc(untoldTransactions.part))
    .limit(limit)
    .all();
  const ids = new Set(rows.map(({ transactionId }) => transactionId));
  return { ids: [...ids], lastPart: rows.at(-1)?.part ?? 0 };
}

/** Prepared, because each append asks. */
const firstUntold = perStore((store) =>
  store.select({ part: untoldTransactions.part }).from(untoldTransactions).limit(1).prepare(),
);

export const hasUntold = (store: ObjectStore): boolean => firstUntold(store).get() !== undefined;

export function forgetUntold(store: ObjectStore, lastPart: number): void {
  store.delete(untoldTransactions).where(lte(untoldTransactions.part, lastPart)).run();
}

/** What this counter tells others of these transactions. */
export function describeTransactions(store: ObjectStore, ids: readonly string[]): SharedTransaction[] {
  const known = readSteps(store, ids);
  const segments = openSegments(store);
  return ids.map((id) => {
    const own = (known.get(id) ?? []).filter(({ countedBy }) => countedBy === undefined);
    const steps: SharedStep[] = [];
    for (const { is, deviceId: _, segments: of, ...step } of own) {
      // The others have nothing to count of it.
      if (is === 'purchase') return { id, steps: [] };
      steps.push({
        ...step,
        is,
        ...{ segment: segments.segmentOf(of.event), cohort: segments.segmentOf(of.cohort) },
      });
    }
    return { id, steps };
  });
}

/**
 * Appends what another counter has counted of transactions whose purchase is here, unless it was taken over before. Returns how many events. Call it in
 * a transaction.
 */
export function takeOver(
  log: CounterLog,
  { shard, from }: { shard: number; from: number },
  told: readonly SharedTransaction[],
  now: number,
): number {
  const counted = told.filter(({ steps }) => steps.length > 0);
  const known = readSteps(
    log.store,
    counted.map(({ id }) => id),
  );
  const events = counted.flatMap(({ id, steps }) => {
    const here = known.get(id) ?? [];
    if (!here.some(({ is }) => is === 'purchase')) return [];
    const missing = steps.filter((step) => !hasStep(here, step));
    return missing.map(({ is, eventId, nanos, second, acquiredDay, creativeId, ...step }): StoreEvent => {
      const { day, currency, segment, cohort } = step;
      return {
        ...{ type: 'store', store: 'counter', id: newId('evt'), application_id: log.applicationId },
        ...{ status: STATUS[is], day, occurred_at: second * 1_000, received_at: now },
        ...{ value_nanos: nanos, currency, tr_id: id, creative_id: creativeId || null },
        ...(acquiredDay === '' ? {} : { acquired_day: acquiredDay }),
        ...(shard === 0 ? {} : { shard }),
        counted: { shard: from, event_id: eventId, segment, cohort },
      };
    });
  });
  return appendEvents(log, events, now);
}
