import { eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import { findKind, type LoggedEvent } from '#catalogue';
import { sha256Hex } from '#lib/crypto';
import { toHex } from '#lib/encoding/hex';
import { idFromBytes, idToBytes } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { isStepBack, purchaseIn, type TransactionStep, type Transactions } from '#rollup';
import { knownShards } from '../log.ts';
import { transactions, untoldTransactions } from '../schema.ts';
import { type ObjectStore, perStore, toParameters } from '../store.ts';
import { hexOfText } from './hashed-rows.ts';

// Purchases with a transaction id, and what was refunded of them: a row per step. They are found by the hash of the transaction id.

/** The memory of a step that is not saved yet, in bytes: about. */
const STEP_WEIGHT = 500;

/** The transactions of a run. */
export class TransactionBook implements Transactions {
  private readonly store: ObjectStore;
  private readonly takenDay: number;
  /** By transaction id: the stored steps of the transactions of the batch that is being counted. */
  private stored = new Map<string, TransactionStep[]>();
  /** By transaction id: the steps that are not saved yet. */
  private readonly added = new Map<string, TransactionStep[]>();
  private addedSteps = 0;
  /** Stored steps that are to be kept longer. */
  private readonly renewed: [id: string, step: TransactionStep][] = [];

  constructor(store: ObjectStore, now: number) {
    this.store = store;
    this.takenDay = Math.floor(now / DAY_MS);
  }

  /** The memory of what is not saved yet, in bytes. */
  get weight(): number {
    return (this.addedSteps + this.renewed.length) * STEP_WEIGHT;
  }

  /** Looks up what is stored of the transactions of a batch, before it is counted. */
  load(events: readonly (LoggedEvent | null)[]): void {
    const ids = new Set<string>();
    for (const event of events) {
      const transaction = event && findKind(event)?.transactionOf?.(event);
      if (transaction) ids.add(transaction.id);
      if (transaction?.origin !== undefined) ids.add(transaction.origin);
    }
    this.stored = ids.size > 0 ? readSteps(this.store, ids) : new Map();
  }

  stepsOf(id: string): readonly TransactionStep[] {
    return [...(this.stored.get(id) ?? []), ...(this.added.get(id) ?? [])];
  }

  add(id: string, step: TransactionStep): void {
    // Refunds that waited for their purchase are kept for as long as it.
    if (step.is === 'purchase') {
      for (const waited of this.stored.get(id) ?? []) this.renewed.push([id, waited]);
    }
    const steps = this.added.get(id) ?? [];
    steps.push(step);
    this.added.set(id, steps);
    this.addedSteps++;
  }

  purchasesAmong(ids: readonly string[]): string[] {
    return [...readSteps(this.store, ids)].filter(([, steps]) => purchaseIn(steps)).map(([id]) => id);
  }

  /** Whether a counted event is a refund, or a reversal, that waits for its purchase. */
  isWaiting(event: LoggedEvent): boolean {
    const transaction = findKind(event)?.transactionOf?.(event);
    if (!transaction || !isStepBack(transaction)) return false;
    this.load([event]);
    const steps = this.stepsOf(transaction.id);
    return steps.some(({ eventId }) => eventId === event.id) && purchaseIn(steps) === undefined;
  }

  /** Writes what was added since the last call. Call it in the transaction that commits a run. */
  save(): void {
    const added = Array.from(this.added, ([id, steps]) => steps.map((step) => [id, step] as const)).flat();
    saveSteps(this.store, [...added, ...this.renewed], this.takenDay);
    const own = added.filter(([, { countedBy }]) => countedBy === undefined).map(([id]) => id);
    if (own.length > 0 && knownShards(this.store) > 1) noteUntold(this.store, new Set(own));
    this.added.clear();
    this.renewed.length = 0;
    this.addedSteps = 0;
  }
}

/** What the steps of an erased device have in place of its id. Nobody finds the id from it; whoever erases the device again finds the steps. */
export const erasedNameOf = async (deviceId: string): Promise<string> =>
  `erased_${await sha256Hex(deviceId)}`;

/**
 * Forgets whose a device's transactions are: they are of `name` then, see `erasedNameOf`. Returns the ids of the events by which stores told of them, and of refunds that its client sent.
 * A repeat also returns those that came later. Reads all transactions, which are not found by their device otherwise.
 */
export function eraseTransactionsOf(store: ObjectStore, deviceId: string, name: string): string[] {
  const { hash, eventId, step } = transactions;
  store.update(transactions).set({ deviceId: name }).where(eq(transactions.deviceId, deviceId)).run();
  const own = sql`(SELECT ${hash} FROM ${transactions} WHERE ${transactions.deviceId} = ${name})`;
  const rows = store.values<[eventId: ArrayBuffer]>(
    sql`SELECT ${eventId} FROM ${transactions} WHERE ${hash} IN ${own} AND ${step} <> 'purchase'`,
  );
  return rows.map(([id]) => idFromBytes('evt', new Uint8Array(id)));
}

/** Prepared, because every batch of the log with a purchase runs it. `ids` is a JSON array of hashes in hexadecimal. */
const statementsOf = perStore((store) => {
  const { takenDay: _, ...columns } = getTableColumns(transactions);
  const wanted = sql`(SELECT unhex(value) FROM json_each(${sql.placeholder('ids')}))`;
  return {
    steps: store.select(columns).from(transactions).where(inArray(transactions.hash, wanted)).prepare(),
  };
});

/** The steps of transactions, by their ids. Those without any are missing. */
export function readSteps(store: ObjectStore, ids: Iterable<string>): Map<string, TransactionStep[]> {
  const idOf = new Map<string, string>();
  for (const id of ids) idOf.set(hexOfText(id), id);
  const steps = new Map<string, TransactionStep[]>();
  for (const ids of toParameters(idOf.keys())) {
    for (const row of statementsOf(store).steps.all({ ids })) {
      const { hash, eventId, step: is, eventSegment: event, cohortSegment: cohort, countedBy, ...told } = row;
      const step: TransactionStep = {
        ...{ ...told, is, eventId: idFromBytes('evt', eventId), segments: { event, cohort } },
        ...(countedBy === null ? {} : { countedBy }),
      };
      const id = idOf.get(toHex(hash)) ?? '';
      steps.set(id, [...(steps.get(id) ?? []), step]);
    }
  }
  return steps;
}

function saveSteps(
  store: ObjectStore,
  added: readonly (readonly [id: string, step: TransactionStep])[],
  takenDay: number,
): void {
  const rows = added.map(([id, step]) => {
    return { ...step, hash: hexOfText(id), eventId: toHex(idToBytes(step.eventId)) };
  });
  const at = (path: string) => sql`value ->> ${path}`;
  for (const parameter of toParameters(rows)) {
    store.run(sql`
      INSERT INTO ${transactions} (hash, event_id, step, nanos, currency, second, day, device_id, acquired_day, creative_id,
        event_segment, cohort_segment, taken_day, counted_by)
      SELECT unhex(${at('hash')}), unhex(${at('eventId')}), ${at('is')}, ${at('nanos')}, ${at('currency')}, ${at('second')},
        ${at('day')}, ${at('deviceId')}, ${at('acquiredDay')}, ${at('creativeId')}, ${at('$.segments.event')}, ${at('$.segments.cohort')}, ${takenDay}, ${at('countedBy')}
      FROM json_each(${parameter}) WHERE true
      ON CONFLICT DO UPDATE SET taken_day = excluded.taken_day`);
  }
}

function noteUntold(store: ObjectStore, ids: Iterable<string>): void {
  for (const parameter of toParameters(ids)) {
    store.run(
      sql`INSERT INTO ${untoldTransactions} (transaction_id) SELECT value FROM json_each(${parameter})`,
    );
  }
}
