import { newId } from '#lib/ids';
import type { OutboundEvent } from '#networks/outbound';
import type { Setup } from './setup.ts';

/** An event that nobody sent, of the first of the destination's types, to try the destination out. */
export function testEventOf({ events, application }: Setup, now: number): OutboundEvent {
  const [type = 'install'] = events;
  const isPurchase = type === 'purchase' || type === 'refund';
  return {
    ...{ id: newId('evt'), type, at: now },
    application: { id: application.id, name: application.name, storeId: application.stores.android },
    ...{ os: 'android', osVersion: '16', appVersion: '1.0', country: 'us', timeZone: 'America/New_York' },
    ...{ deviceId: newId('dev'), advertisingId: null, vendorId: null },
    value: isPurchase || type === 'ad' ? { nanos: 1_990_000_000n, currency: 'usd' } : null,
    purchase: isPurchase ? { transactionId: 'test', productId: 'test' } : null,
    ad: type === 'ad' ? { network: 'test', format: 'banner' } : null,
    properties: {},
    attribution: {
      ...{ network: 'test', method: 'test', clickAt: now, click: {} },
      campaign: { id: 'cmp_test', name: 'Test' },
      adset: { id: 'ads_test', name: 'Test' },
      creative: { id: 'crt_test', name: 'Test' },
    },
    consent: { limitAdTracking: null, attStatus: null, adUserData: null },
  };
}
