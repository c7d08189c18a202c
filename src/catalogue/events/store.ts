import * as z from 'zod';
import { type EventKind, line, type TransactionStepKind } from '../kind.ts';
import { segmentWithoutDevice } from '../segments.ts';
import { day, nanos, optionalText, shard, storedWithoutDevice, text } from '../stored.ts';

const STORES = ['apple', 'google', 'revenuecat'] as const;

const StoreEvent = storedWithoutDevice('store', () => ({
  store: z.enum(STORES),
  status: z.enum(['purchase', 'renewal', 'trial', 'refunded', 'refund_reversed']),
  item_id: optionalText,
  /** 0 of a trial, and of a refund or its reversal if all of the payment is meant. */
  value_nanos: nanos,
  currency: text,
  tr_id: text,
  /** Of a renewal: the first payment of the subscription. */
  original_tr_id: optionalText,
  // What follows is of the device that the store's customer is known by. Without one, a payment counts for no device.
  shard,
  device_id: optionalText,
  creative_id: z.string().nullable(),
  acquired_day: day.optional(),
  country: optionalText,
  os_family: optionalText,
  network: optionalText,
}));
type StoreEvent = z.infer<typeof StoreEvent>;

const STEPS = {
  purchase: 'payment',
  renewal: 'payment',
  trial: 'trial',
  refunded: 'refund',
  refund_reversed: 'reversal',
} as const satisfies Record<StoreEvent['status'], TransactionStepKind>;

/**
 * What a store tells of a payment. Clients may send the same payment: both have its transaction id, and count once, with the store's amount and
 * the client's device.
 */
export const store = {
  type: 'store',
  label: 'Store notification',
  description: 'A payment, a trial, a refund or the reversal of one, as a store tells it.',
  subject: 'payment',
  stored: StoreEvent,
  wires: [],
  columns: [
    { name: 'store', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'item_id', type: 'text' },
    { name: 'value', type: 'money', field: 'value_nanos' },
    { name: 'currency', type: 'text' },
    { name: 'tr_id', type: 'text' },
    { name: 'original_tr_id', type: 'text' },
  ],
  keepsKeys: false,
  steps: {},
  count({ status, tr_id, original_tr_id, value_nanos, currency, device_id, acquired_day }, into) {
    into.addToTransaction(tr_id, {
      ...{ is: STEPS[status], nanos: value_nanos, currency, isRenewal: status === 'renewal' },
      ...{ deviceId: device_id, acquiredDay: acquired_day, origin: original_tr_id },
    });
  },
  segmentOf: segmentWithoutDevice,
  transactionOf: ({ status, tr_id: id, original_tr_id: origin }) => ({ id, is: STEPS[status], origin }),
  stepOf: () => null,
  outboundAs({ status }) {
    if (status === 'purchase' || status === 'renewal') return 'purchase';
    return status === 'refunded' ? 'refund' : null;
  },
  summarise: ({ store: from, item_id, status }, amount) => line(amount, item_id, status, from),
} as const satisfies EventKind<StoreEvent>;
