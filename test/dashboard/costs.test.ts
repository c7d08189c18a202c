import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { dayText } from '../../src/dashboard/shell/dates.ts';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { type Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';

let tenant: Tenant;
let admin: Browser;
let creative: { id: string };

beforeEach(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  creative = await createCreative(worker, tenant, { creative: 'Cat', adset: 'Young', campaign: 'Spring' });
});

/** Uploads, and follows the redirect that keeps a reload from sending the file again. */
async function upload(csv: string): Promise<Response> {
  const answer = await admin.post(`/costs?${PERIOD}`, { csv, file_currency: 'usd' });
  if (answer.status !== 303) return answer;
  return admin.get(answer.headers.get('Location') ?? '');
}
const costs = async () => pageOf(await admin.get(`/costs?${PERIOD}`));

const LEDGER = 'Costs as uploaded';

async function stored() {
  const { results } = await env.DB.prepare(
    'SELECT day, campaign, adset, creative, currency, amount, impressions, clicks FROM costs WHERE application_id = ? ORDER BY day, campaign',
  )
    .bind(tenant.application.id)
    .all();
  return results.map((row) => Object.values(row).join());
}

it('lists what was uploaded with CTR, CPC and CPM, and what has no match', async () => {
  const page = await pageOf(
    await upload(
      'date,campaign,adset,creative,currency,amount,impressions,clicks\n2026-03-02,Spring,Young,Cat,usd,10,2000,50\n2026-03-03,Unknown,,,eur,5,,',
    ),
  );
  expect(page.notices).toEqual([
    '2 rows stored. Rows with unmatched names: 1. Their spend counts in totals only, until you map the names below. Spend: €5.00 (EUR), $10.00 (USD).',
    'Not included, because there is no exchange rate: €5.00 (EUR). Add exchange rates',
  ]);
  expect(page.link('Add exchange rates')).toBe('/costs/rates');
  expect(page.table(LEDGER).rows).toEqual([
    ['Tue 3 Mar', 'Unknown', '€5.00', 'Unmatched', '–', '–', '–', '–', '–', 'Edit'],
    ['Mon 2 Mar', 'Cat Spring › Young', '$10.00', 'Matched', '2,000', '50', '2.5%', '$0.20', '$5.00', 'Edit'],
  ]);
  expect(page.cards.filter((title) => /^(Ledger|Spend by)/.test(title))).toEqual(['Ledger', 'Spend by day']);
  expect(page.texts('#names > summary')).toEqual(['1 name without a match Unknown Map names']);
  expect(page.texts('#names option')).toEqual([
    'Unknown (1 row)',
    'Choose …',
    'Spring',
    'Spring › Young',
    'Spring › Young › Cat',
  ]);
  const unmatched = await pageOf(await admin.get(`/costs?${PERIOD}&unmatched=true`));
  expect(unmatched.cells(LEDGER, 'Day', 'Spent on', 'Match')).toEqual([
    ['Tue 3 Mar', 'Unknown', 'Unmatched'],
  ]);
});

it('writes the amounts of a column of the ledger with the same decimals', async () => {
  const page = await pageOf(
    await upload(
      'date,campaign,currency,amount,impressions,clicks\n2026-03-02,Spring,usd,10,2000,8\n2026-03-03,Spring,eur,0.0456,600,2\n2026-03-04,Spring,jpy,300,1000,3',
    ),
  );
  expect(page.cells(LEDGER, 'Amount', 'CTR', 'CPC', 'CPM')).toEqual([
    ['¥300', '0.3%', '¥100', '¥300'],
    ['€0.05', '0.3%', '€0.02', '€0.08'],
    ['$10.00', '0.4%', '$1.25', '$5.00'],
  ]);
  const small = await pageOf(
    await upload(
      'date,campaign,currency,amount,impressions,clicks\n2026-03-02,Spring,usd,0.5,2000,10\n2026-03-03,Spring,eur,0.03,500,10\n2026-03-04,Spring,usd,0.6,100,40',
    ),
  );
  expect(small.cells(LEDGER, 'Day', 'CPC')).toEqual([
    ['Wed 4 Mar', '$0.0150'],
    ['Tue 3 Mar', '€0.0030'],
    ['Mon 2 Mar', '$0.0500'],
  ]);
});

