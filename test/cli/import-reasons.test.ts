import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { importFile } from '../../src/cli/import/file.ts';
import { importRows } from '../../src/cli/import/rows.ts';
import { parseColumnMap } from '../../src/cli/import/sources/mapped.ts';
import { reasonsText } from '../../src/cli/import/summary.ts';
import { readExport } from '../../src/cli/import/vendor.ts';
import { adjustFile, appsflyerFile, type Cells } from './exports.ts';
import { startStandIn } from './stand-in.ts';

// Nothing of an import is left out without a word: every reason why a row is not taken, or not as a whole, one line each. What the service itself
// drops is in test/ingestion/dropped-forms.test.ts. A new reason is a new line.

let folder: string;
let service: Awaited<ReturnType<typeof startStandIn>>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reasons-'));
});
beforeEach(async () => {
  service = await startStandIn();
});
afterEach(() => service.stop());
afterAll(() => rm(folder, { recursive: true }));

const MAP = JSON.stringify({
  columns: { device_id: 'id', time: 't', event: 'e', revenue: 'r', currency: 'c', transaction_id: 'x' },
  events: { skip: 'click' },
});
const mapped = (...rows: string[]) => ['id,t,e,r,c,x', ...rows].join('\n');

const file = { appsflyer: appsflyerFile, adjust: adjustFile };

async function resultOf(from: 'appsflyer' | 'adjust' | 'map', csv: string) {
  const name = path.join(folder, 'rows.csv');
  await writeFile(name, csv);
  const vendor = from === 'map' ? parseColumnMap(MAP) : from;
  const result = await importRows(
    { file: name },
    (scratch) =>
      readExport(
        { file: name, vendor, timezone: 'UTC' },
        service.target,
        { headerName: 'service-Token', token: 'team' },
        scratch,
      ),
    service.target,
    () => undefined,
  );
  return { ...result, said: reasonsText(result) };
}

const af = (cells: Cells): Cells => ({ 'Event Name': 'buy', 'Event Time': '2026-03-02 10:00:00', ...cells });
const paid = (cells: Cells): Cells =>
  af({ 'Event Revenue': '2.5', 'Event Revenue Currency': 'USD', ...cells });

/** The rows of a file, and the reason why the last one is not taken. */
const NOT_TAKEN: readonly (readonly [from: keyof typeof file, rows: readonly Cells[], reason: string])[] = [
  ['appsflyer', [af({ 'AppsFlyer ID': '' })], 'AppsFlyer ID is empty'],
  ['appsflyer', [af({ 'AppsFlyer ID': '00000000-0000-0000-0000-000000000000' })], 'says nothing, like null'],
  ['appsflyer', [af({ 'AppsFlyer ID': '{device}' })], 'is a macro that was not replaced'],
  ['appsflyer', [af({ 'AppsFlyer ID': '9774d56d682e549c' })], 'is an id that many devices share'],
  ['appsflyer', [af({ 'AppsFlyer ID': '1.23E+17' })], 'the device id … has lost digits'],
  ['appsflyer', [paid({ 'Event Value': '{"af_receipt_id":"1.2E+20"}' })], 'the transaction id … has lost'],
  ['appsflyer', [af({ 'Event Time': 'yesterday' })], '… is not a time'],
  ['appsflyer', [af({ 'Event Time': '2099-01-01 00:00:00' })], 'in the future: check --timezone'],
  ['appsflyer', [af({ 'Install Time': 'once' })], '… is not a time'],
  ['appsflyer', [af({ 'Install Time': '2099-01-01 00:00:00' })], 'in the future: check --timezone'],
  ['appsflyer', [paid({ 'Event Revenue': '2,5' })], 'revenue must be a number'],
  ['appsflyer', [paid({ 'Event Revenue': '-2.5' })], 'revenue is negative (…): refunds are not imported'],
  ['appsflyer', [paid({ 'Event Revenue Currency': '' })], 'revenue has no currency'],
  ['appsflyer', [af({ 'Event Name': 'af_ad_revenue', Impressions: '0' })], 'impressions must be 1 to'],
  ['appsflyer', [paid({ 'Is Primary Attribution': 'false' })], 'not the primary attribution'],
  [
    'appsflyer',
    [af({ 'Event Name': 'install' }), af({ 'Event Name': 'install' })],
    'a second install of the device',
  ],
  [
    'appsflyer',
    [paid({ 'Event Value': '{"af_order_id":"A"}' }), paid({ 'Event Value': '{"af_order_id":"A"}' })],
    'the transaction id of an earlier purchase',
  ],
  [
    'appsflyer',
    [af({ 'Event Value': '{"af_order_id":"A"}' }), af({ 'Event Value': '{"af_order_id":"A"}' })],
    'equal to an earlier row with an id',
  ],
  ['appsflyer', [paid({ 'Event Revenue Currency': 'GOLD' })], 'malformed'],
  ['adjust', [{ '{adid}': '' }], '{adid} is empty'],
  ['adjust', [{ '{activity_kind}': 'uninstall' }], '{activity_kind} … has no equivalent here'],
  ['adjust', [{ '{reporting_revenue}': '3' }], 'export {reporting_currency}'],
  ['adjust', [{ '{revenue}': '3' }], 'is only in {revenue}, whose unit is unknown'],
];

