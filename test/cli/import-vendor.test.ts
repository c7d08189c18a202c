import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importRows } from '../../src/cli/import/rows.ts';
import { totalOf } from '../../src/cli/import/summary.ts';
import { readExport, readTime } from '../../src/cli/import/vendor.ts';
import type { VendorName } from '../../src/cli/import/vendors.ts';
import { adjustFile, appsflyerFile, type Cells, COLUMN_COUNTS } from './exports.ts';
import { startStandIn } from './stand-in.ts';

let folder: string;
let service: Awaited<ReturnType<typeof startStandIn>>;

const team = { headerName: 'service-Token', token: 'team' };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vendor-'));
});
beforeEach(async () => {
  service = await startStandIn();
});
afterEach(() => service.stop());
afterAll(() => rm(folder, { recursive: true }));

const importExport = (
  file: string,
  vendor: VendorName,
  { as = team, timezone = 'UTC' }: { as?: typeof team | null; timezone?: string } = {},
) =>
  importRows(
    { file, settings: { vendor, timezone } },
    (scratch) => readExport({ file, vendor, timezone }, service.target, as, scratch),
    service.target,
    () => undefined,
  ).then(({ summary }) => summary);

async function imported(
  name: string,
  vendor: VendorName,
  csv: string | Uint8Array,
  more: { as?: typeof team | null; timezone?: string } = {},
) {
  const file = path.join(folder, name);
  await writeFile(file, csv);
  const summary = await importExport(file, vendor, more);
  const rejected = await readFile(`${file}.rejected.ndjson`, 'utf8').catch(() => '');
  const rejections: { line: number; error: string }[] = rejected
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const { read, ...rest } = totalOf(summary);
  expect(rest.accepted + rest.repeated + rest.rejected).toBe(read);
  expect(rejections.filter(({ line }) => line > 0)).toHaveLength(rest.rejected);
  const creatives = service.requests('/v1/creatives').map(({ headers, body }) => ({
    token: headers['service-token'],
    ...body,
  }));
  return {
    summary,
    rejections: rejections.map(({ line, error }) => `${line}: ${error}`).sort(),
    devices: [...service.devices.values()],
    creatives,
    events: service.events,
  };
}

const APPSFLYER = `\ufeff"AppsFlyer ID","Install Time","Event Time","Event Name","Event Value","Event Revenue","Event Revenue Currency","Monetization Network","Ad Unit","Placement","Campaign","Adset","Ad","Country Code","Platform","OS Version","Device Model","App Version"
af-1,2026-03-01 10:00:00,2026-03-01 10:00:00,install,,,,,,,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-1,2026-03-01 10:00:00,2026-03-02 11:30:00,af_purchase,"{""af_receipt_id"":""GPA.1""}",4.99,EUR,,,,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-1,2026-03-01 10:00:00,2026-03-02 12:00:00,af_ad_revenue,,0.0125,USD,AdMob,rewarded,level_end,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-2,2026-03-03 09:00:00,2026-03-03 09:05:00,tutorial,,,,,,,None,,,US,ios,18.1,iPhone,1.3
`;

it("converts AppsFlyer's raw data to envelopes", async () => {
  const { devices, creatives, events } = await imported('af.csv', 'appsflyer', APPSFLYER);
  expect(creatives).toEqual([
    { token: 'team', creative: 'Castle', campaign: 'Launch', adset: 'Broad', app_api_key: 'key' },
  ]);
  expect(devices).toEqual([
    {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00.000Z',
      data: {
        device_name: 'Pixel 9',
        device_model: 'Pixel 9',
        os_system: 'android 16',
        timezone: 'unknown',
        country: 'DE',
        creative_token: 'link-of-Launch|Broad|Castle',
        device_id: 'af-1',
      },
    },
    expect.objectContaining({
      created_at: '2026-03-03T09:00:00.000Z',
      data: expect.not.objectContaining({ creative_token: expect.anything() }),
    }),
  ]);
  const key = expect.stringMatching(/^import:[0-9a-f]{32}$/);
  const common = { event_id: key, app_version: '1.2', creativeToken: 'token-of-af-1' };
  expect(events).toEqual([
    {
      ...common,
      created_at: '2026-03-02T11:30:00.000Z',
      wp: { af_receipt_id: 'GPA.1' },
      type: 'custom.purchase',
      payload: { value: 4.99, currency: 'eur', item_id: 'af_purchase', status: 'completed', tr_id: 'GPA.1' },
    },
    {
      ...common,
      created_at: '2026-03-02T12:00:00.000Z',
      type: 'custom.ad',
      payload: {
        value: 0.0125,
        currency: 'usd',
        ad_id: 'level_end',
        source: 'rewarded',
        media_source: 'AdMob',
      },
    },
    {
      event_id: key,
      app_version: '1.3',
      creativeToken: 'token-of-af-2',
      created_at: '2026-03-03T09:05:00.000Z',
      type: 'custom',
      payload: { event_name: 'tutorial' },
    },
  ]);
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(3);
});

