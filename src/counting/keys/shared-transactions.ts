import { asc, lte } from 'drizzle-orm';
import type { LoggedEvent, SegmentBook, StoreEvent, TransactionStepKind } from '#catalogue';
import { newId } from '#lib/ids';
import { hasStep, isOwnPurchase, isTold, type TransactionStep } from '#rollup';
import type { SharedStep, SharedTransaction } from '../api.ts';
import { appendEvents, type CounterLog } from '../log.ts';
import { untoldTransactions } from '../schema.ts';
import { openSegments } from '../segments.ts';
import { type ObjectStore, perStore } from '../store.ts';
import { readSteps } from './transaction-book.ts';

// The steps of one transaction may be counted by several counters of an application: what a store tells goes to a device that it names, or to no
// device, and the client sends the purchase with another one. After a commit, a counter tells the others of the transactions that changed.
// A counter which has the purchase then takes over what others counted: it counts it itself and takes back what they added. So the order in which
// counters learn of a transaction does not matter, and each step is taken over once, by the id of its event. The other counter is told of the
// purchase, because a device that the store named is its own: it takes from it what it earned.
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

function sharedStep(
  { is, deviceId: _, countedBy: __, segments: of, ...step }: TransactionStep,
  segments: SegmentBook,
): SharedStep {
  return {
    ...{ ...step, is: is as SharedStep['is'] },
    ...{ segment: segments.segmentOf(of.event), cohort: segments.segmentOf(of.cohort) },
  };
}

/** What this counter tells others of these transactions. */
export function describeTransactions(store: ObjectStore, ids: readonly string[]): SharedTransaction[] {
  const known = readSteps(store, ids);
  const segments = openSegments(store);
  return ids.map((id) => {
    const own = (known.get(id) ?? []).filter(({ countedBy }) => countedBy === undefined);
    const steps: SharedStep[] = [];
    for (const step of own) {
      // The others have nothing to count of it.
      if (step.is === 'purchase') return { id, steps: [], purchase: step.eventId };
      steps.push(sharedStep(step, segments));
    }
    return { id, steps };
  });
}

/**
 * Appends what another counter has counted of transactions whose purchase is here, and its purchases of transactions of which a store told this one
 * with a device, unless it was taken over before. Returns how many events. Call it in a transaction.
 */
export function takeOver(
  log: CounterLog,
  { shard, from }: { shard: number; from: number },
  told: readonly SharedTransaction[],
  now: number,
): number {
  const heard = told.filter(({ steps, purchase }) => steps.length > 0 || purchase !== undefined);
  const known = readSteps(
    log.store,
    heard.map(({ id }) => id),
  );
  const eventOf = (
    id: string,
    { is, eventId, nanos, second, acquiredDay, creativeId, ...step }: SharedStep,
  ) => {
    const { day, currency, segment, cohort } = step;
    return {
      ...{ type: 'store', store: 'counter', id: newId('evt'), application_id: log.applicationId },
      ...{ status: STATUS[is], day, occurred_at: second * 1_000, received_at: now },
      ...{ value_nanos: nanos, currency, tr_id: id, creative_id: creativeId || null },
      ...(acquiredDay === '' ? {} : { acquired_day: acquiredDay }),
      ...(shard === 0 ? {} : { shard }),
      counted: { shard: from, event_id: eventId, segment, cohort },
    } satisfies StoreEvent;
  };
  const events = heard.flatMap(({ id, steps, purchase }): StoreEvent[] => {
    const here = known.get(id) ?? [];
    if (here.some(isOwnPurchase)) {
      return steps.filter((step) => !hasStep(here, step)).map((step) => eventOf(id, step));
    }
    const payment = here.find((step) => isTold(step) && step.deviceId !== '');
    if (purchase === undefined || !payment || hasStep(here, { eventId: purchase })) return [];
    const event = eventOf(id, sharedStep(payment, openSegments(log.store)));
    return [{ ...event, counted: { ...event.counted, event_id: purchase, is_purchase: true } }];
  });
  return appendEvents(log, events, now);
}
