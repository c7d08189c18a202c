import type { Fault } from '#http';

/** What happened to a purchase, as a store tells it: the same for every store. */
export type StoreNotification = {
  store: 'apple' | 'google' | 'revenuecat';
  /** The store's id of the notification. A notification that is sent again has the same. */
  id: string;
  /** The store's own name of what happened, with its subtype. */
  type: string;
  /** `other`: nothing was paid or given back, or the store does not say how much. Kept, but no revenue. */
  kind: 'purchase' | 'renewal' | 'trial' | 'refund' | 'refund_reversed' | 'other';
  environment: 'production' | 'sandbox';
  /** The id of the payment: each renewal has its own, and a refund has that of the payment which it gives back. */
  transactionId: string | null;
  /** The id of the first payment of a subscription. */
  originalTransactionId: string | null;
  productId: string | null;
  /** What the payment was, in billionths of `currency`. Null if unknown. */
  amount: bigint | null;
  /** Lower-case ISO 4217. */
  currency: string | null;
  /** Of a refund: how much of the payment it gives back, in thousandths of a percent. Null if unknown. */
  percentage: number | null;
  /** By what the app knows the customer: a device is found by these if the transaction is unknown. */
  customerIds: readonly string[];
  /** When it happened, in epoch milliseconds; null if unknown. */
  occurredAt: number | null;
  /** Why it counts nothing, where its kind does not tell. */
  unread?: 'is of another app' | 'is unreadable';
  /** What it tells that says nothing, by the store's own names. */
  warnings?: readonly Fault[];
};

export const WHOLE_PERCENTAGE = 100_000;