it('stores nothing of a file with a fault, and names the line', async () => {
  const faults = async (csv: string) => (await pageOf(await upload(csv))).notices;
  expect(
    await faults(
      'date,campaign,currency,amount\n2026-03-02,A,usd,1\n\n2026-02-30,B,usd,2\n2026-03-02,C,usd,"1,000"',
    ),
  ).toEqual(['Nothing was stored. Line 5: amount must be a number, not "1,000"']);
  expect(await faults('date,campaign,currency,amount\n\n2026-02-30,B,usd,2')).toEqual([
    'Nothing was stored. Line 3: date must be a day, as YYYY-MM-DD',
  ]);
  expect((await upload('date\n')).status).toBe(400);
  expect(await stored()).toEqual([]);
});

it('compares the spend with the period before, draws both and marks the first', async () => {
  await upload('date,campaign,currency,amount\n2026-02-27,Spring,usd,10\n2026-03-02,Spring,usd,15');
  const page = await costs();
  expect(page.texts('.card-head .muted')).toContain('1 Mar – 5 Mar compared with 24 Feb – 28 Feb');
  expect(page.figures).toMatchObject({ Spend: '$15.00 ▲ 50.0% more $10.00 before' });
  expect(page.chart.series.map(({ name }) => name)).toEqual(['Spend', 'Spend, before']);
  const wider = await pageOf(await admin.get('/costs?from=2026-02-20&to=2026-03-05'));
  expect(wider.chart.notes.filter((note) => note !== '')).toEqual(['first spend']);
});

it('draws spend by week where days would be too many', async () => {
  await upload('date,campaign,currency,amount\n2026-03-02,Spring,usd,15');
  const page = await pageOf(await admin.get('/costs?from=2025-01-01&to=2026-03-05'));
  expect(page.cards).toContain('Spend by week');
  const csv = await (await admin.get('/costs?from=2025-01-01&to=2026-03-05&format=csv')).text();
  expect(csv).toMatch(/^week,/);
});

it('lists the newest costs first, page by page', async () => {
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const names = Array.from({ length: 20 }, (_, index) => `Campaign ${String(index).padStart(2, '0')}`);
  const lines = days.flatMap((day) => names.map((name) => `${day},${name},usd,1`));
  await upload(['date,campaign,currency,amount', ...lines].join('\n'));
  const listed: string[] = [];
  for (let path: string | undefined = `/costs?${PERIOD}`; path; ) {
    const page: Page = await pageOf(await admin.get(path));
    listed.push(...page.cells(LEDGER, 'Day', 'Spent on').map((row) => row.join(' ')));
    path = page.links.get('Older costs');
  }
  expect(listed).toEqual(
    [...days].reverse().flatMap((day) => names.map((name) => `${dayText(day, '2026')} ${name}`)),
  );
});

it('edits and deletes a row', async () => {
  await upload(
    'date,campaign,adset,creative,currency,amount\n2026-03-02,Spring,Young,Cat,usd,10\n2026-03-02,Spring,,,usd,3',
  );
  const key = { date: '2026-03-02', campaign: 'Spring', adset: 'Young', creative: 'Cat' };
  const row = await pageOf(await admin.get(`/costs/row?${new URLSearchParams(key)}`));
  expect(row.value('amount')).toBe('10');
  const wrong = await admin.post('/costs/row', { ...key, amount: '1x', currency: 'usd' });
  expect(wrong.status).toBe(400);
  expect((await pageOf(wrong)).faults).toEqual({ amount: 'Amount must be a number' });
  const saved = await admin.post('/costs/row', { ...key, amount: '12.5', currency: 'eur', clicks: '4' });
  expect(saved.status).toBe(303);
  expect(await stored()).toEqual([
    '2026-03-02,Spring,,,usd,3000000000,,',
    '2026-03-02,Spring,Young,Cat,eur,12500000000,,4',
  ]);
  expect(
    (await admin.post('/costs/row', { ...key, creative: 'Dog', amount: '1', currency: 'usd' })).status,
  ).toBe(404);
  expect((await admin.post('/costs/row/delete', key)).status).toBe(303);
  expect(await stored()).toEqual(['2026-03-02,Spring,,,usd,3000000000,,']);
});

