import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { kindOf } from '../../src/destinations/kinds.ts';
import { toOutbound } from '../../src/destinations/object/outbound-event.ts';
import { requestOf } from './events.ts';

const application = { id: newId('app'), name: 'Puzzle', stores: { ios: '1', android: 'com.example.puzzle' } };
const setup = {
  settings: { url: 'https://hooks.example.com/' },
  credentials: {},
  secrets: ['whsec_AAAA'],
  isTest: false,
};

const impression: LoggedEvent = {
  ...{ type: 'mediation.ad', id: newId('evt'), application_id: application.id, day: '2026-03-02' },
  ...{ occurred_at: Date.parse('2026-03-02T12:00:00Z'), received_at: 0, country: 'de', creative_id: null },
  ...{ ad_id: 'p1', source: 'banner', media_source: 'unity_ads', value_nanos: 12_500_000, currency: 'usd' },
};

it('tells a webhook of an impression without device, and claims neither a device nor an ad', async () => {
  const event = toOutbound({ type: 'ad', event: impression, device: null }, application, {
    creative: undefined,
    click: undefined,
  });
  const { body } = await requestOf(kindOf('webhook').prepare(event, setup, 0));
  const { type, timestamp, data } = JSON.parse(body ?? '');
  expect({ type, timestamp }).toEqual({ type: 'ad', timestamp: '2026-03-02T12:00:00.000Z' });
  expect(data).toEqual({
    event_id: impression.id,
    application: { id: application.id, name: 'Puzzle', store_id: null },
    device: {
      ...{ id: null, os: null, os_version: null, app_version: null, country: 'DE', time_zone: null },
      ...{ advertising_id: null, vendor_id: null },
    },
    ...{ value: 0.0125, currency: 'usd', purchase: null, properties: {}, attribution: null },
    ad: { network: 'unity_ads', format: 'banner' },
    consent: { lat: null, att_status: null, ad_user_data: null },
  });
});

it.each(['meta', 'tiktok', 'snap'])('does not send %s an impression without device', async (kind) => {
  const event = toOutbound({ type: 'ad', event: impression, device: null }, application, {
    creative: undefined,
    click: undefined,
  });
  expect(await kindOf(kind).prepare(event, setup, 0)).toEqual({ skipped: 'The event belongs to no device' });
});
