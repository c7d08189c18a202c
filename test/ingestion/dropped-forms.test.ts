import { beforeAll, expect, it } from 'vitest';
import { ANDROID_AGENT, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// No 200 without a warning where something was dropped or replaced: each form of each public door, one line each. A new form is a new line.

const worker = startWorker();

/** Every fact of an impression, each by a parameter of its name. */
const TEMPLATE = {
  ...{ amount: 'revenue', scale: 'unit', currency: 'currency', default_currency: 'usd', id: 'id' },
  ...{ device: 'device', device_is: 'device_id', network: 'network', placement: 'placement' },
  ...{ ad_format: 'ad_format', country: 'country', time: 'time' },
};

type Warning = { path: string; message: string };

let tenant: Tenant;
let token: string;
let secret: string;
let click: string;
beforeAll(async () => {
  tenant = await createTenant(STORES);
  token = await fetchToken(worker, tenant);
  const path = `/v1/applications/${tenant.application.id}`;
  await worker.team(tenant, path, {
    method: 'PATCH',
    body: { impression_template: TEMPLATE },
  });
  const made = await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} });
  ({ intake_secret: secret } = await made.json<{ intake_secret: string }>());
  const { id } = await createCreative(worker, tenant);
  const links = await worker.team(tenant, `/v1/creatives/${id}/links`);
  ({
    server_links: { click },
  } = await links.json<{ server_links: { click: string } }>());
});

/** What an answer of 200 says of what it dropped; fails for any other answer. */
async function warningsOf(answer: Response): Promise<Warning[]> {
  const body = await answer.json<{ warnings?: Warning[]; results?: { warnings?: Warning[] }[] }>();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  const header = answer.headers.get('X-Warnings');
  const inHeader = header === null ? [] : (JSON.parse(header) as Warning[]);
  return [
    ...(body.warnings ?? []),
    ...(body.results ?? []).flatMap((one) => one.warnings ?? []),
    ...inHeader,
  ];
}

const long = (length: number) => 'x'.repeat(length);
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 'v']));

type Form = Record<string, unknown>;
const DOORS = {
  device: (data: Form) => worker.post(tenant, '/fetch-token', deviceMetrics(data)),
  message: (more: Form) => worker.post(tenant, '/fetch-token', deviceMetrics({}, more)),
  devices: (data: Form) => worker.post(tenant, '/fetch-token/batch', { devices: [deviceMetrics(data)] }),
  event: (more: Form) => worker.post(tenant, '/webhook', envelope.purchase(token, more)),
  purchase: (payload: Form) => worker.post(tenant, '/webhook', envelope.purchase(token, {}, payload)),
  ad: (payload: Form) => worker.post(tenant, '/webhook', envelope.ad(token, {}, payload)),
  custom: (params: Form) => worker.post(tenant, '/webhook', envelope.custom(token, {}, { params })),
  requests: (params: Form) =>
    worker.post(tenant, '/webhook', envelope.custom(token, {}, { event_name: 'ad_request', params })),
  retention: (payload: Form) => worker.post(tenant, '/webhook', envelope.retention(token, {}, payload)),
  imported: (more: Form) =>
    worker.post(tenant, '/webhook/batch', { import: true, events: [envelope.ad(token, more)] }),
  importedDevice: (data: Form) =>
    worker.post(tenant, '/fetch-token/batch', { import: true, devices: [deviceMetrics(data)] }),
  importedMessage: (more: Form) =>
    worker.post(tenant, '/fetch-token/batch', { import: true, devices: [deviceMetrics({}, more)] }),
  batch: (more: Form) => worker.post(tenant, '/webhook/batch', { events: [envelope.ad(token, more)] }),
  keyed: (headers: Form) =>
    worker.post(tenant, '/webhook', envelope.ad(token), headers as Record<string, string>),
  impression: (query: Form) => {
    const told = { id: crypto.randomUUID(), revenue: '0.01', country: 'DE', ...query };
    return worker.request(`/impression/${secret}?${new URLSearchParams(told as Record<string, string>)}`);
  },
  click: (query: Form) => {
    const { pathname, search } = new URL(click);
    const told = { ip: '203.0.113.44', ua: ANDROID_AGENT, ...query } as Record<string, string>;
    return worker.request(`${pathname}${search}&${new URLSearchParams(told)}`);
  },
} as const satisfies Record<string, (form: Form) => Promise<Response>>;

const costFile = (text: string) =>
  worker.request(`/v1/costs/file?application_id=${tenant.application.id}`, {
    method: 'PUT',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
    body: text,
  });