it.each(NOT_TAKEN)('says of %s %j: %s', async (from, rows, reason) => {
  const { summary, reasons, said } = await resultOf(from, file[from](rows));
  const [kind] = Object.values(summary);
  expect(kind).toMatchObject({ read: rows.length, accepted: rows.length - 1 });
  expect(Object.values(reasons)).toEqual([1]);
  expect(said).toMatch(/^1 not taken: /);
  expect(said).toContain(reason);
});

it.each([
  [mapped('a,2026-03-02,open,,'), 'has … fields, but the header has 6'],
  [mapped(',2026-03-02,open,,,'), 'id is empty'],
  [mapped('a,2026-03-02,click,,,'), '… is left out by the map'],
])('says of the mapped file %j: %s', async (csv, reason) => {
  const { said } = await resultOf('map', csv);
  expect(said.replace(/has \d+ fields/, 'has … fields')).toContain(`1 not taken: ${reason}`);
});

it('says what the service refuses of devices and their creatives', async () => {
  const refusing = (wanted: string, answer: { status: number; body: unknown }) => {
    service.intercept = (asked) => (asked === wanted ? answer : null);
  };
  refusing('/fetch-token/batch', { status: 200, body: { results: [{ index: 0, error: 'too old' }] } });
  const device = await resultOf('map', mapped('a,2026-03-02,open,,,'));
  expect(device.said).toContain('1 not taken: the device was refused: too old');
  refusing('/v1/creatives', { status: 400, body: { message: 'no name' } });
  const creative = await resultOf('appsflyer', appsflyerFile([af({})]));
  expect(creative.said).toContain('answered 400 to /v1/creatives');
});

it('says what the service dropped of what it took', async () => {
  const warnings = (path: string) => [{ path, message: 'is too long; dropped' }];
  service.intercept = (asked) => {
    if (asked === '/webhook/batch') {
      const results = [{ index: 0, event_id: 'evt_1', warnings: warnings('payload.item_name') }];
      return { status: 200, body: { success: true, accepted: 1, rejected: 0, results } };
    }
    if (asked !== '/fetch-token/batch') return null;
    const about = [...warnings('data.timezone'), ...warnings('data.network')];
    return { status: 200, body: { results: [{ index: 0, token: 'token', warnings: about }] } };
  };
  const { said } = await resultOf('map', mapped('a,2026-03-02,buy,2.5,USD,'));
  expect(said.split('\n').sort()).toEqual([
    '1 taken with a warning: data.network is too long; dropped',
    '1 taken with a warning: payload.item_name is too long; dropped',
  ]);
  const lines = path.join(folder, 'events.ndjson');
  await writeFile(lines, '{"type":"custom"}\n');
  const done = await importFile(lines, service.target, () => undefined);
  expect(done.dropped).toEqual({ 'payload.item_name is too long; dropped': 1 });
});

it.each([
  'null',
  'undefined',
  'N/A',
  '0',
  '(none)',
  '{transaction_id}',
  '00000000-0000-0000-0000-000000000000',
])('counts every purchase with the transaction id %j', async (id) => {
  const rows = ['a,2026-03-02,buy,2.5,USD', 'b,2026-03-02,buy,2.5,USD', 'b,2026-03-02,buy,2.5,USD'];
  const { summary } = await resultOf('map', mapped(...rows.map((row) => `${row},${id}`)));
  expect(summary).toEqual({ purchases: { read: 3, accepted: 3, repeated: 0, rejected: 0 } });
  expect(service.events).toHaveLength(3);
});