it('edits a row without replacing those beside it, which an upload does', async () => {
  const rest = '2026-03-02,Spring,,,usd,3000000000,,';
  await upload(
    'date,campaign,country,currency,amount\n2026-03-02,Spring,DE,usd,10\n2026-03-02,Spring,,usd,3',
  );
  const key = { date: '2026-03-02', campaign: 'Spring' };
  await admin.post('/costs/row', { ...key, country: 'DE', amount: '12', currency: 'usd' });
  expect(await stored()).toEqual([rest, '2026-03-02,Spring,,,usd,12000000000,,']);
  const filtered = await pageOf(await admin.get(`/costs?${PERIOD}&country=de`));
  expect(filtered.notices).toEqual([]);
  expect(filtered.texts('.left-out .info > div')).toEqual([
    'These costs do not state what the filters ask for, so what depends on spend is unknown here: costs by country, OS and network would fill it.',
  ]);
  const page = await pageOf(await upload('date,campaign,currency,amount\n2026-03-02,Spring,usd,20'));
  expect(page.notices).toEqual([
    '1 row stored. All names match. Earlier rows of the same costs that were replaced: 1. Spend: $20.00 (USD).',
  ]);
  expect(await stored()).toEqual(['2026-03-02,Spring,,,usd,20000000000,,']);
});

it('cuts the names without a match in the middle, isolates those from right to left and counts the rest', async () => {
  const long = `Prospecting ${'very '.repeat(10)}broad audience 2`;
  await upload(
    [
      'date,campaign,currency,amount',
      ...['ألغاز', long, 'C', 'D'].map((name) => `2026-03-02,${name},usd,1`),
    ].join('\n'),
  );
  const page = await costs();
  const [line = ''] = page.texts('#names > summary');
  expect(line).toMatch(/^4 names without a match .+ and 1 more Map names$/);
  const options = page.texts('select[name=names] option');
  expect(options).toContain('\u2068ألغاز\u2069 (1 row)');
  expect(options).toContain('Prospecting very very very…oad audience 2 (1 row)');
  expect(page.one('#names').getAttribute('open')).toBeUndefined();
});

const names = (...parts: string[]) => JSON.stringify(parts);

it('maps a name: stored costs move there and are added up, and later uploads follow', async () => {
  const file =
    'date,campaign,currency,amount,impressions,clicks\n2026-03-02,FB_SPRING,usd,10,100,\n2026-03-03,FB_SPRING,usd,20,,2\n2026-03-02,Spring,usd,1,1,1';
  await upload(file);
  const targets = (await costs()).all('select[name=to] option');
  const campaign = targets.find((option) => option.text === 'Spring')?.getAttribute('value') ?? '';
  const mapped = await admin.post('/costs/names', { names: names('FB_SPRING', '', ''), to: campaign });
  expect(mapped.status).toBe(303);
  const expected = ['2026-03-02,Spring,,,usd,11000000000,101,1', '2026-03-03,Spring,,,usd,20000000000,,2'];
  expect(await stored()).toEqual(expected);
  await upload(file);
  expect(await stored()).toEqual(expected);
  expect((await costs()).table('Mapped names').rows).toEqual([['FB_SPRING', 'Spring', 'Remove']]);

  await admin.post('/costs/names/remove', { campaign: 'FB_SPRING', adset: '', creative: '' });
  await upload('date,campaign,currency,amount\n2026-03-04,FB_SPRING,usd,7');
  expect((await stored()).at(-1)).toBe('2026-03-04,FB_SPRING,,,usd,7000000000,,');
});

it('maps to a creative with all its names, and refuses what would add two currencies or is another team’s', async () => {
  await upload('date,campaign,currency,amount\n2026-03-02,X,usd,10\n2026-03-03,Y,usd,1');
  await admin.post('/costs/names', { names: names('X', '', ''), to: creative.id });
  expect((await stored())[0]).toBe('2026-03-02,Spring,Young,Cat,usd,10000000000,,');
  await upload('date,campaign,currency,amount\n2026-03-02,Y,eur,1');
  const clash = await admin.post('/costs/names', { names: names('Y', '', ''), to: creative.id });
  expect(clash.status).toBe(409);
  expect((await pageOf(clash)).error).toBe(
    'Spring › Young › Cat already has costs in another currency on 2026-03-02.',
  );
  // Costs of another application there are no matter.
  const elsewhere = await createTenant();
  await putCosts(worker, elsewhere, [
    { date: '2026-03-05', campaign: 'Spring', adset: 'Young', creative: 'Cat', currency: 'eur', amount: 1 },
  ]);
  await upload('date,campaign,currency,amount,clicks\n2026-03-05,W,usd,1,3');
  expect((await admin.post('/costs/names', { names: names('W', '', ''), to: creative.id })).status).toBe(303);
  await upload(
    'date,campaign,adset,creative,currency,amount,clicks\n2026-03-05,W,,,usd,1,3\n2026-03-05,Spring,Young,Cat,usd,1,4',
  );
  expect(await stored()).toContain('2026-03-05,Spring,Young,Cat,usd,2000000000,,7');
  await upload('date,campaign,currency,amount\n2026-03-02,Z,usd,8999999991');
  const large = await admin.post('/costs/names', { names: names('Z', '', ''), to: creative.id });
  expect(large.status).toBe(409);
  expect((await pageOf(large)).error).toBe(
    'Spring › Young › Cat already has costs on 2026-03-02, with which these would add up to more than 9000000000.',
  );
  const other = await createTenant();
  const foreign = await createCreative(worker, other, { creative: 'Theirs' });
  expect((await admin.post('/costs/names', { names: names('Y', '', ''), to: foreign.id })).status).toBe(404);
  expect((await admin.post('/costs/names', { names: 'no list', to: creative.id })).status).toBe(400);
});

