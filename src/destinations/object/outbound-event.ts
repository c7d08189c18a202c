import { parseOs } from '#attribution';
import { segmentWithoutDevice } from '#catalogue';
import type { OutboundItem } from '#counting';
import { idTime } from '#lib/ids';
import type { OutboundEvent } from '#networks/outbound';
import { consentOf, withoutWithheldIds } from '#networks/outbound/consent';
import type { AdNames } from './names.ts';
import type { Setup } from './setup.ts';

/** What was looked up of it. */
type Known = {
  creative: AdNames | undefined;
  click: Readonly<Record<string, string>> | undefined;
};

/** The fields of every kind of event that may be sent. */
type SendableFields = {
  [Name in 'device_id' | 'currency' | 'item_id' | 'tr_id' | 'source' | 'media_source']?: string | undefined;
} & {
  value_nanos?: number | undefined;
  params?: Record<string, string> | undefined;
  device?: Record<string, string> | undefined;
};

const orNull = <Value>(value: Value | '' | undefined): Value | null =>
  value === undefined || value === '' ? null : value;

/** A purchase may be free. Otherwise 0 is no amount: a refund of all of a purchase that was not known, and an impression of unknown revenue. */
function amountOf(type: string, { value_nanos, currency }: SendableFields): OutboundEvent['value'] {
  if (!currency || value_nanos === undefined || (value_nanos === 0 && type !== 'purchase')) return null;
  return { nanos: BigInt(value_nanos), currency };
}

function attributionOf(
  { event, device }: OutboundItem,
  network: string,
  { creative, click }: Known,
): OutboundEvent['attribution'] {
  if (event.creative_id === null) return null;
  const { method = '', click_id } = device?.attribution ?? {};
  return {
    network: orNull(network),
    ...{ campaign: null, adset: null, creative: null, ...creative },
    method,
    clickAt: click_id ? idTime(click_id) : null,
    click: click ?? {},
  };
}

const storeIdOf = ({ stores }: Setup['application'], os: string): string | null =>
  os === 'android' ? stores.android : os === 'ios' ? stores.ios : null;

/** What a destination is told of an event. Pure. */
export function toOutbound(
  item: OutboundItem,
  application: Setup['application'],
  known: Known,
): OutboundEvent {
  const { type, event, device } = item;
  const told: SendableFields = event;
  const segment = device?.segment ?? segmentWithoutDevice(event);
  const isPurchase = type === 'purchase' || type === 'refund';
  return withoutWithheldIds({
    ...{ id: event.id, type, at: event.occurred_at },
    application: { id: application.id, name: application.name, storeId: storeIdOf(application, segment.os) },
    os: orNull(segment.os),
    osVersion: device ? parseOs(device.osSystem).version : null,
    appVersion: orNull(told.device?.app_version ?? segment.app_version),
    country: orNull(segment.country),
    timeZone: orNull(device?.timezone),
    deviceId: told.device_id ?? null,
    advertisingId: orNull(told.device?.advertising_id),
    vendorId: orNull(told.device?.vendor_id),
    value: amountOf(type, told),
    purchase: isPurchase ? { transactionId: orNull(told.tr_id), productId: orNull(told.item_id) } : null,
    ad: type === 'ad' ? { network: orNull(told.media_source), format: orNull(told.source) } : null,
    properties: told.params ?? {},
    attribution: attributionOf(item, segment.network, known),
    consent: consentOf(
      told.device,
      device?.consent,
      device?.consentAt !== undefined && device.consentAt > event.occurred_at,
    ),
  });
}
