import * as z from 'zod';
import { readAs } from '#http';
import { fromBase64 } from '#lib/encoding/base64url';
import { parseJsonBytes } from '#lib/encoding/json-bytes';
import { type StoreNotification, WHOLE_PERCENTAGE } from './notification.ts';

// Real-time developer notifications of Google Play. Source: developer.android.com/google/play/billing/rtdn-reference

const Push = z.object({
  message: z.object({ data: z.string().max(65_536), messageId: z.string().min(1).max(128) }),
});

const text = (max: number) => z.string().max(max).nullish();
const subject = z.object({ notificationType: z.int().nullish(), sku: text(256) });

const Notification = z.object({
  packageName: z.string().max(256),
  eventTimeMillis: z.union([z.int(), z.string().regex(/^\d{1,15}$/)]).nullish(),
  subscriptionNotification: subject.nullish(),
  oneTimeProductNotification: subject.nullish(),
  voidedPurchaseNotification: z
    .object({
      orderId: z.string().min(1).max(128),
      productType: z.int().nullish(),
      refundType: z.int().nullish(),
    })
    .nullish(),
  pendingRefundReviewNotification: z.looseObject({}).nullish(),
  testNotification: z.looseObject({}).nullish(),
});

/** `refundType` of a refund of all; 2 is one of some of several items. */
const FULL_REFUND = 1;

/** What a notification is about, in the API's own words. */
function typeOf(read: z.infer<typeof Notification>): string {
  for (const [name, about] of Object.entries({
    subscription: read.subscriptionNotification,
    oneTimeProduct: read.oneTimeProductNotification,
  })) {
    if (about) return `${name}Notification.${about.notificationType ?? 'unknown'}`;
  }
  const names = [
    'voidedPurchaseNotification',
    'pendingRefundReviewNotification',
    'testNotification',
  ] as const;
  return names.find((name) => read[name]) ?? 'unknown';
}

/**
 * Reads the body of a push whose token was verified (`verifyGoogleToken`). One of another app, or with unreadable contents, counts nothing. Google
 * tells of refunds by the order's id, but of purchases and renewals without an amount: those are `other`. Throws `invalid_request` for what is not a
 * push at all.
 */
export function readGooglePush(body: unknown, packageName: string): StoreNotification {
  const { messageId, data } = readAs(Push, body).message;
  const unread: StoreNotification = {
    ...{ store: 'google', id: messageId, kind: 'other', environment: 'production' },
    type: 'of another app, or unreadable',
    ...{ transactionId: null, originalTransactionId: null, productId: null, amount: null, currency: null },
    ...{ percentage: null, customerIds: [], occurredAt: null },
  };
  const read = Notification.safeParse(parseJsonBytes(fromBase64(data)));
  if (!read.success) return { ...unread, unread: 'is unreadable' };
  if (read.data.packageName !== packageName) return { ...unread, unread: 'is of another app' };
  const voided = read.data.voidedPurchaseNotification;
  const isWhole = (voided?.refundType ?? FULL_REFUND) === FULL_REFUND;
  return {
    ...unread,
    type: typeOf(read.data),
    kind: voided ? 'refund' : 'other',
    environment: read.data.testNotification ? 'sandbox' : 'production',
    transactionId: voided?.orderId ?? null,
    // Renewals are `GPA.….0`, `GPA.….1` of the first order.
    originalTransactionId: voided?.orderId.replace(/\.\.\d+$/, '') ?? null,
    productId: read.data.oneTimeProductNotification?.sku ?? null,
    percentage: voided && isWhole ? WHOLE_PERCENTAGE : null,
    occurredAt: Number(read.data.eventTimeMillis) || null,
  };
}