const ADJUST = `{activity_kind},{adid},{created_at},{installed_at},{event_name},{revenue_float},{currency},{campaign_name},{adgroup_name},{creative_name},{country},{os_name},{os_version},{ad_revenue_network},{ad_revenue_placement},{ad_revenue_unit}
install,ad-1,1772359200,1772359200,,,,Launch,Broad,,de,ios,18.1,,,
session,ad-1,1772445600,1772359200,,,,Launch,Broad,,de,ios,18.1,,,
event,ad-1,1772445700,1772359200,buy,2.5,USD,Launch,Broad,,de,ios,18.1,,,
event,ad-1,1772445800,1772359200,level_up,0,,Launch,Broad,,de,ios,18.1,,,
ad_revenue,ad-1,1772445900,1772359200,,0.01,USD,Launch,Broad,,de,ios,18.1,unity,shop,interstitial
reattribution,ad-1,1772445900,1772359200,,,,Other,,,de,ios,18.1,,,
`;

it("converts Adjust's CSV uploads to envelopes, leaves devices organic without a team's token, and lists unknown activities", async () => {
  const { devices, creatives, events, rejections } = await imported('adjust.csv', 'adjust', ADJUST, {
    as: null,
  });
  expect(rejections).toEqual(['7: {activity_kind} "reattribution" has no equivalent here']);
  expect(creatives).toEqual([]);
  expect(devices).toEqual([
    expect.objectContaining({
      created_at: '2026-03-01T10:00:00.000Z',
      data: expect.objectContaining({ device_id: 'ad-1', os_system: 'ios 18.1', country: 'de' }),
    }),
  ]);
  expect(events.map(({ type, payload, created_at }) => [type, payload, created_at])).toEqual([
    ['retention', {}, '2026-03-02T10:00:00.000Z'],
    [
      'custom.purchase',
      { value: 2.5, currency: 'usd', item_id: 'buy', status: 'completed' },
      '2026-03-02T10:01:40.000Z',
    ],
    ['custom', { event_name: 'level_up' }, '2026-03-02T10:03:20.000Z'],
    [
      'custom.ad',
      { value: 0.01, currency: 'usd', ad_id: 'shop', source: 'interstitial', media_source: 'unity' },
      '2026-03-02T10:05:00.000Z',
    ],
  ]);
});

it('names the columns that a file lacks, and leaves nothing behind', async () => {
  const file = path.join(folder, 'other.csv');
  await writeFile(file, 'AppsFlyer ID,Event Name\n1,install\n');
  await expect(importExport(file, 'appsflyer')).rejects.toThrow(
    'lacks these columns: Install Time, Event Time',
  );
  expect((await readdir(folder)).filter((name) => name.startsWith('other.csv'))).toEqual(['other.csv']);
});

it('says that there is no such file', async () => {
  await expect(importExport(path.join(folder, 'none.csv'), 'adjust')).rejects.toThrow('ENOENT');
});

const counts = (read: number, accepted = read, repeated = 0, rejected = 0) => ({
  read,
  accepted,
  repeated,
  rejected,
});

