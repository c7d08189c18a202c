import Papa from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Spend on names that the application does not have counts in totals. It has a row with nothing but spend where rows are names, and is no part of
// what belongs to a creative, an ad set, a campaign or a device.

const worker = startWorker({ SIGN_IN_ADDRESS_LIMIT: { limit: async () => ({ success: true }) } });
const DAY = '2026-03-02';
const KNOWN = { campaign: 'Spring', adset: 'Young', creative: 'Cat' };
const UNKNOWN = { campaign: 16, adset: 32, creative: 64 };
const LEVELS = { campaign: 'Campaigns', adset: 'Ad sets', creative: 'Creatives' };
const TOTAL = 2 + 16 + 32 + 64;
let tenant: Tenant;
let viewer: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  viewer = await signedIn(worker, tenant.team, 'viewer');
  const { token } = await createCreative(worker, tenant, KNOWN);
  for (const [data, value] of [
    [{ creative_token: token }, 4],
    [{}, 8],
  ] as const) {
    const device = await fetchToken(worker, tenant, { created_at: `${DAY}T08:00:00.000Z`, data });
    await worker.post(tenant, '/webhook', envelope.purchase(device, {}, { value, tr_id: String(value) }));
  }
  await worker.deliver(worker.queue.take());
  await putCosts(worker, tenant, [
    { date: DAY, ...KNOWN, amount: 2 },
    { date: DAY, campaign: 'Cow', amount: UNKNOWN.campaign },
    { date: DAY, campaign: 'Spring', adset: 'Cow', amount: UNKNOWN.adset },
    { date: DAY, campaign: 'Spring', adset: 'Young', creative: 'Cow', amount: UNKNOWN.creative },
  ]);
  await settleAll(tenant.application.id);
});

const open = (path: string, query = '') =>
  viewer.get(`${path}?app=${tenant.application.id}&from=${DAY}&to=${DAY}&compare=none&${query}`);
const parse = (csv: string) => Papa.parse<Record<string, string>>(csv.trim(), { header: true }).data;
const read = async (path: string, query = '') => pageOf(await open(path, query));

describe.each(['campaign', 'adset', 'creative'] as const)('spend on an unknown %s', (group) => {
  const known = { campaign: TOTAL - UNKNOWN.campaign, adset: 2 + UNKNOWN.creative, creative: 2 }[group];
  const unplaced = TOTAL - known - UNKNOWN[group];
  const roas = `${Math.round((4 / known) * 1000) / 10}%`;

  it('has a row of the breakdown, with nothing but spend', async () => {
    const page = await read('/breakdown', `by=${group}&set=all`);
    const columns = ['Revenue', 'Installs', 'Purchases', 'Payers', 'Spend', 'CPI', 'ROAS'];
    const table = page.table(`Figures by ${group}`);
    expect(page.cells(`Figures by ${group}`, table.headings[0] ?? '', ...columns)).toEqual([
      ['Organic', '$8.00', '1', '1', '1', '$0.00', '–', '–'],
      [KNOWN[group], '$4.00', '1', '1', '1', `$${known}.00`, `$${known}.00`, roas],
      ['Cow', '$0.00', '0', '0', '0', `$${UNKNOWN[group]}.00`, '–', roas.includes('.') ? '0.0%' : '0%'],
      ...(unplaced > 0 ? [['Unallocated', '$0.00', '0', '0', '–', `$${unplaced}.00`, '–', '–']] : []),
    ]);
    expect(table.totals[1 + table.headings.slice(1).indexOf('Spend')]).toBe(`$${TOTAL}.00`);
    const csv = parse(await (await open('/breakdown', `by=${group}&format=csv`)).text());
    expect(csv.find((row) => row[group] === 'Cow')).toMatchObject({
      ...{
        [`${group}_id`]: '',
        spend: String(UNKNOWN[group]),
        revenue: '0',
        payers: '0',
        cpi: '',
        roas: '0',
      },
    });
  });

  it('is in the totals of the inventory, and in none of its rows', async () => {
    const { headings, rows, totals } = (await read('/creatives', `by=${group}`)).table(LEVELS[group]);
    const at = headings.indexOf('Spend');
    expect([rows.map((row) => row[at]), totals[at]]).toEqual([[`$${known}.00`], `$${TOTAL}.00`]);
    const csv = parse(await (await open('/creatives', `by=${group}&format=csv`)).text());
    expect(csv.map((row) => [row[group], row.spend])).toEqual([[KNOWN[group], String(known)]]);
  });

  it('is of no cohort, because no device belongs to it', async () => {
    const page = await read('/ltv', `group=${group}&show=roas`);
    const [caption = ''] = page.card('ROAS by cohort').tables;
    const [heading = ''] = page.table(caption).headings;
    expect(page.cells(caption, heading, 'Devices', 'Day 7')).toEqual([
      [KNOWN[group], '1', roas],
      ['Organic', '1', '–'],
    ]);
    expect(page.text).toContain('Spend on names that match nothing is in no cohort');
    const csv = parse(await (await open('/ltv', `group=${group}&format=csv`)).text());
    expect([...new Set(csv.map((row) => row[group]))]).toEqual([KNOWN[group], '']);
    expect(csv.find((row) => row[group] === KNOWN[group])).toMatchObject({ roas: String(4 / known) });
  });

  it('cannot be compared', async () => {
    const page = await read('/compare', `by=${group}`);
    expect(page.texts('select[name="a"] option').join()).toMatch(new RegExp(`^${KNOWN[group]}[^,]*$`));
  });
});

it('is in the totals of the overview, and in a row of its campaigns', async () => {
  const page = await read('/');
  expect(page.figures).toMatchObject({ Spend: `$${TOTAL}.00`, 'ROAS day 7': '3.5%' });
  expect(page.cells('Campaigns with the highest revenue', 'Campaign', 'Spend', 'Revenue', 'ROAS')).toEqual([
    ['Spring', '$98.00', '$4.00', '4.1%'],
    ['Cow', '$16.00', '$0.00', '0.0%'],
  ]);
});

it('counts for the ROAS of all paid devices together', async () => {
  const page = await read('/ltv', 'show=roas');
  const [caption = ''] = page.card('ROAS by cohort').tables;
  expect(page.cells(caption, 'Devices', 'Day 7')).toEqual([['2', '3.5%']]);
  expect(page.text).not.toContain('Spend on names that match nothing');
});
