import * as z from 'zod';
import { currencyCode, oneOf, optionalNameOrNumber, requiredNumber } from '#lib/input/fields';
import { descriptive } from '#lib/input/leniency';
import { fromNanos, MAX_AMOUNT, toNanos } from '#lib/money';
import { type EventKind, line } from '../kind.ts';
import { nanos, type OwnFields, optionalText, storedOfDevice, text } from '../stored.ts';
import { grouping, key, payload, runningTotal, wireForm } from '../wire.ts';

const Purchase = storedOfDevice('custom.purchase', () => ({
  item_id: text,
  item_name: optionalText,
  value_nanos: nanos,
  currency: text,
  /** A refund is stored, but not counted yet. */
  status: z.enum(['completed', 'success', 'failed', 'refunded']),
  tr_id: optionalText,
  total_purchase_value: z.number().optional(),
}));
type Purchase = z.infer<typeof Purchase>;

/** `success` and `completed` count as revenue. A purchase that was not completed, or not yet, counts as failed. */
const STATUSES = {
  completed: 'completed',
  success: 'success',
  failed: 'failed',
  canceled: 'failed',
  cancelled: 'failed',
  pending: 'failed',
  refunded: 'refunded',
} as const;

const asPurchase = wireForm(
  'custom.purchase',
  payload({
    item_id: grouping(),
    item_name: descriptive(optionalNameOrNumber()),
    value: requiredNumber(MAX_AMOUNT),
    currency: currencyCode(),
    status: oneOf(Object.keys(STATUSES) as [keyof typeof STATUSES]).transform((status) => STATUSES[status]),
    total_purchase_value: runningTotal(),
    tr_id: key(),
  }),
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
    transactionKey: ({ tr_id }) => tr_id,
    // A purchase may first fail and then succeed with the same keys. These are two events.
    keyScope: ({ status }) => (status === 'completed' ? 'success' : status),
    toStored: ({ value, ...rest }): OwnFields<Purchase> => ({
      value_nanos: Number(toNanos(value)),
      ...rest,
    }),
  },
);

const isPaid = ({ status }: Purchase) => status === 'completed' || status === 'success';

/** A purchase, successful or not. A refund only counts as activity of its device. */
export const purchase = {
  type: 'custom.purchase',
  label: 'Purchase',
  description: 'A purchase, successful or not.',
  subject: 'device',
  stored: Purchase,
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
  count(event, into) {
    const { currency, item_id, value_nanos: purchase_revenue } = event;
    if (event.status === 'refunded') return;
    const amounts = isPaid(event) ? { purchases: 1, purchase_revenue } : { failed_purchases: 1 };
    into.addDaily(amounts, currency);
    into.addItem({ currency, item_id }, amounts);
    if (!isPaid(event)) return;
    into.addRevenue(currency, { purchase_revenue });
    into.addPayer();
  },
  stepOf: (event) => (isPaid(event) ? 'purchase' : null),
  summarise: ({ item_id, status }, amount) => line(amount, item_id, status),
  toWire({ item_id, item_name, value_nanos, currency, status, tr_id, total_purchase_value }) {
    const value = fromNanos(BigInt(value_nanos));
    return {
      type: 'custom.purchase',
      payload: { item_id, item_name, value, currency, status, tr_id, total_purchase_value },
    };
  },
} as const satisfies EventKind<Purchase>;
