import * as z from 'zod';
import { currencyCodeOfAnyDay, oneOf, optionalNameOrNumber, requiredNumber } from '#lib/input/fields';
import { descriptive, dropped, naming } from '#lib/input/leniency';
import { fromNanos, MAX_AMOUNT, toNanos } from '#lib/money';
import { type EventKind, line, type TransactionStepKind } from '../kind.ts';
import { nanos, type OwnFields, optionalText, storedOfDevice, text } from '../stored.ts';
import { grouping, key, payload, runningTotal, wireForm } from '../wire.ts';

const PurchaseEvent = storedOfDevice('custom.purchase', () => ({
  item_id: text,
  item_name: optionalText,
  value_nanos: nanos,
  currency: text,
  /** Of a refund and its reversal, `value_nanos` is 0 if all of the purchase is meant. */
  status: z.enum(['completed', 'success', 'failed', 'refunded', 'refund_reversed', 'restored']),
  tr_id: optionalText,
  total_purchase_value: z.number().optional(),
}));
type PurchaseEvent = z.infer<typeof PurchaseEvent>;

/** `success` and `completed` count as revenue. A purchase that was not completed, or not yet, counts as failed. */
const STATUSES = {
  completed: 'completed',
  success: 'success',
  failed: 'failed',
  canceled: 'failed',
  cancelled: 'failed',
  pending: 'failed',
  refunded: 'refunded',
  refund_reversed: 'refund_reversed',
  /** Bought earlier, and given again on another device. */
  restored: 'restored',
} as const;

const STEPS = {
  completed: 'purchase',
  success: 'purchase',
  refunded: 'refund',
  refund_reversed: 'reversal',
} as const satisfies Partial<Record<PurchaseEvent['status'], TransactionStepKind>>;

const isOfRefund = (status: unknown) => status === 'refunded' || status === 'refund_reversed';

/** The first part of its keys. A purchase may first fail and then succeed with the same keys: these are two events. */
const SCOPES: Readonly<Record<PurchaseEvent['status'], string>> = {
  completed: 'success',
  success: 'success',
  failed: 'failed',
  refunded: 'refunded',
  refund_reversed: 'reversed',
  restored: 'restored',
};

const asPurchase = wireForm(
  'custom.purchase',
  payload({
    item_id: grouping(),
    item_name: descriptive(naming(optionalNameOrNumber())),
    value: requiredNumber(MAX_AMOUNT),
    currency: currencyCodeOfAnyDay(),
    status: oneOf(Object.keys(STATUSES) as [keyof typeof STATUSES]).transform((status) => STATUSES[status]),
    total_purchase_value: runningTotal(),
    tr_id: key(),
  }).transform((sent) =>
    isOfRefund(sent.status) && typeof sent.tr_id !== 'string'
      ? { ...sent, tr_id: dropped('is required to find the purchase; not counted') as never }
      : sent,
  ),
  {
    examples: {
      'custom.purchase': {
        item_id: 'gems_500',
        item_name: '500 gems',
        value: 4.99,
        currency: 'usd',
        status: 'completed',
        total_purchase_value: 4.99,
        tr_id: 'GPA.3345-1122',
      },
    },
    /** All of the purchase is refunded without a value, and nothing is paid for one that is restored. */
    readPayload({ value, ...rest }) {
      const isAbsent = value === undefined || value === null || value === '';
      const status = statusIn(rest.status);
      return isAbsent && (isOfRefund(status) || status === 'restored')
        ? { ...rest, value: 0 }
        : { ...rest, value };
    },
    // A purchase may be refunded in equal parts at one time.
    transactionOf: ({ tr_id: id, status }) =>
      id === undefined ? undefined : { id, identifies: !isOfRefund(status) },
    keyScope: ({ status }) => SCOPES[status],
    toStored: ({ value, ...rest }): OwnFields<PurchaseEvent> => ({
      value_nanos: Number(toNanos(value)),
      ...rest,
    }),
  },
);

const statusIn = (sent: unknown) => (typeof sent === 'string' ? sent.trim().toLowerCase() : sent);

const isPaid = ({ status }: PurchaseEvent) => status === 'completed' || status === 'success';

const transactionOf = ({ status, tr_id: id }: PurchaseEvent) =>
  status === 'failed' || status === 'restored' || id === undefined ? null : { id, is: STEPS[status] };

/** A purchase, successful or not, its refund, or the reversal of a refund. */
export const purchase = {
  type: 'custom.purchase',
  label: 'Purchase',
  description: 'A purchase, successful or not, its refund, or the reversal of one.',
  subject: 'device',
  stored: PurchaseEvent,
  wires: [asPurchase],
  columns: [
    { name: 'value', type: 'money', field: 'value_nanos' },
    { name: 'currency', type: 'text' },
    { name: 'item_id', type: 'text' },
    { name: 'item_name', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'tr_id', type: 'text' },
    { name: 'total_purchase_value', type: 'double' },
  ],
  keepsKeys: true,
  steps: { purchase: 'Purchase' },
  clientTotal: {
    of: 'purchase',
    claimed: ({ total_purchase_value }) => total_purchase_value,
    earned: (event) => (isPaid(event) ? event.value_nanos : 0),
    currencyOf: ({ currency }) => currency,
  },
  amountOf: (event) =>
    isPaid(event) ? { of: 'purchase', nanos: event.value_nanos, currency: event.currency } : null,
  count(event, into) {
    if (event.status === 'restored') return;
    const { item_id } = event;
    const sent = { nanos: event.value_nanos, currency: event.currency };
    const transaction = transactionOf(event);
    const { nanos: purchase_revenue, currency } = transaction
      ? into.addToTransaction(transaction.id, { is: transaction.is, ...sent })
      : sent;
    if (isOfRefund(event.status)) return;
    const amounts = isPaid(event) ? { purchases: 1, purchase_revenue } : { failed_purchases: 1 };
    into.addDaily(amounts, currency);
    into.addItem({ currency, item_id }, amounts);
    if (!isPaid(event)) return;
    into.addRevenue(currency, { purchase_revenue });
    into.addPayer();
  },
  transactionOf,
  stepOf: (event) => (isPaid(event) ? 'purchase' : null),
  outboundAs(event) {
    if (isPaid(event)) return 'purchase';
    return event.status === 'refunded' ? 'refund' : null;
  },
  summarise: ({ item_id, status }, amount) => line(amount, item_id, status),
  toWire({ item_id, item_name, value_nanos, currency, status, tr_id, total_purchase_value }) {
    const value = fromNanos(BigInt(value_nanos));
    return {
      type: 'custom.purchase',
      payload: { item_id, item_name, value, currency, status, tr_id, total_purchase_value },
    };
  },
} as const satisfies EventKind<PurchaseEvent>;
