import { describe, expect, it } from 'vitest';
import type { DestinationKind, DestinationSetup, OutboundEvent } from '#networks/outbound';
import { meta } from '../../src/networks/outbound/meta.ts';
import { snap } from '../../src/networks/outbound/snap.ts';
import { tiktok } from '../../src/networks/outbound/tiktok.ts';
import { outboundEvent, requestOf } from './events.ts';

const TOKEN = 'EAAB-secret/token';
const SETTINGS = {
  meta: { dataset_id: '1234567890' },
  tiktok: { tiktok_app_id: '7123' },
  snap: { snap_app_id: 'snap-1' },
};
const setup = (
  kind: keyof typeof SETTINGS,
  more: Record<string, string> = {},
  isTest = false,
): DestinationSetup => ({
  settings: { ...SETTINGS[kind], ...more },
  credentials: { access_token: TOKEN },
  secrets: [],
  isTest,
});
const KINDS: Record<keyof typeof SETTINGS, DestinationKind> = { meta, tiktok, snap };
const NAMES = Object.keys(KINDS) as (keyof typeof SETTINGS)[];

async function sent(
  kind: keyof typeof SETTINGS,
  event: Partial<OutboundEvent> = {},
  { more, isTest = false }: { more?: Record<string, string>; isTest?: boolean } = {},
) {
  const request = await requestOf(KINDS[kind].prepare(outboundEvent(event), setup(kind, more, isTest), 0));
  const body = JSON.parse(request.body ?? '');
  return { ...request, json: body, conversion: body.data[0] };
}
const skipped = async (
  kind: keyof typeof SETTINGS,
  event: Partial<OutboundEvent>,
  more = {},
  isTest = false,
) => {
  const prepared = await KINDS[kind].prepare(outboundEvent(event), setup(kind, more, isTest), 0);
  return 'skipped' in prepared ? prepared.skipped : null;
};

// `printf %s dev_1 | sha256sum`, and of the advertising ids, in lower case.
const EXTERNAL_ID = '9f32e2436dd0db4a5737ca5611fa747d77a7273309877c94881b38d42a2c98fe';
const GAID_SHA256 = 'f23b554b2a8fb732a8b973733832e70f018da7bc294dfea289735a07d5dd2c9f';
const GAID = 'cdda802e-fb9c-47ad-9866-0794d394c912';
const onIos = {
  os: 'ios',
  osVersion: '18.2',
  vendorId: 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F',
  consent: { limitAdTracking: null, attStatus: 'authorized', adUserData: null },
} as const;

