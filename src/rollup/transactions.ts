import type { TransactionStepKind } from '#catalogue';

// What refunds take back of a purchase. Refunds and reversals may arrive before their purchase and in any order: what is taken back in the end
// depends on when they happened, not on when they arrived.

/** A purchase, a refund or a reversal, with what its rows need. */
export type TransactionStep = {
  is: TransactionStepKind;
  eventId: string;
  /** In nanos. 0 of a refund or a reversal: all that is left. */
  nanos: number;
  currency: string;
  /** Epoch seconds. */
  second: number;
  day: string;
  acquiredDay: string;
  /** Empty for an organic device. */
  creativeId: string;
  /** The ids of the event's own segment, and of the device's at its acquisition. */
  segments: { event: number; cohort: number };
};

/** The transactions of a counter, as far as the counted events name them. */
export type Transactions = {
  /** The earlier steps of a transaction, in any order. */
  stepsOf(id: string): readonly TransactionStep[];
  add(id: string, step: TransactionStep): void;
};

/** Refunds and reversals of one transaction that count, so that the work per event is bounded. */
export const MAX_STEPS_BACK = 50;

/** Transactions that are known only from what is added. */
export function transactionsInMemory(): Transactions {
  const known = new Map<string, TransactionStep[]>();
  return {
    stepsOf: (id) => known.get(id) ?? [],
    add: (id, step) => known.set(id, [...(known.get(id) ?? []), step]),
  };
}

/** What a step adds to, or takes from, what is refunded of a purchase: nanos of a currency, below 0 for a reversal. */
export type Refunded = {
  purchase: TransactionStep;
  step: TransactionStep;
  currency: string;
  nanos: number;
};

/** What is counted because a step became known after others. Nothing, as long as the purchase is not. */
export function* refundedBy(before: readonly TransactionStep[], added: TransactionStep): Generator<Refunded> {
  const isOwn = added.is === 'purchase';
  const purchase = isOwn ? added : before.find(({ is }) => is === 'purchase');
  if (!purchase) return;
  const others = before.filter(({ is }) => is !== 'purchase').sort(asReceived);
  // A purchase finds the refunds that were waiting for it.
  const counted = isOwn ? [] : others;
  let taken = takenBack(purchase, counted);
  for (const step of isOwn ? others : [added]) {
    counted.push(step);
    const now = takenBack(purchase, counted);
    for (const currency of new Set([...now.keys(), ...taken.keys()])) {
      const nanos = (now.get(currency) ?? 0n) - (taken.get(currency) ?? 0n);
      if (nanos !== 0n) yield { purchase, step, currency, nanos: Number(nanos) };
    }
    taken = now;
  }
}

/** The ids of events sort by the time of their receipt. */
const asReceived = (left: TransactionStep, right: TransactionStep) => (left.eventId < right.eventId ? -1 : 1);

const inOrder = (left: TransactionStep, right: TransactionStep) =>
  left.second - right.second || (left.eventId < right.eventId ? -1 : 1);

/** What is refunded of a purchase after all these steps, by currency: never more than its amount. */
function takenBack(
  purchase: TransactionStep,
  steps: readonly TransactionStep[],
): ReadonlyMap<string, bigint> {
  const whole = BigInt(purchase.nanos);
  const taken = new Map<string, bigint>();
  let left = whole;
  const reset = () => {
    taken.clear();
    left = whole;
  };
  for (const { is, nanos, currency } of steps.toSorted(inOrder)) {
    const isOther = nanos !== 0 && currency !== purchase.currency;
    const amount = nanos === 0 ? whole : BigInt(nanos);
    const own = taken.get(purchase.currency) ?? 0n;
    if (is === 'reversal') {
      if (isOther || amount >= own || taken.size > 1) reset();
      else {
        taken.set(purchase.currency, own - amount);
        left += amount;
      }
    } else if (left > 0n && isOther) {
      // Without a rate, the two amounts cannot be compared, so nothing more is refunded after it.
      taken.set(currency, amount);
      left = 0n;
    } else if (left > 0n) {
      const back = amount < left ? amount : left;
      taken.set(purchase.currency, own + back);
      left -= back;
    }
  }
  return taken;
}
