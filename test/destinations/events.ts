import type { OutboundEvent, OutboundRequest, PreparedRequest } from '#networks/outbound';

/** A purchase on a device that a click on Meta's ad led to. */
export const outboundEvent = (changes: Partial<OutboundEvent> = {}): OutboundEvent => ({
  id: 'evt_0195d1f0a4c07c3f8a1b2c3d4e5f6a7b',
  type: 'purchase',
  at: Date.UTC(2026, 2, 27, 12, 0, 0, 250),
  application: { id: 'app_1', name: 'Puzzle', storeId: 'com.example.puzzle' },
  os: 'android',
  osVersion: '16',
  appVersion: '1.2.3',
  country: 'de',
  timeZone: 'Europe/Berlin',
  deviceId: 'dev_1',
  advertisingId: 'CDDA802E-fb9c-47ad-9866-0794d394c912',
  vendorId: null,
  value: { nanos: 4_990_000_000n, currency: 'eur' },
  purchase: { transactionId: 'GPA.3345-1122', productId: 'gems_500' },
  ad: null,
  properties: {},
  attribution: {
    network: 'meta',
    campaign: { id: 'cmp_1', name: 'Spring' },
    adset: { id: 'ads_1', name: 'Broad' },
    creative: { id: 'crt_1', name: 'Cat video' },
    method: 'click_id',
    clickAt: Date.UTC(2026, 2, 27, 11),
    click: { fbclid: 'abc', campaign_id: '42' },
  },
  consent: { limitAdTracking: null, attStatus: null, adUserData: null },
  ...changes,
});

/** The request of an event that is sent. Throws for one that is skipped. */
export async function requestOf(
  prepared: PreparedRequest | Promise<PreparedRequest>,
): Promise<OutboundRequest> {
  const made = await prepared;
  if ('skipped' in made) throw new Error(`Skipped: ${made.skipped}`);
  return made;
}