it('lists exchange rates with those that the team adds', async () => {
  const rate = { date: '2026-03-02', currency: 'EUR', rate: '1.25', base: 'usd' };
  expect((await admin.post(`/costs/rates?${PERIOD}`, rate)).status).toBe(303);
  const page = await pageOf(await admin.get(`/costs/rates?${PERIOD}`));
  expect(page.table('Exchange rates').rows).toEqual([['Mon 2 Mar', 'EUR', '1.25 USD', 'Your team']]);
  const only = async (currency: string) =>
    pageOf(await admin.get(`/costs/rates?${PERIOD}&of_currency=${currency}`));
  expect((await only('eur')).cells('Exchange rates', 'Currency')).toEqual([['EUR']]);
  expect((await only('TWD')).tables).toEqual([]);
});

it.each([
  ['currency', 'euro', 'Currency must be a currency code (ISO 4217), such as eur'],
  ['currency', 'usd', 'Currency must not be the one that its value is in'],
  ['currency', ' ', 'Currency is required'],
  ['base', 'euro', 'This must be at most 3 characters'],
  ['rate', 'x', 'Value of 1 unit must be a number above 0, with a decimal point'],
  ['rate', '', 'Value of 1 unit must be a number above 0, with a decimal point'],
  ['date', '2026-02-30', 'Day must be a day, as YYYY-MM-DD'],
])('refuses an exchange rate with the %s %s', async (field, value, fault) => {
  const rate = { date: '2026-03-02', currency: 'EUR', rate: '1.25', base: 'usd', [field]: value };
  const refused = await admin.post(`/costs/rates?${PERIOD}`, rate);
  expect([refused.status, (await pageOf(refused)).faults]).toEqual([400, { [field]: fault }]);
});

it('asks which column is which of a file that nobody knows, and remembers it', async () => {
  const csv = 'Päivä;Kampanja;Summa\n2026-03-02;Spring;12,50';
  const asked = await upload(csv);
  expect(asked.status).toBe(400);
  const page = await pageOf(asked);
  expect(page.cards).toContain('Which column is which?');
  expect(page.texts('#field-map_date option')).toEqual(['Choose …', 'Päivä', 'Kampanja', 'Summa']);
  const chosen = { map_date: 'Päivä', map_campaign: 'Kampanja', map_amount: 'Summa' };
  const answer = await admin.post(`/costs?${PERIOD}`, { csv, file_currency: 'usd', ...chosen });
  expect(answer.status).toBe(303);
  expect(await stored()).toEqual(['2026-03-02,Spring,,,usd,12500000000,,']);
  // Remembered for the application, not for the browser.
  const again = await upload(csv.replace('12,50', '13,50'));
  expect(again.status).toBe(200);
  expect(await stored()).toEqual(['2026-03-02,Spring,,,usd,13500000000,,']);
});

it('says which lines are not stored, and how a total differs', async () => {
  const page = await pageOf(
    await upload(
      'Day,Campaign,Currency code,Cost,Impr.\n2026-03-02,Spring,USD,1.50,1\nTotal: Account,--,USD,2.00,1',
    ),
  );
  expect(page.notices).toEqual([
    '1 row stored, read as an export of Google Ads. All names match. Spend: $1.50 (USD). Line 3 is a total of 2, but its rows add up to 1.5; not stored.',
  ]);
});
