import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Target } from '../../src/cli/import-file.ts';
import { prepareExport } from '../../src/cli/import-vendor.ts';

type Asked = { path: string; headers: Record<string, unknown>; body: Record<string, unknown> };

let folder: string;
let server: Server;
let target: Target;
let asked: Asked[] = [];

const team = { headerName: 'service-Token', token: 'team' };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vendor-'));
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => {
      text += part.toString();
    });
    request.on('end', () => {
      const body = JSON.parse(text);
      asked.push({ path: request.url ?? '', headers: request.headers, body });
      const results = (body.devices ?? []).map((device: { data: { device_id: string } }, index: number) => ({
        index,
        token: `token-of-${device.data.device_id}`,
      }));
      const creative = { tracking_link: `https://t.example.com/t/link-of-${body.creative}` };
      response.end(JSON.stringify(request.url === '/v1/creatives' ? { creative } : { results }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  target = { url: `http://127.0.0.1:${port}`, apiKey: 'key', headerName: 'service-api-key' };
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function prepared(
  name: string,
  vendor: 'appsflyer' | 'adjust',
  csv: string,
  as: typeof team | null = team,
) {
  const file = path.join(folder, name);
  await writeFile(file, csv);
  const ready = await readFile(await prepareExport(file, vendor, target, as), 'utf8');
  const devices = asked.flatMap(({ path: where, body }) =>
    where === '/fetch-token/batch' ? (body.devices as { created_at: string; data: object }[]) : [],
  );
  const creatives = asked.flatMap(({ path: where, headers, body }) =>
    where === '/v1/creatives' ? [{ token: headers['service-token'], ...body }] : [],
  );
  const events: Record<string, unknown>[] = ready
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return { devices, creatives, events };
}

const APPSFLYER = `\ufeff"AppsFlyer ID","Install Time","Event Time","Event Name","Event Value","Event Revenue","Event Revenue Currency","Monetization Network","Ad Unit","Placement","Campaign","Adset","Ad","Country Code","Platform","OS Version","Device Model","App Version"
af-1,2026-03-01 10:00:00,2026-03-01 10:00:00,install,,,,,,,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-1,2026-03-01 10:00:00,2026-03-02 11:30:00,af_purchase,"{""af_receipt_id"":""GPA.1""}",4.99,EUR,,,,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-1,2026-03-01 10:00:00,2026-03-02 12:00:00,af_ad_revenue,,0.0125,USD,AdMob,rewarded,level_end,Launch,Broad,Castle,DE,android,16,Pixel 9,1.2
af-2,2026-03-03 09:00:00,2026-03-03 09:05:00,tutorial,,,,,,,None,,,US,ios,18.1,iPhone,1.3
`;

it("makes envelopes of AppsFlyer's raw data", async () => {
  const { devices, creatives, events } = await prepared('af.csv', 'appsflyer', APPSFLYER);
  expect(creatives).toEqual([
    { token: 'team', creative: 'Castle', campaign: 'Launch', adset: 'Broad', app_api_key: 'key' },
  ]);
  expect(devices).toEqual([
    {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00Z',
      data: {
        device_name: 'Pixel 9',
        device_model: 'Pixel 9',
        os_system: 'android 16',
        timezone: 'unknown',
        country: 'DE',
        creative_token: 'link-of-Castle',
        device_id: 'af-1',
      },
    },
    expect.objectContaining({
      created_at: '2026-03-03T09:00:00Z',
      data: expect.not.objectContaining({ creative_token: expect.anything() }),
    }),
  ]);
  const key = expect.stringMatching(/^import:[0-9a-f]{32}$/);
  const common = { event_id: key, app_version: '1.2', creativeToken: 'token-of-af-1' };
  expect(events).toEqual([
    {
      ...common,
      created_at: '2026-03-02T11:30:00Z',
      type: 'custom.purchase',
      payload: { value: 4.99, currency: 'eur', item_id: 'af_purchase', status: 'completed', tr_id: 'GPA.1' },
    },
    {
      ...common,
      created_at: '2026-03-02T12:00:00Z',
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
      created_at: '2026-03-03T09:05:00Z',
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

it("makes envelopes of Adjust's CSV uploads, leaves devices organic without a team's token, and passes over what it does not know", async () => {
  const { devices, creatives, events } = await prepared('adjust.csv', 'adjust', ADJUST, null);
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
  await expect(prepareExport(file, 'appsflyer', target, team)).rejects.toThrow(
    'lacks these columns: Install Time, Event Time',
  );
  await expect(readFile(`${file}.ready.ndjson`)).rejects.toThrow('ENOENT');
});

it('says that there is no such file', async () => {
  await expect(prepareExport(path.join(folder, 'none.csv'), 'adjust', target, team)).rejects.toThrow(
    'ENOENT',
  );
});