const purchase = (cells: Cells): Cells => ({
  'Event Name': 'af_purchase',
  'Event Time': '2026-03-02 10:00:00',
  'Event Revenue': '2.5',
  'Event Revenue Currency': 'USD',
  ...cells,
});
const adView = (cells: Cells = {}): Cells => ({
  'Event Name': 'af_ad_revenue',
  'Event Time': '2026-03-02 10:00:00',
  'Event Revenue': '0.01',
  'Event Revenue Currency': 'USD',
  'Monetization Network': 'AdMob',
  ...cells,
});
const custom = (cells: Cells): Cells => ({
  'Event Name': 'level',
  'Event Time': '2026-03-02 10:00:00',
  ...cells,
});

const amountOf = ({ payload }: Record<string, unknown>) => (payload as { value: number }).value;
const sumOf = (events: Record<string, unknown>[]) =>
  Math.round(events.reduce((sum, event) => sum + amountOf(event), 0) * 1e9) / 1e9;

describe('an AppsFlyer export with all its columns', () => {
  it('counts every row or lists it with its reason, and twice gives the same totals', async () => {
    expect(COLUMN_COUNTS).toEqual({ appsflyer: 81, adjust: 80 });
    const rows = [
      { 'Event Name': 'install', 'Event Time': '2026-03-01 10:00:00' },
      { 'Event Name': 'install', 'Event Time': '2026-03-01 10:00:00' },
      custom({ 'Event Value': '{"level":"1"}' }),
      custom({ 'Event Value': '{"level":"2"}' }),
      custom({ 'Event Value': '{"level":"2"}' }),
      adView(),
      adView(),
      adView({ 'Monetization Network': '' }),
      purchase({ 'Event Value': '{"af_receipt_id":"A"}' }),
      purchase({ 'Event Value': '{"af_receipt_id":"A"}' }),
      purchase({ 'Event Value': '{"af_receipt_id":"B"}', 'Event Revenue': '-2.5' }),
      purchase({ 'Event Revenue Currency': '' }),
      purchase({ 'Event Revenue': '2,5' }),
      purchase({ 'Event Revenue Currency': 'GOLD' }),
      custom({ 'AppsFlyer ID': '' }),
      custom({ 'Event Time': 'yesterday' }),
      custom({ 'Event Time': '2099-01-01 00:00:00' }),
    ];
    const first = await imported('full.csv', 'appsflyer', appsflyerFile(rows));
    expect(first.summary).toEqual({
      installs: counts(2, 1, 1),
      'custom events': counts(6, 3, 0, 3),
      ads: counts(3),
      purchases: counts(6, 1, 1, 4),
    });
    expect(first.rejections).toEqual([
      '12: revenue is negative (-2.5): refunds are not imported',
      '13: revenue has no currency',
      '14: revenue must be a number, not "2,5"',
      '15: malformed',
      '16: AppsFlyer ID is empty',
      '17: "yesterday" is not a time',
      '18: "2099-01-01 00:00:00" is in the future: check --timezone',
    ]);
    expect(service.events.map(({ type }) => type).sort()).toEqual([
      ...['custom', 'custom', 'custom', 'custom.ad', 'custom.ad', 'custom.ad', 'custom.purchase'],
    ]);
    expect(service.events[0]?.payload).toEqual({ event_name: 'level', params: { level: '1' } });
    expect(service.events[5]?.payload).toEqual({
      value: 0.01,
      currency: 'usd',
      ad_id: 'unknown',
      source: 'unknown',
    });
    const before = structuredClone(service.events);
    const again = await imported('full.csv', 'appsflyer', appsflyerFile(rows));
    expect(again.summary).toEqual(first.summary);
    expect(service.events).toEqual(before);
    expect((await readdir(folder)).filter((name) => name.startsWith('full'))).toEqual([
      'full.csv',
      'full.csv.rejected.ndjson',
    ]);
  });

  it('counts equal rows again only for what another export has of the same time', async () => {
    const [early, late] = [custom({}), custom({ 'Event Time': '2026-03-03 10:00:00' })];
    await imported('part-1.csv', 'appsflyer', appsflyerFile([early, early, late, late]));
    await imported('part-2.csv', 'appsflyer', appsflyerFile([late, late, late]));
    expect(service.events).toHaveLength(5);
  });

  it('tells rows of two exports apart by device and by parameters', async () => {
    const parts = [
      custom({ 'Event Value': '{"level":"1"}' }),
      custom({ 'Event Value': '{"level":"2"}' }),
      custom({ 'Event Value': '{"level":"2"}', 'AppsFlyer ID': 'af-2' }),
    ];
    for (const [index, row] of parts.entries()) {
      await imported(`apart-${index}.csv`, 'appsflyer', appsflyerFile([row]));
    }
    expect(service.events).toHaveLength(3);
  });

  it('counts the impressions of aggregated ad rows, with revenue that adds up', async () => {
    const rows = [adView({ Impressions: '3' }), adView({ Impressions: '1' }), adView({ Impressions: '' })];
    const { summary, events } = await imported('sums.csv', 'appsflyer', appsflyerFile(rows));
    expect(summary).toEqual({ ads: counts(3) });
    expect(events).toHaveLength(5);
    expect(sumOf(events)).toBe(0.03);
    await imported('sums.csv', 'appsflyer', appsflyerFile(rows));
    expect(service.events).toHaveLength(5);
    const bad = [
      adView({ Impressions: '0' }),
      adView({ Impressions: '1.5' }),
      adView({ Impressions: '100001' }),
    ];
    const refused = await imported('sums-bad.csv', 'appsflyer', appsflyerFile(bad));
    expect(refused.summary).toEqual({ ads: counts(3, 0, 0, 3) });
    expect(refused.rejections[0]).toBe('2: impressions must be 1 to 100000, not "0"');
  });

  it('keeps the network of devices without a campaign, and makes only those organic that the export calls so', async () => {
    const install = (id: string, cells: Cells) => ({
      'Event Name': 'install',
      'Event Time': '2026-03-01 10:00:00',
      'AppsFlyer ID': id,
      ...{ Campaign: '', Adset: '', Ad: '' },
      ...cells,
    });
    const { devices } = await imported(
      'networks.csv',
      'appsflyer',
      appsflyerFile([
        install('a', {}),
        install('b', { Campaign: 'None' }),
        install('c', { 'Media Source': 'organic', Campaign: 'Launch' }),
        install('d', { 'Media Source': '' }),
        install('g', { Campaign: 'Organic' }),
        install('e', { Campaign: 'Launch' }),
        install('f', { 'Media Source': 'restricted', Adset: 'Broad' }),
      ]),
    );
    expect(devices.map(({ data }) => [data.device_id, data.creative_token])).toEqual([
      ['a', 'link-of-(no campaign)|googleadwords_int|googleadwords_int'],
      ['b', 'link-of-(no campaign)|googleadwords_int|googleadwords_int'],
      ['c', undefined],
      ['d', undefined],
      ['g', 'link-of-(no campaign)|googleadwords_int|googleadwords_int'],
      ['e', 'link-of-Launch|googleadwords_int|Launch'],
      ['f', 'link-of-(no campaign)|Broad|Broad'],
    ]);
  });

  it('reads times in the time zone of the export, and dollars where there is no other revenue', async () => {
    const rows = [
      custom({ 'Event Time': '2026-07-02 10:00:00', 'Install Time': '2026-03-01 23:30:00' }),
      purchase({ 'Event Revenue': '', 'Event Revenue Currency': 'EUR', 'Event Revenue USD': '3' }),
    ];
    const { devices, events } = await imported('zone.csv', 'appsflyer', appsflyerFile(rows), {
      timezone: 'America/New_York',
    });
    expect(events[0]?.created_at).toBe('2026-07-02T14:00:00.000Z');
    expect(devices[0]?.created_at).toBe('2026-03-02T04:30:00.000Z');
    expect(events[1]?.payload).toMatchObject({ value: 3, currency: 'usd' });
  });

  it('is read with gzip, and with characters across chunks', async () => {
    const name = 'Größe 猫 🏰';
    const rows = Array.from({ length: 2_000 }, (_, index) =>
      custom({ 'Event Name': name, 'Event Value': `{"n":"${index}"}` }),
    );
    const { summary, events } = await imported(
      'packed.csv.gz',
      'appsflyer',
      gzipSync(`\ufeff${appsflyerFile(rows)}`),
    );
    expect(summary).toEqual({ 'custom events': counts(2_000) });
    expect(new Set(events.map(({ payload }) => (payload as { event_name: string }).event_name))).toEqual(
      new Set([name]),
    );
  });

  it('lists rows with too few or too many fields by their line, also after fields with line breaks', async () => {
    const file = appsflyerFile([
      custom({ 'Event Value': 'two\nlines' }),
      custom({}),
      custom({ 'Event Time': '2026-03-02 11:00:00' }),
    ]);
    const lines = file.split('\n');
    lines[3] += ',more';
    lines[4] = 'short';
    const { rejections, events } = await imported('shifted.csv', 'appsflyer', lines.join('\n'));
    expect(rejections).toEqual([
      '4: has 88 fields, but the header has 87',
      '5: has 1 fields, but the header has 87',
    ]);
    expect(events.map(({ payload }) => payload)).toEqual([
      { event_name: 'level', params: { value: 'two\nlines' } },
    ]);
  });

  it('lists the rows of devices and creatives that the service refuses', async () => {
    service.intercept = (where, body) => {
      if (where === '/v1/creatives' && body.campaign === 'Bad')
        return { status: 400, body: { message: 'too long' } };
      const [device] = (body.devices ?? []) as { data: Record<string, string> }[];
      if (device?.data.device_id !== 'af-2') return null;
      return { status: 200, body: { results: [{ index: 0, error: 'no such country' }] } };
    };
    const rows = [custom({ 'AppsFlyer ID': 'af-2' }), custom({ Campaign: 'Bad' })];
    const { rejections } = await imported('refused.csv', 'appsflyer', appsflyerFile(rows));
    expect(rejections).toEqual([
      '2: the device was refused: no such country',
      expect.stringMatching(/^3: .* answered 400 to \/v1\/creatives: .*too long/),
    ]);
  });

  it('continues after an interruption without fetching tokens again, unless the file or the settings changed', async () => {
    const file = path.join(folder, 'resumed.csv');
    await writeFile(file, appsflyerFile([purchase({}), custom({ 'AppsFlyer ID': '' })]));
    service.intercept = (where) => (where === '/webhook/batch' ? { status: 403, body: {} } : null);
    await expect(importExport(file, 'appsflyer')).rejects.toThrow('answered 403');
    service.intercept = () => null;
    service.asked.length = 0;
    const summary = await importExport(file, 'appsflyer');
    expect(summary).toEqual({ purchases: counts(1), 'custom events': counts(1, 0, 0, 1) });
    expect(service.asked.map(({ path: where }) => where)).toEqual(['/webhook/batch']);

    service.intercept = (where) => (where === '/webhook/batch' ? { status: 403, body: {} } : null);
    await expect(importExport(file, 'appsflyer')).rejects.toThrow('answered 403');
    service.intercept = () => null;
    service.asked.length = 0;
    await importExport(file, 'appsflyer', { timezone: 'Asia/Tokyo' });
    expect(service.requests('/fetch-token/batch')).toHaveLength(1);
  });
});

