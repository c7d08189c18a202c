import * as z from 'zod';
import { sha256Hex } from '#lib/crypto';
import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { toNanos } from '#lib/money';
import { type StoreNotification, WHOLE_PERCENTAGE } from './notification.ts';

// RevenueCat's webhooks. Source: www.revenuecat.com/docs/integrations/webhooks

const text = (max = 256) => z.string().max(max).nullish();
const amount = z.number().gte(-1e9).lte(1e9).nullish();

const Body = z.object({
  event: z.object({
    id: z.string().min(1).max(128),
    type: z.string().max(128),
    event_timestamp_ms: z.int().nullish(),
    purchased_at_ms: z.int().nullish(),
    environment: text(32),
    period_type: text(32),
    cancel_reason: text(64),
    is_family_share: z.boolean().nullish(),
    transaction_id: text(128),
    original_transaction_id: text(128),
    product_id: text(),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/)
      .nullish(),
    /** In US dollars. */
    price: amount,
    price_in_purchased_currency: amount,
    app_user_id: text(512),
    original_app_user_id: text(512),
    aliases: z.array(z.string().max(512)).max(1_000).nullish(),
  }),
});
type RevenueCatEvent = z.infer<typeof Body>['event'];

const KINDS: Readonly<Record<string, StoreNotification['kind']>> = {
  INITIAL_PURCHASE: 'purchase',
  NON_RENEWING_PURCHASE: 'purchase',
  RENEWAL: 'renewal',
  REFUND_REVERSED: 'refund_reversed',
};

/** Whether a request has the `Authorization` value that was set at RevenueCat, of which `expected` is the SHA-256 in hex. */
export async function isAuthorized(sent: string | undefined, expected: string | null): Promise<boolean> {
  return sent !== undefined && (await sha256Hex(sent)) === expected;
}

/** What was paid, in the currency of the payment, or else in US dollars. Negative for a refund. */
function paid({
  price_in_purchased_currency: own,
  currency,
  price,
}: RevenueCatEvent): [nanos: bigint, currency: string] | null {
  if (own !== null && own !== undefined && currency) return [toNanos(own), currency.toLowerCase()];
  return price === null || price === undefined ? null : [toNanos(price), 'usd'];
}

function kindOf(event: RevenueCatEvent, nanos: bigint | undefined): StoreNotification['kind'] {
  if (event.is_family_share || !event.transaction_id) return 'other';
  // A refund is a cancellation by customer support with a negative price. Other cancellations only end a renewal.
  const isRefund = event.type === 'CANCELLATION' && event.cancel_reason === 'CUSTOMER_SUPPORT';
  if (isRefund) return nanos === undefined || nanos < 0n ? 'refund' : 'other';
  const kind = Object.hasOwn(KINDS, event.type) ? KINDS[event.type] : undefined;
  if (!kind) return 'other';
  // Nobody pays less than nothing: such a price tells of money that was given back, and of no payment that could be taken back.
  if (kind !== 'refund_reversed' && nanos !== undefined && nanos < 0n) return 'other';
  return kind !== 'refund_reversed' && event.period_type === 'TRIAL' ? 'trial' : kind;
}

/** A placeholder is the name of nobody: it would find the device of whoever sent it first. */
const isName = (id: string | null | undefined): id is string =>
  Boolean(id) && placeholderId(id?.trim() ?? '') === null;

const NAMES = ['app_user_id', 'original_app_user_id', 'original_transaction_id'] as const;

const orNull = (id: string | null | undefined): string | null => (isName(id) ? id : null);

/** Reads the body of a request that is authorized. Null if it is malformed. */
export function readRevenueCatEvent(body: unknown): StoreNotification | null {
  const read = Body.safeParse(body);
  if (!read.success) return null;
  const { event } = read.data;
  const [nanos, currency] = paid(event) ?? [];
  const kind = kindOf(event, nanos);
  const warnings = NAMES.flatMap(
    (name) => placeholderFault(`event.${name}`, event[name] ?? '', placeholderId) ?? [],
  );
  const customers = [event.app_user_id, event.original_app_user_id, ...(event.aliases ?? [])];
  return {
    store: 'revenuecat',
    id: event.id,
    type: event.cancel_reason ? `${event.type}.${event.cancel_reason}` : event.type,
    kind,
    environment: event.environment === 'PRODUCTION' ? 'production' : 'sandbox',
    transactionId: orNull(event.transaction_id),
    originalTransactionId: orNull(event.original_transaction_id),
    productId: event.product_id ?? null,
    amount:
      kind === 'other' || nanos === undefined ? null : kind === 'trial' ? 0n : nanos < 0n ? -nanos : nanos,
    currency: currency ?? null,
    percentage: kind === 'refund' ? WHOLE_PERCENTAGE : null,
    customerIds: [...new Set(customers.filter(isName))],
    ...(warnings.length > 0 ? { warnings } : {}),
    occurredAt: (kind.startsWith('refund') ? event.event_timestamp_ms : event.purchased_at_ms) ?? null,
  };
}