describe('Meta', () => {
  it('is told of a purchase as its documentation says', async () => {
    const { method, url, headers, json, shown } = await sent('meta');
    expect([method, headers]).toEqual(['POST', { 'Content-Type': 'application/json' }]);
    expect(url).toBe('https://graph.facebook.com/v24.0/1234567890/events?access_token=EAAB-secret%2Ftoken');
    expect(shown.url).toBe('https://graph.facebook.com/v24.0/1234567890/events?access_token=***');
    expect(json).toEqual({
      data: [
        {
          event_name: 'Purchase',
          event_time: 1_774_612_800,
          event_id: outboundEvent().id,
          action_source: 'app',
          user_data: {
            anon_id: 'dev_1',
            external_id: [EXTERNAL_ID],
            madid: GAID,
            fbc: `fb.1.${Date.UTC(2026, 2, 27, 11)}.abc`,
          },
          app_data: {
            advertiser_tracking_enabled: 1,
            application_tracking_enabled: 1,
            extinfo: [
              'a2',
              'com.example.puzzle',
              '1.2.3',
              '1.2.3',
              '16',
              '',
              '',
              '',
              '',
              '',
              '',
              '',
              '',
              '',
              '',
              'Europe/Berlin',
            ],
          },
          custom_data: { value: 4.99, currency: 'EUR', order_id: 'GPA.3345-1122' },
        },
      ],
    });
  });

  it.each([
    ['install', 'MobileAppInstall'],
    ['ad', 'AdImpression'],
    ['retention', 'ActivateApp'],
    ['custom:level_up', 'level_up'],
  ])('calls %s %s', async (type, name) => {
    expect((await sent('meta', { type, value: null, purchase: null })).conversion).toMatchObject({
      event_name: name,
      custom_data: {},
    });
  });

  it('has exactly 16 texts in extinfo, whatever is unknown', async () => {
    const unknown = { appVersion: null, timeZone: null, application: { id: 'a', name: 'n', storeId: null } };
    for (const event of [unknown, { ...onIos, ...unknown }, onIos]) {
      const { extinfo } = (await sent('meta', event)).conversion.app_data;
      expect(extinfo).toHaveLength(16);
      expect(extinfo.filter((one: unknown) => typeof one !== 'string')).toEqual([]);
    }
    expect((await sent('meta', onIos)).conversion.app_data.extinfo.slice(0, 5)).toEqual([
      'i2',
      'com.example.puzzle',
      '1.2.3',
      '1.2.3',
      '18.2',
    ]);
    expect(await skipped('meta', { osVersion: null })).toMatch(/version of the OS/);
  });

  it.each([
    [200, { events_received: 1, messages: [], fbtrace_id: 'x' }, { isDelivered: true }],
    [200, { events_received: 0 }, { isDelivered: false, retry: false }],
    [
      400,
      { error: { code: 190, message: 'Error validating access token' } },
      { isDelivered: false, retry: false, reason: 'Meta: Error validating access token (190)' },
    ],
    [400, { error: { code: 100, message: 'Invalid parameter' } }, { isDelivered: false, retry: false }],
    [400, { error: { code: 100, is_transient: true } }, { isDelivered: false, retry: true }],
    ...[1, 2, 4, 17, 32, 341, 613, 80_000, 80_003, 80_006, 80_014].map(
      (code) => [400, { error: { code, message: 'later' } }, { isDelivered: false, retry: true }] as const,
    ),
    [500, { error: { code: 99 } }, { isDelivered: false, retry: true }],
    [200, { error: { code: 190, message: 'no' } }, { isDelivered: false, retry: false }],
    [200, 'an HTML page', { isDelivered: false, retry: true }],
    [404, 'not found', { isDelivered: false, retry: false }],
    [503, '', { isDelivered: false, retry: true }],
    [302, '', { isDelivered: false, retry: true }],
  ] as const)('answers %i %o', (status, body, expected) => {
    expect(meta.read({ status, headers: new Headers(), body: text(body) }, 0)).toMatchObject(expected);
  });
});

const text = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

