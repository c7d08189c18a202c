import * as z from 'zod';
import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { refuse, verifyAppStoreJws } from './apple-chain.ts';
import { type StoreNotification, WHOLE_PERCENTAGE } from './notification.ts';

// App Store Server Notifications V2. Source: developer.apple.com/documentation/appstoreservernotifications

const optional = (max = 256) => z.string().max(max).nullish();

const Payload = z.object({
  notificationType: z.string().max(128),
  subtype: optional(128),
  notificationUUID: z.string().min(1).max(128),
  signedDate: z.int().nullish(),
  data: z
    .object({
      environment: optional(32),
      bundleId: optional(),
      appAppleId: z.union([z.int(), z.string()]).nullish(),
      signedTransactionInfo: optional(65_536),
    })
    .nullish(),
});

const Transaction = z.object({
  transactionId: optional(128),
  originalTransactionId: optional(128),
  bundleId: optional(),
  productId: optional(),
  /** In thousandths of a unit. */
  price: z.int().min(0).nullish(),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/)
    .nullish(),
  transactionReason: optional(32),
  offerDiscountType: optional(32),
  inAppOwnershipType: optional(32),
  appAccountToken: optional(64),
  environment: optional(32),
  purchaseDate: z.int().nullish(),
  revocationDate: z.int().nullish(),
  revocationPercentage: z.int().min(0).max(WHOLE_PERCENTAGE).nullish(),
});
type Transaction = z.infer<typeof Transaction>;

const KINDS: Readonly<Record<string, StoreNotification['kind']>> = {
  SUBSCRIBED: 'purchase',
  ONE_TIME_CHARGE: 'purchase',
  OFFER_REDEEMED: 'purchase',
  DID_RENEW: 'renewal',
  REFUND: 'refund',
  REFUND_REVERSED: 'refund_reversed',
};
const NANOS_PER_MILLIUNIT = 1_000_000n;

function kindOf(type: string, transaction: Transaction): StoreNotification['kind'] {
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  // Who shares a family member's purchase pays nothing.
  if (!kind || !transaction.transactionId || transaction.inAppOwnershipType === 'FAMILY_SHARED')
    return 'other';
  const isPayment = kind === 'purchase' || kind === 'renewal';
  if (isPayment && transaction.offerDiscountType === 'FREE_TRIAL') return 'trial';
  if (kind === 'purchase' && transaction.transactionReason === 'RENEWAL') return 'renewal';
  return kind;
}

/** The app that notifications must be of. `appAppleId` is only in those of production. */
export type AppStoreApp = { bundleId: string; appAppleId?: string };

/**
 * Verifies and reads a notification and the transaction in it. Throws `invalid_request` if either is not signed by the App Store, or is of another app.
 * Unknown types are read too, as `other`. `root`: see `verifyAppStoreJws`.
 */
export async function readAppStoreNotification(
  signedPayload: string,
  app: AppStoreApp,
  trust: { root?: string; now: number },
): Promise<StoreNotification> {
  const payload = await verifyAppStoreJws(signedPayload, trust);
  const signed = Payload.safeParse(payload).data?.data?.signedTransactionInfo;
  return describeNotification(payload, signed ? await verifyAppStoreJws(signed, trust) : undefined, app);
}

/** What a verified notification tells; `transaction` is the verified payload of its transaction, undefined without one. */
export function describeNotification(
  notification: unknown,
  transaction: unknown,
  app: AppStoreApp,
): StoreNotification {
  const read = Payload.safeParse(notification);
  const about = Transaction.safeParse(transaction ?? {});
  if (!read.success || !about.success || transaction === null) throw refuse('has malformed contents');
  const { notificationType, subtype, notificationUUID, signedDate, data } = read.data;
  const paid = about.data;
  const isOfApp =
    [data?.bundleId, paid.bundleId].every((id) => (id ?? app.bundleId) === app.bundleId) &&
    String(data?.appAppleId ?? app.appAppleId) === String(app.appAppleId ?? data?.appAppleId);
  if (!isOfApp) throw refuse('is of another app');
  const environments = new Set(
    [data?.environment, paid.environment].filter((one) => typeof one === 'string'),
  );
  if (environments.size > 1) throw refuse('is of several environments');
  const kind = kindOf(notificationType, paid);
  const nameless = placeholderFault('appAccountToken', paid.appAccountToken ?? '', placeholderId);
  const isOfPayment = kind !== 'refund' && kind !== 'refund_reversed';
  const occurredAt = isOfPayment ? paid.purchaseDate : kind === 'refund' ? paid.revocationDate : signedDate;
  return {
    store: 'apple',
    id: notificationUUID,
    type: subtype ? `${notificationType}.${subtype}` : notificationType,
    kind,
    // Whatever is not said to be production does not count.
    environment: environments.has('Production') ? 'production' : 'sandbox',
    transactionId: paid.transactionId ?? null,
    originalTransactionId: paid.originalTransactionId ?? null,
    productId: paid.productId ?? null,
    amount: amountOf(kind, paid),
    currency: paid.currency?.toLowerCase() ?? null,
    percentage: kind === 'refund' ? (paid.revocationPercentage ?? WHOLE_PERCENTAGE) : null,
    customerIds: namesOf(paid.appAccountToken),
    ...(nameless ? { warnings: [nameless] } : {}),
    occurredAt: occurredAt ?? signedDate ?? null,
  };
}

/** A UUID is written in any case: Apple sends small letters, and `uuidString` in an app, which may be the `device_id`, has capitals. */
const namesOf = (token: string | null | undefined): string[] =>
  token && placeholderId(token.trim()) === null
    ? [...new Set([token, token.toLowerCase(), token.toUpperCase()])]
    : [];

function amountOf(kind: StoreNotification['kind'], { price }: Transaction): bigint | null {
  if (kind === 'trial') return 0n;
  return kind === 'other' || price === null || price === undefined
    ? null
    : BigInt(price) * NANOS_PER_MILLIUNIT;
}