/** What of a cost file is not stored, and where its answer says so. */
const COST_FILES: readonly (readonly [text: string, says: Record<string, unknown>])[] = [
  ['date,campaign,amount,Reach\n2026-03-02,Spring,1,9', { ignored_columns: ['Reach'] }],
  [
    'date,campaign,amount\n2026-03-02,Spring,1\nTotal,,2',
    { skipped: [{ line: 3, reason: 'is a total of 2, but its rows add up to 1' }] },
  ],
  [
    'date,campaign,amount\n2026-03-02,Spring,1\nMade by a tool,,',
    { skipped: [{ line: 3, reason: 'is a line of text' }] },
  ],
  [
    'date,campaign,amount\n2026-03-02,Spring,1\ndate,campaign,amount',
    { skipped: [{ line: 3, reason: 'repeats the headings' }] },
  ],
  [
    'date,campaign,amount\n2026-03-02,Spring,1\n2026-03-02,Spring,2',
    { read: 2, stored: 1, amounts: [{ currency: 'usd', amount: 3 }] },
  ],
];

it.each(COST_FILES)('a cost file: %j', async (text, says) => {
  const answer = await costFile(text);
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining(says)]);
});

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** The door, what is sent there, and the path of the warning. */
const FORMS: readonly (readonly [door: keyof typeof DOORS, form: Form, path: string])[] = [
  ['device', { dpi: 'many' }, 'data.dpi'],
  ['device', { window_width: -1 }, 'data.window_width'],
  ['device', { timezone: '2026-03-01' }, 'data.timezone'],
  ['device', { device_id: 'null' }, 'data.device_id'],
  ['device', { country: 'Atlantis' }, 'data.country'],
  ['device', { ip: 'not an address' }, 'data.ip'],
  ['device', { click_id: '{click_id}' }, 'data.click_id'],
  ['device', { click_id: long(129) }, 'data.click_id'],
  ['device', { creative_token: long(129) }, 'data.creative_token'],
  ['device', { network: '(not set)' }, 'data.network'],
  ['device', { adservices_token: long(8_193) }, 'data.adservices_token'],
  ['device', { install_referrer: 'utm_source=%E9&gclid=abc%' }, 'data.install_referrer'],
  ['device', { referrer_click_timestamp_seconds: 'yesterday' }, 'data.referrer_click_timestamp_seconds'],
  ['device', { network: '00000000-0000-0000-0000-000000000000' }, 'data.network'],
  ['message', { app_version: long(257) }, 'app_version'],
  ['message', { app_version: 'null' }, 'app_version'],
  ['message', { sdk_version: '{{version}}' }, 'sdk_version'],
  ['message', { sdk_version: 'a\nb' }, 'sdk_version'],
  ['message', { dev: 'perhaps' }, 'dev'],
  ['message', { asid: '00000000-0000-0000-0000-000000000000' }, 'asid'],
  ['message', { lat: 'perhaps' }, 'lat'],
  ['message', { att_status: 9 }, 'att_status'],
  ['message', { created_at: '1980-01-01T00:00:00Z' }, 'created_at'],
  ['message', { created_at: inMs(86_400_000) }, 'created_at'],
  ['devices', { country: 'Atlantis' }, 'data.country'],
  ['event', { event_id: 'undefined' }, 'event_id'],
  ['event', { dedupe_key: long(513) }, 'dedupe_key'],
  ['event', { utc_offset: 'noon' }, 'utc_offset'],
  ['event', { retention_day: -1 }, 'retention_day'],
  ['event', { wp: { text: long(5_000) } }, 'wp'],
  ['event', { wp: 'text' }, 'wp'],
  ['event', { ad_user_data: 'perhaps' }, 'ad_user_data'],
  ['event', { advertising_id: '0000-0000' }, 'advertising_id'],
  ['event', { vendor_id: long(65) }, 'vendor_id'],
  ['event', { device_model: long(257) }, 'device_model'],
  ['event', { created_at: '1970-01-01T00:00:00Z' }, 'created_at'],
  ['purchase', { tr_id: 'null' }, 'payload.tr_id'],
  ['purchase', { item_id: '{{item}}' }, 'payload.item_id'],
  ['purchase', { item_name: long(257) }, 'payload.item_name'],
  ['purchase', { item_name: 'undefined' }, 'payload.item_name'],
  ['event', { app_version: '(not set)' }, 'app_version'],
  ['purchase', { total_purchase_value: 'lots' }, 'payload.total_purchase_value'],
  ['purchase', { status: 'refunded', tr_id: 'n/a' }, 'payload.tr_id'],
  ['ad', { value: -1 }, 'payload.value'],
  ['ad', { currency: 'gold' }, 'payload.currency'],
  ['ad', { source: long(257) }, 'payload.source'],
  ['ad', { media_source: '__NETWORK__' }, 'payload.media_source'],
  ['ad', { reward: 'yes please' }, 'payload.reward'],
  ['ad', { watch_time: 'long' }, 'payload.watch_time'],
  ['custom', many(101), 'payload.params.p100'],
  ['custom', { [long(257)]: 'v' }, `payload.params.${long(256)}`],
  ['custom', { text: long(257) }, 'payload.params.text'],
  ['custom', { nested: { text: long(2_100) } }, 'payload.params.nested'],
  ['custom', Object.fromEntries(Object.keys(many(30)).map((name) => [name, long(257)])), ''],
  ['requests', { value: 'some' }, 'payload.params.value'],
  ['requests', { id: 'null' }, 'payload.params.id'],
  ['requests', { key: '{{format}}' }, 'payload.params.key'],
  ['batch', { event_id: 'null' }, 'event_id'],
  ['batch', { app_version: long(257) }, 'app_version'],
  ['keyed', { 'Idempotency-Key': 'undefined' }, 'Idempotency-Key'],
  ['impression', { id: 'null' }, 'id'],
  ['impression', { revenue: '-1' }, 'revenue'],
  ['impression', { country: 'Atlantis' }, 'country'],
  ['impression', { placement: '{PLACEMENT}' }, 'placement'],
  ['impression', { placement: long(257) }, 'placement'],
  ['impression', { network: long(300) }, 'network'],
  ['impression', { revenue: '1', currency: '{CURRENCY}' }, 'currency'],
  ['impression', { currency: 'byr' }, 'currency'],
  ['impression', { device: '{USER_ID}' }, 'device'],
  ['impression', { device: 'nobody' }, 'device'],
  ['impression', {}, 'device'],
  ['impression', { network: '{NETWORK_NAME}' }, 'network'],
  ['impression', { ad_format: '%%FORMAT%%' }, 'ad_format'],
  ['impression', { ad_format: long(257) }, 'ad_format'],
  ['impression', { country: '__CC__' }, 'country'],
  ['impression', { time: 'yesterday' }, 'time'],
  ['impression', { time: '0' }, 'time'],
  ['impression', { time: inMs(86_400_000) }, 'time'],
  ['impression', { time: '{TIME}' }, 'time'],
  ['imported', { event_id: 'null' }, 'event_id'],
  ['imported', { app_version: long(257) }, 'app_version'],
  ['imported', { created_at: inMs(86_400_000) }, 'created_at'],
  ['imported', { lat: 'perhaps' }, 'lat'],
  ['importedDevice', { country: 'Atlantis' }, 'data.country'],
  ['importedDevice', { device_id: 'undefined' }, 'data.device_id'],
  ['importedDevice', { install_referrer: 'gclid=abc%' }, 'data.install_referrer'],
  ['importedMessage', { created_at: inMs(86_400_000) }, 'created_at'],
  ['importedMessage', { app_version: long(257) }, 'app_version'],
  ['click', { gclid: '{gclid}' }, 'gclid'],
  ['click', { gclid: long(257) }, 'gclid'],
  ['click', { [long(257)]: 'v' }, long(256)],
  ['click', { sub1: 'a\0b' }, 'sub1'],
  ['click', { idfa: '00000000-0000-0000-0000-000000000000' }, 'idfa'],
  ['click', { ...many(30), gclid: 'abc' }, 'p29'],
  ['click', { id: 'null' }, 'id'],
  ['click', { time: inMs(3_600_000) }, 'time'],
];

