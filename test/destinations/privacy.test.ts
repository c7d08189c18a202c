import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ATT_STATUSES } from '#networks';
import type { DestinationSetup, OutboundEvent } from '#networks/outbound';
import { KIND_NAMES, kindOf } from '../../src/destinations/kinds.ts';
import { MACROS } from '../../src/destinations/template.ts';
import { newWebhookSecret } from '../../src/destinations/webhook-signature.ts';
import { everyCase } from '../helpers/properties.ts';
import { outboundEvent } from './events.ts';

// Whatever events tell, some things never leave: addresses, ids where tracking is limited, parameters that nobody named, credentials in the log.

const CREDENTIAL = 'CREDENTIAL-0123456789';
const ALL_MACROS = Object.entries(MACROS)
  .filter(([, { argument, isArgumentOptional }]) => argument === undefined || isArgumentOptional)
  .map(([name]) => `${name}={${name}?}`)
  .join('&');

const SETTINGS: Record<string, Record<string, string>> = {
  webhook: { url: 'https://example.com/hook?key=CREDENTIAL-0123456789', properties: 'level' },
  postback: {
    method: 'POST',
    url: `https://example.com/?${ALL_MACROS}&c={click.fbclid?}&s={click.sub1?}&l={property.level?}&k={secret}`,
    headers: 'Authorization: Bearer {secret}',
    body: '{"key":"{secret}","sub":"{click.sub1?}"}',
  },
  meta: { dataset_id: '1' },
  tiktok: { tiktok_app_id: '1', app_and_ad: 'true' },
  snap: { snap_app_id: '1' },
};

const setupOf = (kind: string): DestinationSetup => ({
  settings: SETTINGS[kind] ?? {},
  credentials: kind === 'postback' ? { secret: CREDENTIAL } : { access_token: CREDENTIAL },
  secrets: [newWebhookSecret()],
  isTest: false,
});

const address = fc.oneof(fc.ipV4(), fc.ipV6());
const HIDDEN_ID = 'hidden-0123456789';
const hiddenName = fc.constantFrom(
  ...[
    'ip',
    'IP',
    'user_ip',
    'ip_address',
    'client_ip',
    'ua',
    'user_agent',
    'userAgent',
    'idfa',
    'gaid',
    'GAID_md5',
  ],
  ...[
    'gps_adid',
    'android_id',
    'ifa',
    'advertising_id',
    'device_id',
    'oaid',
    'idfv',
    'deviceId',
    'advertisingId',
  ],
);

const events: fc.Arbitrary<{ event: OutboundEvent; addresses: string[] }> = fc
  .record({
    clickAddress: address,
    otherAddress: address,
    around: fc.constantFrom('', 'from ', '['),
    hidden: hiddenName,
    own: fc.constantFrom('sub1', 'fbclid', 'ttclid', 'ScCid', 'anything'),
    os: fc.constantFrom('ios', 'android', null),
    type: fc.constantFrom('install', 'purchase', 'ad', 'custom:level_up'),
    consent: fc.record({
      limitAdTracking: fc.option(fc.boolean()),
      attStatus: fc.option(fc.constantFrom(...ATT_STATUSES)),
      adUserData: fc.option(fc.boolean()),
    }),
  })
  .map(({ clickAddress, otherAddress, around, hidden, own, os, type, consent }) => ({
    addresses: [clickAddress, otherAddress],
    event: outboundEvent({
      ...{ os, type, consent },
      advertisingId: 'ADVERTISING-1',
      vendorId: 'VENDOR-1',
      properties: { level: '7', email: 'ann@example.com', ip: otherAddress },
      attribution: {
        ...(outboundEvent().attribution as NonNullable<OutboundEvent['attribution']>),
        click: { ScCid: 'sc-1', [own]: `${around}${clickAddress}`, [hidden]: HIDDEN_ID, campaign_id: '42' },
      },
    }),
  }));

it.each(KIND_NAMES)('%s sends nothing that must not leave, and shows no credential', async (name) => {
  const setup = setupOf(name);
  const kind = kindOf(name);
  let requests = 0;
  await fc.assert(
    fc.asyncProperty(events, async ({ event, addresses }) => {
      const prepared = await kind.prepare(event, setup, Date.UTC(2026, 2, 27));
      if ('skipped' in prepared) return;
      requests += 1;
      const { shown, ...request } = prepared;
      const text = decodeURIComponent(
        JSON.stringify(request).replaceAll(/%(?![\dA-F]{2})/gi, '%25'),
      ).toLowerCase();
      for (const one of addresses) expect(text).not.toContain(one.toLowerCase());
      expect(text).not.toContain(HIDDEN_ID);
      expect(text).not.toContain('ann@example.com');
      const { consent } = event;
      if (consent.limitAdTracking || (consent.attStatus ?? 'authorized') !== 'authorized') {
        expect(text).not.toMatch(/advertising-1|vendor-1/);
      }
      if (name !== 'webhook') expect(consent.adUserData).not.toBe(false);
      if (name !== 'webhook') expect(JSON.stringify(request)).toContain(CREDENTIAL);
      expect(JSON.stringify(shown)).not.toContain(CREDENTIAL);
      expect(Object.keys(shown.headers)).toEqual(Object.keys(request.headers));
    }),
    { plugins: [everyCase] },
  );
  expect(requests).toBeGreaterThan(10);
});

it.each(KIND_NAMES)('%s has a label for every field, and takes its own settings', (name) => {
  const { labels, settings, credentials, describe } = kindOf(name);
  const fields = [...Object.keys(settings.shape), ...Object.keys(credentials.shape)];
  expect(Object.keys(labels).sort()).toEqual(fields.sort());
  expect(settings.safeParse(SETTINGS[name]).error).toBeUndefined();
  const setup = setupOf(name);
  expect(describe(setup)).not.toContain(CREDENTIAL);
  expect(describe(setup)).not.toBe('');
});