describe('TikTok', () => {
  it('is told of a purchase as its documentation says', async () => {
    const { method, url, headers, json, shown } = await sent('tiktok');
    expect([method, url]).toEqual(['POST', 'https://business-api.tiktok.com/open_api/v1.3/event/track/']);
    expect(headers).toEqual({ 'Content-Type': 'application/json', 'Access-Token': TOKEN });
    expect(shown.headers).toEqual({ 'Content-Type': 'application/json', 'Access-Token': '***' });
    expect(json).toEqual({
      event_source: 'app',
      event_source_id: '7123',
      data: [
        {
          event: 'Purchase',
          event_time: 1_774_612_800,
          event_id: outboundEvent().id,
          user: { external_id: [EXTERNAL_ID], gaid: GAID_SHA256, att_status: 'NOT_APPLICABLE' },
          properties: { value: 4.99, currency: 'EUR', contents: [{ content_id: 'gems_500' }] },
          limited_data_use: false,
        },
      ],
    });
  });

  it('is told the IDFA hashed in lower case, and the answer to the dialog', async () => {
    const event = { ...onIos, advertisingId: GAID.toUpperCase() };
    expect((await sent('tiktok', event)).conversion.user).toMatchObject({
      idfa: GAID_SHA256,
      idfv: onIos.vendorId,
      att_status: 'AUTHORIZED',
    });
    const denied = {
      ...event,
      consent: { limitAdTracking: null, attStatus: 'denied', adUserData: null },
    } as const;
    const { user, limited_data_use } = (await sent('tiktok', denied)).conversion;
    expect(user).toEqual({ external_id: [EXTERNAL_ID], att_status: 'DENIED' });
    expect(limited_data_use).toBe(true);
  });

  it('is told of the application and the click only where the settings say so', async () => {
    const attribution = {
      ...outboundEvent().attribution,
      network: 'tiktok',
      click: { ttclid: 'tt-1' },
    } as never;
    expect((await sent('tiktok', { attribution })).conversion).not.toHaveProperty('ad');
    expect(
      (await sent('tiktok', { attribution }, { more: { app_and_ad: 'true' } })).conversion,
    ).toMatchObject({
      app: { app_id: 'com.example.puzzle', app_name: 'Puzzle', app_version: '1.2.3' },
      ad: { callback: 'tt-1', attributed: true },
    });
  });

  it.each([
    [200, { code: 0, message: 'OK' }, { isDelivered: true }],
    [
      200,
      { code: 40_001, message: 'No permission' },
      { isDelivered: false, retry: false, reason: 'TikTok: No permission (40001)' },
    ],
    [200, { code: 40_105, message: 'Access token is incorrect' }, { isDelivered: false, retry: false }],
    [200, { code: 20_001, message: 'Partial success' }, { isDelivered: false, retry: false }],
    [200, { code: 40_100, message: 'Requests made too frequently' }, { isDelivered: false, retry: true }],
    [200, { code: 40_133, message: 'QPS limit reached' }, { isDelivered: false, retry: true }],
    [200, { code: 50_000, message: 'System error' }, { isDelivered: false, retry: true }],
    [200, { message: 'OK' }, { isDelivered: false, retry: true }],
    [200, '', { isDelivered: false, retry: true }],
    [502, 'Bad gateway', { isDelivered: false, retry: true }],
  ])('answers %i %o', (status, body, expected) => {
    expect(tiktok.read({ status, headers: new Headers(), body: text(body) }, 0)).toMatchObject(expected);
  });
});

describe('Snap', () => {
  it('is told of a purchase as its documentation says', async () => {
    const attribution = {
      ...outboundEvent().attribution,
      network: 'snap',
      click: { ScCid: 'sc-1' },
    } as never;
    const { method, url, json, shown } = await sent('snap', { attribution });
    expect([method, url]).toEqual([
      'POST',
      'https://tr.snapchat.com/v3/snap-1/events?access_token=EAAB-secret%2Ftoken',
    ]);
    expect(shown.url).toBe('https://tr.snapchat.com/v3/snap-1/events?access_token=***');
    expect(json.data).toEqual([
      {
        event_name: 'PURCHASE',
        event_time: outboundEvent().at,
        event_id: outboundEvent().id,
        action_source: 'app',
        user_data: { sc_click_id: 'sc-1', madid: GAID, external_id: [EXTERNAL_ID] },
        app_data: {
          app_id: 'com.example.puzzle',
          advertiser_tracking_enabled: 1,
          application_tracking_enabled: 1,
          extinfo: expect.objectContaining({ length: 16 }),
        },
        custom_data: { value: 4.99, currency: 'EUR', order_id: 'GPA.3345-1122' },
      },
    ]);
  });

  it('is not told of an event that it could not match', async () => {
    expect(await skipped('snap', { advertisingId: null })).toMatch(/neither a click id of Snap/);
  });

  it.each([
    [200, { status: 'VALID' }, { isDelivered: true }],
    [200, '', { isDelivered: true }],
    [
      200,
      { status: 'INVALID', reason: 'Missing parameter' },
      { isDelivered: false, retry: false, reason: 'Snap: Missing parameter (INVALID)' },
    ],
    [400, { status: 'INVALID' }, { isDelivered: false, retry: false }],
    [401, '', { isDelivered: false, retry: false }],
    [429, '', { isDelivered: false, retry: true }],
    [500, '', { isDelivered: false, retry: true }],
  ])('answers %i %o', (status, body, expected) => {
    expect(snap.read({ status, headers: new Headers(), body: text(body) }, 0)).toMatchObject(expected);
  });
});