describe('an Adjust export with all its placeholders', () => {
  it('counts every row or lists it with its reason, and twice gives the same totals', async () => {
    const rows: Cells[] = [
      { '{activity_kind}': 'install' },
      { '{activity_kind}': 'session' },
      { '{activity_kind}': 'session' },
      { '{event_name}': 'level_up', '[level]': '3', '[mode]': 'hard' },
      { '{event_name}': 'level_up', '[level]': '4', '[mode]': 'hard' },
      { '{event_name}': 'buy', '{revenue_float}': '2.5', '{currency}': 'USD', '{transaction_id}': 'T1' },
      { '{event_name}': 'buy', '{revenue_float}': '2.5', '{currency}': 'USD', '{transaction_id}': 'T1' },
      { '{event_name}': 'buy', '{reporting_revenue}': '3', '{reporting_currency}': 'EUR' },
      { '{event_name}': 'buy', '{revenue}': '250', '{currency}': 'USD' },
      { '{event_name}': 'refund', '{revenue_float}': '-1', '{currency}': 'USD' },
      {
        '{activity_kind}': 'ad_revenue',
        '{revenue_float}': '0.02',
        '{currency}': 'USD',
        '{ad_impressions_count}': '4',
      },
      { '{activity_kind}': 'reattribution' },
      { '{activity_kind}': 'uninstall' },
      { '{adid}': '' },
    ];
    const first = await imported('all.csv', 'adjust', adjustFile(rows));
    expect(first.summary).toEqual({
      installs: counts(1),
      sessions: counts(2),
      'custom events': counts(3, 2, 0, 1),
      purchases: counts(5, 2, 1, 2),
      ads: counts(1),
      'other rows': counts(2, 0, 0, 2),
    });
    expect(first.rejections).toEqual([
      '10: revenue is only in {revenue}, whose unit is unknown: export {revenue_float}',
      '11: revenue is negative (-1): refunds are not imported',
      '13: {activity_kind} "reattribution" has no equivalent here',
      '14: {activity_kind} "uninstall" has no equivalent here',
      '15: {adid} is empty',
    ]);
    expect(service.events.filter(({ type }) => type === 'custom').map(({ payload }) => payload)).toEqual([
      { event_name: 'level_up', params: { level: '3', mode: 'hard' } },
      { event_name: 'level_up', params: { level: '4', mode: 'hard' } },
    ]);
    const ads = service.events.filter(({ type }) => type === 'custom.ad');
    expect([ads.length, sumOf(ads)]).toEqual([4, 0.02]);
    expect(service.events).toHaveLength(10);
    const again = await imported('all.csv', 'adjust', adjustFile(rows));
    expect(again.summary).toEqual(first.summary);
    expect(service.events).toHaveLength(10);
  });

  it('keeps the network, and the names inside the tracker', async () => {
    const install = (id: string, cells: Cells) => ({
      '{activity_kind}': 'install',
      '{adid}': id,
      ...{ '{network_name}': '', '{campaign_name}': '', '{adgroup_name}': '' },
      ...cells,
    });
    const { devices } = await imported(
      'trackers.csv',
      'adjust',
      adjustFile([
        install('a', { '{tracker_name}': 'Meta::Spring::Young::Cat' }),
        install('b', { '{network_name}': 'Unattributed' }),
        install('c', { '{network_name}': 'Organic', '{is_organic}': '1' }),
        install('d', { '{tracker_name}': 'Organic' }),
        install('e', { '{network_name}': 'unity', '{is_organic}': '1' }),
      ]),
    );
    expect(devices.map(({ data }) => data.creative_token)).toEqual([
      'link-of-Spring|Young|Cat',
      'link-of-(no campaign)|Unattributed|Unattributed',
      undefined,
      undefined,
      undefined,
    ]);
  });
});

it.each([
  ['2026-03-01 10:00:00', 'UTC', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01T10:00:00.250', 'Europe/Berlin', '2026-03-01T09:00:00.250Z'],
  ['2026-03-01 10:00', 'Asia/Tokyo', '2026-03-01T01:00:00.000Z'],
  // The clocks change at 02:00 on 29 March.
  ['2026-03-29 01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59.000Z'],
  ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-03-01 10:00:00Z', 'Asia/Tokyo', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01 10:00:00+0530', 'Asia/Tokyo', '2026-03-01T04:30:00.000Z'],
  ['1772359200', 'Asia/Tokyo', '2026-03-01T10:00:00.000Z'],
  ['2026-02-30 10:00:00', 'UTC', null],
  ['03/01/2026 10:00', 'UTC', null],
])('reads the time %s in %s', (text, timezone, expected) => {
  const at = readTime(text, timezone);
  expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
});
