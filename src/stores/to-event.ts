import type { StoreEvent } from '#catalogue';
import type { NamedDevice } from '#devices';
import { NANOS_LIMIT } from '#lib/money';
import { eventTimes } from '#lib/time';
import { EARLIEST } from '#lib/timestamp';
import { type StoreNotification, WHOLE_PERCENTAGE } from './notification.ts';

type Counted = Exclude<StoreNotification['kind'], 'other'>;

const STATUS = {
  purchase: 'purchase',
  renewal: 'renewal',
  trial: 'trial',
  refund: 'refunded',
  refund_reversed: 'refund_reversed',
} as const satisfies Record<Counted, StoreEvent['status']>;

const OS = { apple: 'ios', google: 'android', revenuecat: undefined } as const;
/** ISO 4217: no currency. Of a refund of all of a payment, whatever its currency. */
const NO_CURRENCY = 'xxx';

/** What a notification takes or gives back: null if the store does not say how much, 0 if it is all that is left. */
function backOf({ kind, amount, percentage }: StoreNotification): bigint | null {
  if (kind === 'refund_reversed') return 0n;
  if (percentage === null) return null;
  if (percentage === WHOLE_PERCENTAGE) return 0n;
  return amount === null ? null : (amount * BigInt(percentage)) / BigInt(WHOLE_PERCENTAGE);
}

const isBack = ({ kind }: StoreNotification) => kind === 'refund' || kind === 'refund_reversed';

/** Why a notification is not counted; null if it is. */
export function reasonNotCounted(notification: StoreNotification): string | null {
  const { kind, environment, transactionId, currency, unread } = notification;
  if (unread) return unread;
  if (environment === 'sandbox') return 'is of the sandbox';
  if (kind === 'other') return 'tells of no payment or refund with an amount';
  if (transactionId === null) return 'names no transaction';
  const amount = isBack(notification) ? backOf(notification) : notification.amount;
  if (amount === null) return 'has no amount';
  if (amount >= BigInt(NANOS_LIMIT)) return 'has an amount that is too large';
  return amount > 0n && currency === null ? 'has no currency' : null;
}

/** The event that counts a notification, which `reasonNotCounted` has none for. */
export function toStoreEvent(
  notification: StoreNotification,
  {
    id,
    application,
    device,
    shard,
    now,
  }: {
    id: string;
    application: { id: string; timezone: string };
    device: NamedDevice | null;
    shard: number;
    now: number;
  },
): StoreEvent {
  const { store, kind, amount, currency, transactionId, originalTransactionId, productId } = notification;
  const occurred = notification.occurredAt ?? now;
  const isUntimely = occurred < EARLIEST || occurred > now;
  const occurredAt = isUntimely ? now : occurred;
  const untimely = { path: '', message: 'is of a time that cannot be; dated when received' };
  const warnings = [...(notification.warnings ?? []), ...(isUntimely ? [untimely] : [])];
  const nanos = isBack(notification) ? backOf(notification) : amount;
  const os = device?.os || OS[store];
  return {
    type: 'store',
    id,
    application_id: application.id,
    ...eventTimes(application.timezone, occurredAt, now),
    store,
    status: STATUS[kind as Counted],
    ...(productId ? { item_id: productId } : {}),
    value_nanos: Number(nanos),
    currency: currency ?? NO_CURRENCY,
    tr_id: transactionId ?? '',
    ...(originalTransactionId && originalTransactionId !== transactionId
      ? { original_tr_id: originalTransactionId }
      : {}),
    creative_id: device?.creativeId ?? null,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(shard ? { shard } : {}),
    ...(device ? { device_id: device.id, acquired_day: device.acquiredDay } : {}),
    ...(device?.country ? { country: device.country } : {}),
    ...(os ? { os_family: os } : {}),
    ...(device?.network ? { network: device.network } : {}),
  };
}
