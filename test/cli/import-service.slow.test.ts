import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../helpers/service.ts';
import { adjustFile, appsflyerFile, type Cells } from './exports.ts';
import { runScript } from './process.ts';

// Exports of other services, imported into a running service by the command. The other tests of imports use a stand-in for it.

let folder: string;
let service: Service;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'import-'));
  service = await startService();
}, 60_000);
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
}, 60_000);

type Totals = Record<'installs' | 'sessions' | 'impressions' | 'purchases' | 'events', number> &
  Record<'ad_revenue' | 'purchase_revenue', number>;
type Report = { counted_through: string | null; totals: Totals; data: Record<string, unknown>[] };

/** The report by campaign, once every event up to now is counted. */
async function report(): Promise<Report> {
  const { demo } = service;
  const now = Date.now();
  const query = `application_id=${demo.application.id}&from=2026-03-01&to=2026-03-31&group_by=campaign`;
  const read = async () => {
    const answer = await fetch(`${demo.base_url}/v1/reports/performance?${query}`, {
      headers: { [`${demo.service_name}-Token`]: demo.team_token },
    });
    return (await answer.json()) as Report;
  };
  return expect
    .poll(read, { timeout: 60_000, interval: 500 })
    .toSatisfy(({ counted_through }: Report) => Date.parse(counted_through ?? '') >= now)
    .then(read);
}

/** Runs the command, and returns its summary: read, accepted, repeated and rejected rows by kind. */
async function importFile(name: string, vendor: string, csv: string): Promise<Record<string, number[]>> {
  const file = path.join(folder, name);
  await writeFile(file, csv);
  const command = runScript('import.ts', {
    args: [file, '--from', vendor],
    env: { STATE_DIR: service.stateDir },
  });
  // 1 because of the rejected rows.
  expect(await command.ended, command.output()).toBe(1);
  const lines = [...command.output().matchAll(/^(\w[\w ]*?) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$/gm)];
  return Object.fromEntries(
    lines.map(([, kind = '', ...counts]) => [kind, counts.map((text) => Number(text.replaceAll(',', '')))]),
  );
}

const at = (time: string) => ({ 'Event Time': `2026-03-${time}` });
const paid = (amount: string, currency = 'USD') => ({
  'Event Revenue': amount,
  'Event Revenue Currency': currency,
});
const APPSFLYER: Cells[] = [
  { 'Event Name': 'install', ...at('01 10:00:00') },
  { 'Event Name': 'install', ...at('01 10:00:00') },
  { 'Event Name': 'install', ...at('01 10:00:00'), 'AppsFlyer ID': 'af-2', Campaign: 'Spring' },
  {
    'Event Name': 'af_purchase',
    ...at('02 10:00:00'),
    ...paid('2.5'),
    'Event Value': '{"af_receipt_id":"A"}',
  },
  {
    'Event Name': 'af_purchase',
    ...at('02 10:00:00'),
    ...paid('2.5'),
    'Event Value': '{"af_receipt_id":"A"}',
  },
  {
    'Event Name': 'af_purchase',
    ...at('03 10:00:00'),
    ...paid('4'),
    'AppsFlyer ID': 'af-2',
    Campaign: 'Spring',
  },
  { 'Event Name': 'af_purchase', ...at('03 10:00:00'), ...paid('-4') },
  // Two views in the same second, and a row of three.
  { 'Event Name': 'af_ad_revenue', ...at('02 10:00:00'), ...paid('0.01'), 'Monetization Network': 'AdMob' },
  { 'Event Name': 'af_ad_revenue', ...at('02 10:00:00'), ...paid('0.01'), 'Monetization Network': 'AdMob' },
  { 'Event Name': 'af_ad_revenue', ...at('04 10:00:00'), ...paid('0.03'), Impressions: '3' },
  { 'Event Name': 'level', ...at('02 11:00:00'), 'Event Value': '{"level":"1"}' },
  { 'Event Name': 'level', ...at('02 11:00:00'), 'AppsFlyer ID': '' },
];
const ADJUST: Cells[] = [
  { '{activity_kind}': 'install' },
  { '{activity_kind}': 'session' },
  { '{activity_kind}': 'session', '{created_at}': '1772532000' },
  { '{event_name}': 'level_up', '[level]': '3' },
  { '{event_name}': 'buy', '{revenue_float}': '1.5', '{currency}': 'USD', '{transaction_id}': 'T1' },
  { '{event_name}': 'buy', '{revenue_float}': '1.5', '{currency}': 'USD', '{transaction_id}': 'T1' },
  {
    '{activity_kind}': 'ad_revenue',
    '{revenue_float}': '0.02',
    '{currency}': 'USD',
    '{ad_impressions_count}': '4',
  },
  { '{activity_kind}': 'uninstall' },
];

it('counts the rows of AppsFlyer and Adjust once, however often they are imported', async () => {
  const importBoth = async () => [
    await importFile('af.csv', 'appsflyer', appsflyerFile(APPSFLYER)),
    await importFile('adjust.csv', 'adjust', adjustFile(ADJUST)),
  ];
  const summaries = await importBoth();
  expect(summaries.map(({ total }) => total)).toEqual([
    [APPSFLYER.length, 8, 2, 2],
    [ADJUST.length, 6, 1, 1],
  ]);
  for (const [read = 0, ...outcomes] of summaries.flatMap((summary) => Object.values(summary))) {
    expect(outcomes.reduce((sum, count) => sum + count, 0)).toBe(read);
  }
  const first = await report();
  expect(first.totals).toMatchObject({
    ...{ installs: 3, sessions: 2, purchases: 3, purchase_revenue: 8, impressions: 9, ad_revenue: 0.07 },
    events: 2,
  });
  expect(
    first.data.map(({ campaign, installs, purchase_revenue }) => [campaign, installs, purchase_revenue]),
  ).toEqual([
    ['Launch', 2, 4],
    ['Spring', 1, 4],
  ]);
  expect(await importBoth()).toEqual(summaries);
  const second = await report();
  expect([second.totals, second.data]).toEqual([first.totals, first.data]);
}, 240_000);
