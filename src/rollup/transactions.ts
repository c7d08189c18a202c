import type { TransactionStepKind } from '#catalogue';

// What a transaction is worth: what its device sent of it, what a store told of it, and what refunds took back. All of these may arrive in any
// order: what is taken back in the end depends on when it happened, not on when it arrived.

/** Something that happened to a transaction, with what its rows need. */
export type TransactionStep = {
  is: TransactionStepKind;
  eventId: string;
  /** In nanos. 0 of a refund or a reversal: all that is left. */
  nanos: number;
  currency: string;
  /** Epoch seconds. */
  second: number;
  day: string;
  /** Empty of a step without a device. */
  deviceId: string;
  acquiredDay: string;
  /** Empty for an organic device, and without a device. */
  creativeId: string;
  /** The ids of the event's own segment, and of the device's at its acquisition. */
  segments: { event: number; cohort: number };
  /** The shard of the counter that counted it first; absent if that is this one. */
  countedBy?: number;
};

/** The transactions of a counter, as far as the counted events name them. */
export type Transactions = {
  /** The earlier steps of a transaction, in any order. */
  stepsOf(id: string): readonly TransactionStep[];
  add(id: string, step: TransactionStep): void;
};

/** Refunds and reversals of one transaction that count, so that the work per event is bounded. */
const MAX_STEPS_BACK = 50;

/** Transactions that are known only from what is added. */
export function transactionsInMemory(): Transactions {
  const known = new Map<string, TransactionStep[]>();
  return {
    stepsOf: (id) => known.get(id) ?? [],
    add: (id, step) => known.set(id, [...(known.get(id) ?? []), step]),
  };
}

export const isStepBack = ({ is }: Pick<TransactionStep, 'is'>): boolean =>
  is === 'refund' || is === 'reversal';
export const isTold = ({ is }: Pick<TransactionStep, 'is'>): boolean => is === 'payment' || is === 'trial';

export const hasStep = (
  steps: readonly TransactionStep[],
  { eventId }: Pick<TransactionStep, 'eventId'>,
): boolean => steps.some((step) => step.eventId === eventId);

/** Whether a step counts after others. What another service tells of the same payment does not, nor does one more refund than `MAX_STEPS_BACK`. */
export const isCounted = (before: readonly TransactionStep[], step: TransactionStep): boolean =>
  isTold(step)
    ? !before.some(isTold)
    : !isStepBack(step) || before.filter(isStepBack).length < MAX_STEPS_BACK;

/** A device's purchase that this counter counts. */
export const isOwnPurchase = ({ is, countedBy }: Pick<TransactionStep, 'is' | 'countedBy'>): boolean =>
  is === 'purchase' && countedBy === undefined;

/** A device's purchase that another counter counts: it takes over all steps, so that no device of this counter earns by them. */
export const isPurchaseElsewhere = ({ is, countedBy }: Pick<TransactionStep, 'is' | 'countedBy'>): boolean =>
  is === 'purchase' && countedBy !== undefined;

/**
 * The purchase of a transaction after these steps: that of its device, or else what a store told of it. Its amount is the store's if known.
 * Undefined as long as neither is known.
 */
export function purchaseIn(steps: readonly TransactionStep[]): TransactionStep | undefined {
  const own = steps.find(isOwnPurchase);
  const told = steps.find((step) => isTold(step) && step.countedBy === undefined) ?? steps.find(isTold);
  return own && told ? { ...own, nanos: told.nanos, currency: told.currency } : (own ?? told);
}

/** What is refunded of a purchase more than before, in nanos of a currency, below 0 for a reversal. It counts on the day of `step`. */
export type Refunded = {
  purchase: TransactionStep;
  step: TransactionStep;
  /** 1 if `step` is a refund that counts for the first time, also if nothing was left to take back. */
  refunds: 0 | 1;
  currency: string;
  nanos: number;
};

/** What is counted because a step became known after others. Nothing, as long as the purchase is not. */
export function* refundedBy(before: readonly TransactionStep[], added: TransactionStep): Generator<Refunded> {
  const purchase = purchaseIn([...before, added]);
  if (!purchase) return;
  const known = purchaseIn(before);
  const back = before.filter(isStepBack).sort(asReceived);
  // A purchase finds the refunds that were waiting for it. Those that counted with another amount before count again.
  const counted = known ? [...back] : [];
  let taken = known ? takenBack(known, counted) : new Map<string, bigint>();
  const last = back.at(-1);
  const steps = isStepBack(added) ? [added] : known ? [] : back;
  for (const step of steps) {
    counted.push(step);
    const now = takenBack(purchase, counted);
    const found = [...differences({ purchase, step, refunds: 0 }, taken, now)];
    // In the currency in which it takes something back, if it does.
    const currency = step.nanos === 0 ? purchase.currency : step.currency;
    const own = found.find(({ nanos }) => nanos > 0) ?? { purchase, step, currency, nanos: 0 };
    const refunds = isRefundIn(counted, step, purchase, own.nanos) ? 1 : 0;
    if (refunds === 1 || found.length > 0)
      yield* [{ ...own, refunds } as const, ...found.filter((one) => one !== own)];
    taken = now;
  }
  if (known && last && !isStepBack(added))
    yield* differences({ purchase, step: last, refunds: 0 }, taken, takenBack(purchase, counted));
}

/** A store does not name the device of a refund. */
const isOfStore = ({ acquiredDay }: Pick<TransactionStep, 'acquiredDay'>): boolean => acquiredDay === '';

/**
 * Whether a step is a refund of its own. One that takes back nothing is, unless a device and its store both told of it. Nothing is paid for a
 * trial, so it has no refunds.
 */
const isRefundIn = (
  steps: readonly TransactionStep[],
  step: TransactionStep,
  purchase: TransactionStep,
  taken: number,
): boolean =>
  step.is === 'refund' &&
  purchase.is !== 'trial' &&
  (taken > 0 || !steps.some((one) => one.is === 'refund' && isOfStore(one) !== isOfStore(step)));

function* differences(
  of: Pick<Refunded, 'purchase' | 'step' | 'refunds'>,
  before: ReadonlyMap<string, bigint>,
  now: ReadonlyMap<string, bigint>,
): Generator<Refunded> {
  for (const currency of new Set([...now.keys(), ...before.keys()])) {
    const nanos = (now.get(currency) ?? 0n) - (before.get(currency) ?? 0n);
    if (nanos !== 0n) yield { ...of, currency, nanos: Number(nanos) };
  }
}

/** An amount of money. */
export type MoneyAmount = Pick<TransactionStep, 'nanos' | 'currency'>;

/**
 * The amount that a step tells somebody who was told of the steps before: what counts of a payment, or what a refund takes back. Null if it tells
 * nothing new: a payment that is known, or a refund that takes back nothing more. The device of a payment that a store told without one is new.
 * A refund that waits for its purchase tells what it says itself.
 */
export function newAmountIn(before: readonly TransactionStep[], added: TransactionStep): MoneyAmount | null {
  const known = purchaseIn(before);
  if (!known) return added;
  if (isStepBack(added)) return [...refundedBy(before, added)].find(({ nanos }) => nanos > 0) ?? null;
  if (known.deviceId !== '' || added.deviceId === '') return null;
  return purchaseIn([...before, added]) ?? added;
}

/** What is refunded of a transaction after these steps, by currency. */
export function refundedOf(steps: readonly TransactionStep[]): ReadonlyMap<string, bigint> {
  const purchase = purchaseIn(steps);
  return purchase ? takenBack(purchase, steps.filter(isStepBack)) : new Map();
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