describe.each(NAMES)('every conversions API: %s', (kind) => {
  const attribution = { ...outboundEvent().attribution, click: { ScCid: 'sc-1' } } as never;

  it('says that nobody has run it, and where its facts are from', () => {
    expect(KINDS[kind].unverified).toMatch(/^Nobody has run this against /);
    expect(URL.canParse(KINDS[kind].source)).toBe(true);
  });

  it('sends a test with its code alone, and no test without one', async () => {
    expect(
      (await sent(kind, {}, { more: { test_event_code: 'TEST1' }, isTest: true })).json.test_event_code,
    ).toBe('TEST1');
    expect((await sent(kind, {}, { more: { test_event_code: 'TEST1' } })).json).not.toHaveProperty(
      'test_event_code',
    );
    expect(await skipped(kind, {}, {}, true)).toMatch(/test event code/);
  });

  it('tells no advertising id where tracking is limited, and that it is', async () => {
    for (const consent of [
      { limitAdTracking: true, attStatus: null, adUserData: null },
      { limitAdTracking: null, attStatus: 'denied', adUserData: true } as const,
      { limitAdTracking: null, attStatus: 'not_determined', adUserData: null } as const,
    ]) {
      for (const os of ['ios', 'android']) {
        const { body, conversion } = await sent(kind, { os, consent, attribution, vendorId: 'VENDOR-1' });
        expect(body).not.toMatch(new RegExp(`${GAID}|${GAID_SHA256}|VENDOR-1`, 'i'));
        if (kind !== 'tiktok') expect(conversion.app_data.advertiser_tracking_enabled).toBe(0);
      }
    }
  });

  it('tells that tracking is not allowed on iOS if nobody says that it is', async () => {
    const unknown = {
      ...onIos,
      consent: { limitAdTracking: null, attStatus: null, adUserData: null },
      attribution,
    };
    const allowed = async (event: Partial<OutboundEvent>) => {
      const { app_data, user } = (await sent(kind, event)).conversion;
      return kind === 'tiktok' ? user.att_status : app_data.advertiser_tracking_enabled;
    };
    expect(await allowed({ ...unknown, advertisingId: null })).toBe(kind === 'tiktok' ? 'NOT_DETERMINED' : 0);
    expect(await allowed(unknown)).toBe(kind === 'tiktok' ? 'AUTHORIZED' : 1);
  });

  it.each([
    [{ consent: { limitAdTracking: null, attStatus: null, adUserData: false } }, /ad_user_data/],
    [{ deviceId: null }, /no device/],
    [{ os: 'macos' }, /iOS and Android/],
    [{ type: 'refund' }, /has no name for refund/],
    [{ value: null }, /no amount/],
  ] as [Partial<OutboundEvent>, RegExp][])('skips %o', async (event, reason) => {
    expect(await skipped(kind, event)).toMatch(reason);
  });

  it('calls events as the settings say', async () => {
    const more = { event_names: 'custom:level_up = Level\n purchase=Bought' };
    const body = async (type: string) => (await sent(kind, { type, attribution }, { more })).conversion;
    const name = (conversion: Record<string, string>) => conversion.event_name ?? conversion.event;
    expect(name(await body('custom:level_up'))).toBe('Level');
    expect(name(await body('purchase'))).toBe('Bought');
    const read = (event_names: string) =>
      KINDS[kind].settings.safeParse({ ...SETTINGS[kind], event_names }).error?.issues[0]?.message;
    expect(read(more.event_names)).toBeUndefined();
    expect(read('level_up')).toMatch(/custom:level_up = LevelAchieved/);
  });

  it('limits the use of data if the settings say so', async () => {
    const { conversion } = await sent(kind, {}, { more: { limited_data_use: 'true' } });
    expect(conversion).toMatchObject(
      kind === 'tiktok' ? { limited_data_use: true } : { data_processing_options: ['LDU'] },
    );
    expect((await sent(kind)).conversion).not.toHaveProperty('data_processing_options');
  });
});