it.each(FORMS)('%s: %j', async (door, form, path) => {
  const warnings = await warningsOf(await DOORS[door](form));
  expect(warnings).toContainEqual({ path, message: expect.stringMatching(/\w/) });
});

/** What of an import is not taken, and the field that its answer names. Rows that the command does not send are in test/cli/import-reasons.test.ts. */
const NOT_IMPORTED: readonly (readonly [door: keyof typeof DOORS, form: Form, path: string])[] = [
  ['imported', { created_at: '2009-12-31T00:00:00Z' }, 'created_at'],
  ['imported', { created_at: 'never' }, 'created_at'],
  ['imported', { type: 'custom.nothing' }, 'type'],
  ['imported', { payload: null }, 'payload'],
  ['importedMessage', { created_at: '2009-12-31T00:00:00Z' }, 'created_at'],
  ['importedMessage', { data: null }, 'data'],
];

it.each(NOT_IMPORTED)('an import: %s: %j', async (door, form, path) => {
  const answer = await DOORS[door](form);
  const { results } = await answer.json<{ results: { error?: string; details?: Warning[] }[] }>();
  expect([answer.status, results]).toEqual([
    200,
    [
      expect.objectContaining({
        error: expect.stringMatching(/\w/),
        details: expect.arrayContaining([expect.objectContaining({ path })]),
      }),
    ],
  ]);
});
