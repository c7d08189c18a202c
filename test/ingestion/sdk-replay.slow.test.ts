import { beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '#lib/time';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What the official SDKs send, field by field, each with its own ideas of a time, a version and a missing value. Every form gives a
// token, and every event stands in the totals.

const worker = startWorker();
let tenant: Tenant;

beforeEach(async () => {
  tenant = await createTenant();
});

const DAY = '2026-03-02';
const CREATED_AT = `${DAY} 10:00:00`;

/** What the Unity SDK says of itself and of the installation, with device metrics and events alike. */
const unityInstallation = {
  sdk_version: '1.2.0',
  sdk_type: 'unity',
  app_version: '2.14.0',
  unity_version: '2022.3.20f1',
  dev: false,
  ifv: null,
  ga: 'a3d1c7de-0b53-44a2-9a5a-2f2b6f3a9a10',
  asid: '6f0f2b5e-58f6-4a34-9f0e-0f4f8b2a9d11',
  aid: '9774d56d682e549c',
  lat: false,
  wp: { vip: true, level: 3 },
  bp: {},
};

/** The Unity SDK of an Android game: identities at the top level, the moment in place of a time zone. */
const unityMetrics = {
  type: 'device-metrics',
  data: {
    device_name: '<unknown>',
    dpi: 420,
    gpu_rendered: '100864256',
    gpu_vendor: 'ARM',
    gpu_version: 'OpenGL ES 3.2 v1.r38p1',
    gpu_content: '{ GraphicsDeviceID = 100864256, GraphicsDeviceVersion = OpenGL ES 3.2 v1.r38p1 }',
    window_height: 2400,
    legacy_height: 2400,
    window_width: 1080,
    legacy_width: 1080,
    installed_fonts: ['AndroidClock', 'Roboto-Regular'],
    low_battery_level: false,
    os_system: 'Android OS 14 / API-34 (UP1A.231005.007/S911BXXU3)',
    device_model: 'samsung SM-S911B',
    timezone: '2026-03-01T09:00:00.0580000Z',
  },
  created_at: '2026-03-01 09:00:00',
  ...unityInstallation,
};

/** The iOS SDK sends decimal numbers and omits fields without a value. */
const iosMetrics = {
  type: 'device-metrics',
  data: {
    device_name: 'iPhone',
    dpi: 489,
    gpu_rendered: 'Apple A17 Pro GPU',
    gpu_vendor: 'Apple',
    gpu_version: 'Metal',
    window_height: 2556,
    window_width: 1179,
    installed_fonts: ['Helvetica'],
    low_battery_level: true,
    os_system: 'iOS 18.1',
    device_model: 'iPhone16,1',
    timezone: 'Europe/Helsinki',
  },
  created_at: '2026-03-01 09:00:00',
  sdk_version: '1.0.3',
  sdk_type: 'ios',
  app_version: '2.14.0',
  dev: false,
  ifv: 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F',
  lat: true,
  wp: {},
  bp: { email: 'a@b.test' },
};

/** The web SDK: fractions of pixels, an ISO time, a version without its system. */
const webMetrics = {
  type: 'device-metrics',
  data: {
    device_name: 'iPhone',
    dpi: 0,
    gpu_vendor: 'Apple Inc.',
    gpu_version: 'WebGL 2.0',
    gpu_content: null,
    window_height: 2531.9999,
    legacy_height: 844,
    window_width: 1170.25,
    legacy_width: 390,
    installed_fonts: [],
    os_system: '18_1',
    device_model: 'Unknown',
    timezone: '2026-03-01T09:00:00.058Z',
  },
  created_at: '2026-03-01T09:00:00.058Z',
};

/** A version alone, beside a name and a model that tell the system. */
const versionOnly = {
  ...webMetrics,
  data: { ...webMetrics.data, os_system: '18.1', device_name: 'iOS', device_model: 'iPhone' },
};

async function token(metrics: unknown): Promise<string> {
  const answer = await worker.post(tenant, '/fetch-token', metrics);
  const body = await answer.json<{ token: string }>();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return body.token;
}

/** Makes the events of an SDK from the fields that it sends with every event. */
const envelopeOf =
  (sdk: Record<string, unknown>) =>
  (creativeToken: string, type: string, payload: unknown, more: Record<string, unknown> = {}) => ({
    type,
    eid: crypto.randomUUID(),
    created_at: CREATED_AT,
    creativeToken,
    ...sdk,
    payload,
    ...more,
  });

const unityEvent = envelopeOf({
  dk: null,
  device_name: '<unknown>',
  device_model: 'samsung SM-S911B',
  os_system: 'Android OS 14 / API-34 (UP1A.231005.007/S911BXXU3)',
  utc_offset: '+02:00',
  retention_day: 1,
  ...unityInstallation,
});

/** As the iOS SDK's envelope: an offset in hours, absent fields left out. */
const iosEvent = envelopeOf({
  device_name: 'iPhone',
  device_model: 'iPhone16,1',
  os_system: 'iOS 18.1',
  utc_offset: -7.5,
  sdk_version: '1.0.3',
  app_version: '2.14.0',
  sdk_type: 'ios',
  dev: false,
  wp: {},
  bp: {},
});

/** As the web SDK's: no ids, and an empty text for the day number that it does not know. */
const webEvent = envelopeOf({
  eid: undefined,
  device_name: 'iPhone',
  device_model: 'Unknown',
  os_system: '18_1',
  utc_offset: '-07:00',
  retention_day: '',
});

const SDKS: [name: string, metrics: unknown, event: ReturnType<typeof envelopeOf>][] = [
  ['Unity', unityMetrics, unityEvent],
  ['iOS', iosMetrics, iosEvent],
  ['web', webMetrics, webEvent],
];

async function send(event: unknown): Promise<{ event_id: string; warnings?: { path: string }[] }> {
  const answer = await worker.post(tenant, '/webhook', event);
  const body = await answer.json<{ event_id: string }>();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return body;
}

async function totals(
  from = '2026-03-01',
  to = '2026-03-05',
  more = '',
): Promise<Record<string, number | null>> {
  await worker.deliver(worker.queue.take());
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${from}&to=${to}${more}`;
  return (await (await worker.team(tenant, path)).json<{ totals: Record<string, number> }>()).totals;
}

async function listed(type: string): Promise<Record<string, unknown>[]> {
  const path = `/v1/events?application_id=${tenant.application.id}&type=${type}`;
  return (await (await worker.team(tenant, path)).json<{ data: Record<string, unknown>[] }>()).data;
}

const ad = (more: Record<string, unknown> = {}) => ({
  ad_id: 'rewarded_main',
  name: 'Rewarded video',
  source: 'rewarded',
  watch_time: 30,
  reward: true,
  media_source: 'applovin',
  channel: 'default',
  value: 0.0125,
  currency: 'USD',
  total_ad_value: 0.0125,
  ...more,
});

/** Google Play's transaction ids are this long. */
const TRANSACTION = `${'kplfnmjhdbboeafcnhplkcgg.AO-J1Ox'}${'aB3_'.repeat(30)}`;
const purchase = (more: Record<string, unknown> = {}) => ({
  item_id: 'gems_500',
  item_name: '500 gems',
  value: 4.99,
  currency: 'USD',
  status: 'Completed',
  total_purchase_value: 4.99,
  tr_id: TRANSACTION,
  ...more,
});

describe('a device of', () => {
  it.each([
    ...SDKS.map(([name, metrics]) => [name, metrics] as const),
    ['another SDK, with a version alone', versionOnly] as const,
  ])('%s gets a token that is valid and is one install', async (_, metrics) => {
    const given = await token(metrics);
    expect((await totals()).installs).toBe(1);
    const verified = await worker.post(tenant, '/verify-token', { token: given });
    expect(await verified.json()).toMatchObject({ success: true, valid: true });
  });

  it('recognises a repeated call by the id of the installation', async () => {
    await token(unityMetrics);
    await token({ ...unityMetrics, ga: null, created_at: '2026-03-04 09:00:00' });
    expect((await totals()).installs).toBe(1);
    await token({ ...unityMetrics, asid: null, ga: '00000000-0000-0000-0000-000000000000' });
    expect((await totals()).installs).toBe(2);
  });
});

describe.each(SDKS)('the %s SDK', (_, metrics, event) => {
  it('reports visits, ads, purchases and custom events', async () => {
    const given = await token(metrics);
    await send(event(given, 'retention', { retentionDay: '1', backfillDay: '0' }));
    await send(event(given, 'custom.ad', ad()));
    await send(event(given, 'custom.purchase', purchase()));
    await send(
      event(given, 'custom', {
        en: 'level_up',
        pr: { level: 3, items: ['a', 'b'], boss: { name: 'x', hp: 0.5 } },
      }),
    );
    expect(await totals()).toMatchObject({
      installs: 1,
      sessions: 1,
      impressions: 1,
      ad_revenue: 0.0125,
      purchases: 1,
      purchase_revenue: 4.99,
      events: 1,
    });
    expect(await listed('custom')).toMatchObject([
      { event_name: 'level_up', params: { level: '3', items: '["a","b"]', boss: '{"name":"x","hp":0.5}' } },
    ]);
  });
});

describe('the Unity SDK', () => {
  let given: string;
  beforeEach(async () => {
    given = await token(unityMetrics);
  });

  it('counts a session and its length once', async () => {
    const sid = crypto.randomUUID();
    await send(unityEvent(given, 'session', { a: 'start', sid, si: 4 }));
    await send(
      unityEvent(given, 'session', { a: 'end', r: 'background_timeout', sid, si: 4, sd: 312.54998779296875 }),
    );
    expect((await totals()).sessions).toBe(1);
    const sessions = await listed('retention');
    expect(sessions).toHaveLength(2);
    expect(sessions).toContainEqual(
      expect.objectContaining({ session_id: sid, session_end: true, session_seconds: 313 }),
    );
  });

  it('counts a launch once that its session and its retention event both tell, in any order and batch', async () => {
    const start = (day: number, sid: string = crypto.randomUUID()) =>
      unityEvent(given, 'session', { a: 'start', sid, si: 1 }, { created_at: `2026-03-0${day} 10:00:00` });
    const visit = (day: number) =>
      unityEvent(
        given,
        'retention',
        { retentionDay: String(day - 1), backfillDay: '0' },
        { created_at: `2026-03-0${day} 10:00:01` },
      );
    await send(start(2));
    await send(visit(2));
    expect((await totals()).sessions).toBe(1);
    await send(visit(3));
    expect((await totals()).sessions).toBe(2);
    const [launched, late] = [start(3), visit(2)];
    await send(launched);
    await send(launched);
    expect((await totals()).sessions).toBe(2);
    // A second launch of a day, and its retention event in a later run.
    await send(start(2));
    expect((await totals()).sessions).toBe(3);
    await send(late);
    expect((await totals()).sessions).toBe(3);
    await worker.post(tenant, '/webhook/batch', { events: [visit(4), start(4), start(4), visit(5)] });
    expect((await totals()).sessions).toBe(6);
  });

  it('counts a purchase once although it repeats under a new event id', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      await send(unityEvent(given, 'custom.purchase', purchase(), { dk: TRANSACTION }));
    }
    expect(await totals()).toMatchObject({ purchases: 1, purchase_revenue: 4.99 });
  });

  it('counts each of several refunds under the transaction as their key, and a retry once', async () => {
    await send(unityEvent(given, 'custom.purchase', purchase(), { dk: TRANSACTION }));
    const part = unityEvent(given, 'custom.purchase', purchase({ status: 'refunded', value: 1 }), {
      dk: TRANSACTION,
    });
    await send(part);
    await send(part);
    // Another part of the same value, at the same time.
    await send({ ...part, eid: crypto.randomUUID() });
    const rest = unityEvent(given, 'custom.purchase', purchase({ status: 'refunded', value: 2 }), {
      dk: TRANSACTION,
    });
    await send(rest);
    expect(await totals()).toMatchObject({ refunds: 3, refunded_revenue: 4, net_revenue: 0.99 });
  });

  it('counts a purchase as failed and, once completed, as a purchase', async () => {
    await send(unityEvent(given, 'custom.purchase', purchase({ status: 'Canceled' }), { dk: TRANSACTION }));
    await send(unityEvent(given, 'custom.purchase', purchase(), { dk: TRANSACTION }));
    expect(await totals()).toMatchObject({ purchases: 1, failed_purchases: 1, purchase_revenue: 4.99 });
  });

  it.each([
    ['Completed', { purchases: 1, failed_purchases: 0, purchase_revenue: 4.99 }],
    ['Success', { purchases: 1, failed_purchases: 0, purchase_revenue: 4.99 }],
    ['Failed', { purchases: 0, failed_purchases: 1, purchase_revenue: 0 }],
    ['Canceled', { purchases: 0, failed_purchases: 1, purchase_revenue: 0 }],
    ['cancelled', { purchases: 0, failed_purchases: 1, purchase_revenue: 0 }],
    ['pending', { purchases: 0, failed_purchases: 1, purchase_revenue: 0 }],
    ['refunded', { purchases: 0, failed_purchases: 0, purchase_revenue: 0 }],
  ])('counts a purchase of the status %s', async (status, counted) => {
    await send(unityEvent(given, 'custom.purchase', purchase({ status })));
    expect(await totals()).toMatchObject(counted);
    expect(await listed('custom.purchase')).toHaveLength(1);
  });

  it.each([
    ['an unknown value', { value: -1, currency: null }],
    ['an unknown value in a currency', { value: -1 }],
    ['no currency', { currency: null }],
  ])('counts an impression of %s, and warns', async (_, unknown) => {
    const { warnings = [] } = await send(unityEvent(given, 'custom.ad', ad(unknown)));
    expect(warnings.map(({ path }) => path)).toEqual(
      expect.arrayContaining(Object.keys(unknown).map((name) => `payload.${name}`)),
    );
    expect(await totals()).toMatchObject({ impressions: 1, ad_revenue: 0 });
  });

  it('drops invalid descriptive fields of an ad, and counts the ad', async () => {
    const { warnings = [] } = await send(
      unityEvent(given, 'custom.ad', ad({ watch_time: -1, name: null, channel: '', media_source: null }), {
        retention_day: -1,
        app_version: 'x'.repeat(5_000),
      }),
    );
    expect(warnings.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['payload.watch_time', 'retention_day']),
    );
    expect(await totals()).toMatchObject({ impressions: 1, ad_revenue: 0.0125 });
  });

  it.each([
    ['a name without value', { item_name: '' }],
    ['no name', { item_name: null }],
    ['a name that is too long', { item_name: 'x'.repeat(10_000) }],
  ])('counts the money of a purchase with %s', async (_, described) => {
    await send(unityEvent(given, 'custom.purchase', purchase(described)));
    expect(await totals()).toMatchObject({ purchases: 1, purchase_revenue: 4.99 });
  });

  it('accepts a payload that is JSON text', async () => {
    await send(unityEvent(given, 'custom.ad', JSON.stringify(ad())));
    expect(await totals()).toMatchObject({ impressions: 1, ad_revenue: 0.0125 });
  });

  it.each([3, '3', '', null, -1, undefined])('accepts the day number %j', async (retention_day) => {
    const payload = { retentionDay: '1', backfillDay: '' };
    await send(unityEvent(given, 'retention', payload, { retention_day }));
    expect((await totals()).sessions).toBe(1);
  });

  it.each([
    ['separators of its culture', `${DAY} 10.00.00`],
    ['the digits of its culture', '٢٠٢٦-٠٣-٠٢ ١٠:٠٠:٠٠'],
    ['ISO 8601', `${DAY}T10:00:00.058Z`],
  ])('reads a time in %s', async (_, created_at) => {
    await send(unityEvent(given, 'custom.ad', ad(), { created_at }));
    expect(await totals(DAY, DAY)).toMatchObject({ impressions: 1, ad_revenue: 0.0125 });
  });

  it.each(['2569-03-02 10:00:00', '1447-09-12 10:00:00'])(
    'counts %s, of a calendar that is not Gregorian, as today',
    async (created_at) => {
      await send(unityEvent(given, 'custom.ad', ad(), { created_at }));
      const today = new Date().toISOString().slice(0, 10);
      expect(await totals(addDays(today, -1), addDays(today, 1))).toMatchObject({ impressions: 1 });
    },
  );

  it('stores the events of a debug build, and counts them in no report', async () => {
    const test = await token({ ...unityMetrics, dev: true });
    await send(unityEvent(test, 'custom.purchase', purchase(), { dev: true }));
    await send(unityEvent(given, 'custom.ad', ad(), { dev: true }));
    expect(await totals()).toMatchObject({ installs: 1, purchases: 0, purchase_revenue: 0, impressions: 0 });
    expect(await listed('custom.purchase')).toMatchObject([{ test: true }]);
  });

  it('stores no installation id in plain text', async () => {
    await send(unityEvent(given, 'custom.ad', ad()));
    await totals();
    const events = JSON.stringify([...(await listed('custom.ad')), ...(await listed('install'))]);
    for (const id of [unityMetrics.ga, unityMetrics.asid, unityMetrics.aid]) expect(events).not.toContain(id);
  });
});
