import * as z from 'zod';
import { type EventKind, line, type TransactionStepKind } from '../kind.ts';
import { segmentWithoutDevice, storedSegment } from '../segments.ts';
import { day, nanos, optionalText, shard, storedWithoutDevice, text, warnings } from '../stored.ts';

/** `counter`: another counter of the application, which counted it before this one has to. */
const STORES = ['apple', 'google', 'revenuecat', 'counter'] as const;

const StoredSegment = z.record(z.string(), z.string());

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
  /** Of what another counter tells: its shard, the event that it counted, and the segments under which it did. */
  counted: z
    .object({
      ...{ shard: z.int(), event_id: text, segment: StoredSegment, cohort: StoredSegment },
      /** The event is the purchase itself, which the other counter keeps. */
      is_purchase: z.literal(true).optional(),
    })
    .optional(),
  warnings,
}));
/** What a store says of a payment. */
export type StoreEvent = z.infer<typeof StoreEvent>;

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
  amountOf: ({ status, value_nanos: nanos, currency, counted }) =>
    STEPS[status] === 'payment' && !counted ? { of: 'purchase', nanos, currency } : null,
  count({ status, tr_id, original_tr_id, value_nanos, currency, device_id, acquired_day, counted }, into) {
    into.addToTransaction(tr_id, {
      ...{ is: counted?.is_purchase ? 'purchase' : STEPS[status], nanos: value_nanos, currency },
      isRenewal: status === 'renewal',
      ...{ deviceId: device_id, acquiredDay: acquired_day, origin: original_tr_id },
      ...(counted && { counted: { shard: counted.shard, eventId: counted.event_id } }),
    });
  },
  segmentOf: (event) => (event.counted ? storedSegment(event.counted.segment) : segmentWithoutDevice(event)),
  cohortOf: ({ counted }) => counted && storedSegment(counted.cohort),
  transactionOf: ({ status, tr_id: id, original_tr_id: origin }) => ({ id, is: STEPS[status], origin }),
  stepOf: () => null,
  outboundAs({ status }) {
    if (status === 'purchase' || status === 'renewal') return 'purchase';
    return status === 'refunded' ? 'refund' : null;
  },
  summarise: ({ store: from, item_id, status }, amount) => line(amount, item_id, status, from),
} as const satisfies EventKind<StoreEvent>;
