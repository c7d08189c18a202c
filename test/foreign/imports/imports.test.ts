import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importRows } from '../../../src/cli/import/rows.ts';
import { parseColumnMap } from '../../../src/cli/import/sources/mapped.ts';
import type { Reasons } from '../../../src/cli/import/summary.ts';
import { readExport } from '../../../src/cli/import/vendor.ts';
import { startStandIn } from '../../cli/stand-in.ts';
import { mapOf, SHELF, type ShelvedImport, shelved, sumsOf, titleOf } from './shelf.ts';

// What an import sends of the shelf's files. `imports.slow.test.ts` imports them into a service with the command.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'shelf-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function imported(entry: ShelvedImport) {
  const service = await startStandIn();
  const map = mapOf(entry);
  const vendor =
    map !== null ? parseColumnMap(map) : entry.from === 'adjust' ? entry.from : ('appsflyer' as const);
  const reasons: Reasons = {};
  for (const name of entry.files) {
    const file = path.join(folder, name);
    await copyFile(shelved(name), file);
    const team = { headerName: 'service-Token', token: 'team' };
    const result = await importRows(
      { file },
      (scratch) => readExport({ file, vendor, timezone: 'UTC' }, service.target, team, scratch),
      service.target,
      () => undefined,
    );
    for (const [reason, count] of Object.entries(result.reasons)) {
      reasons[reason] = (reasons[reason] ?? 0) + count;
    }
    const skipped = Object.values(result.summary).reduce(
      (sum, { repeated, rejected }) => sum + repeated + rejected,
      0,
    );
    // Every row that is not taken has a reason.
    expect(Object.values(result.reasons).reduce((sum, count) => sum + count, 0)).toBe(skipped);
  }
  await service.stop();
  return { service, reasons };
}

const paidBy = (events: readonly Record<string, unknown>[], type: string) =>
  sumsOf(
    events
      .filter((event) => event.type === type)
      .map(({ payload }) => payload as { currency: string; value: number }),
  );

it.each(SHELF.map((entry) => [titleOf(entry), entry] as const))('sends %s', async (_, entry) => {
  const { service, reasons } = await imported(entry);
  const { devices, purchases, ads, events, sessions = 0, notTaken = {} } = entry.expected;
  const countOf = (type: string) => service.events.filter((event) => event.type === type).length;
  expect({
    devices: service.devices.size,
    purchases: paidBy(service.events, 'custom.purchase'),
    ads: paidBy(service.events, 'custom.ad'),
    events: countOf('custom'),
    sessions: countOf('retention'),
  }).toEqual({ devices, purchases, ads, events, sessions });
  const counts = Object.entries(reasons).map(([reason, count]) => [
    Object.keys(notTaken).find((part) => reason.includes(part)) ?? reason,
    count,
  ]);
  expect(Object.fromEntries(counts)).toEqual(notTaken);
});

const entryOf = (file: string): ShelvedImport => {
  const entry = SHELF.find(({ files }) => files[0] === file);
  if (!entry) throw new Error(`${file} is not on the shelf`);
  return entry;
};

it('attributes a device to the primary source, whichever row or file comes first', async () => {
  for (const entry of SHELF.filter(({ files }) => /^af_(?:both|acq|ret)/.test(files[0] ?? ''))) {
    const { service } = await imported(entry);
    expect([...service.devices.values()].map(({ data }) => data.network)).toEqual(['Moloco']);
  }
});

it('sends networks as the export writes them', async () => {
  const { service } = await imported(entryOf('adj_networks.csv'));
  expect([...service.devices.values()].map(({ data }) => data.network)).toEqual([
    ...['Facebook Installs', 'Instagram Installs', 'Off-Facebook Installs', 'Facebook Messenger Installs'],
    ...['Google Ads ACI', 'Google Ads ACE', 'Google Ads Search'],
    ...['TikTok SAN', 'TikTok', 'TikTok for Business (Android)', 'Unity Ads'],
  ]);
});

it('makes no parameters of null', async () => {
  const { service } = await imported(entryOf('af_data_locker.csv'));
  const custom = service.events.filter(({ type }) => type === 'custom').map(({ payload }) => payload);
  expect(custom).toEqual([{ event_name: 'tutorial' }, { event_name: 'level', params: { level: 3 } }]);
  expect([...service.devices.values()].map(({ data }) => data.network)).toEqual([
    'googleadwords_int',
    undefined,
  ]);
});

it('keeps names with vertical bars, semicolons and characters of any script', async () => {
  const { service } = await imported(entryOf('af_utf16.tsv'));
  expect(service.requests('/v1/creatives').map(({ body }) => body.campaign)).toEqual([
    '春のキャンペーン|2026',
  ]);
  expect([...service.devices.values()][0]?.data.network).toBe('Google|Ads, search;brand');
});

it.each([
  ['', 'The map is not valid'],
  ['{"columns":{"time":"t"}}', 'columns: needs device_id and time'],
  ['{"columns":{"device_id":"d","time":"t","costs":"c"}}', 'Unrecognized key: "costs"'],
  ['{"columns":{"device_id":"d","time":"t"},"dates":"swatch"}', 'dates: '],
])('says what is wrong with the map %j', (text, message) => {
  expect(() => parseColumnMap(text)).toThrow(message);
});
