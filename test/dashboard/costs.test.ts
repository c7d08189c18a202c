import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
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

const textOf = async (answer: Response) =>
  (await answer.text()).replaceAll(/<[^>]+>/g, '|').replaceAll(/[|\s]*\|[|\s]*/g, '|');

/** Uploads, and follows the redirect that keeps a reload from sending the file again. */
async function upload(csv: string): Promise<Response> {
  const answer = await admin.post(`/costs?${PERIOD}`, { csv, file_currency: 'usd' });
  if (answer.status !== 303) return answer;
  return admin.get(answer.headers.get('Location') ?? '');
}
const costs = () => admin.get(`/costs?${PERIOD}`);

async function stored() {
  const { results } = await env.DB.prepare(
    'SELECT day, campaign, adset, creative, currency, amount, impressions, clicks FROM costs WHERE application_id = ? ORDER BY day, campaign',
  )
    .bind(tenant.application.id)
    .all();
  return results.map((row) => Object.values(row).join());
}

it('lists what was uploaded with CTR, CPC and CPM, and what has no match', async () => {
  const answer = await textOf(
    await upload(
      'date,campaign,adset,creative,currency,amount,impressions,clicks\n2026-03-02,Spring,Young,Cat,usd,10,2000,50\n2026-03-03,Unknown,,,eur,5,,',
    ),
  );
  expect(answer).toContain('2 rows stored. Rows with unmatched names: 1.');
  expect(answer).toContain('|2026-03-02|Cat|Spring › Young|Matched|$10.00|2,000|50|2.5%|$0.20|$5.00|');
  expect(answer).toContain('|2026-03-03|Unknown|Unmatched|€5.00|–|–|–|–|–|');
  expect(answer).toContain('Names without a match');
  const unmatched = await textOf(await admin.get(`/costs?${PERIOD}&unmatched=true`));
  expect(unmatched).not.toContain('|Cat|Spring › Young|Matched|');
});

it('stores nothing of a file with a fault, and says in which line it is', async () => {
  const answer = await textOf(
    await upload(
      'date,campaign,currency,amount\n2026-03-02,A,usd,1\n\n2026-02-30,B,usd,2\n2026-03-02,C,usd,"1,000"',
    ),
  );
  expect(answer).toContain('Nothing was stored');
  expect(answer).toContain('Line 5: amount must be a number');
  const second = await textOf(await upload('date,campaign,currency,amount\n\n2026-02-30,B,usd,2'));
  expect(second).toContain('Line 3: date must be a day');
  expect((await upload('date\n')).status).toBe(400);
  expect(await stored()).toEqual([]);
});

it('compares the spend with the period before, draws both and marks the first', async () => {
  await upload('date,campaign,currency,amount\n2026-02-27,Spring,usd,10\n2026-03-02,Spring,usd,15');
  const html = await (await costs()).text();
  const text = html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(text).toContain('Compared with 24 Feb – 28 Feb');
  expect(text).toContain('Spend $15.00 ▲ 50% more from $10.00');
  expect(html).toContain('&quot;name&quot;:&quot;Spend, before&quot;');
  const wider = await (await admin.get('/costs?from=2026-02-20&to=2026-03-05')).text();
  expect(wider).toContain('Fri, 27 Feb 2026: first spend.');
});

it('draws spend by week where days would be too many', async () => {
  await upload('date,campaign,currency,amount\n2026-03-02,Spring,usd,15');
  const html = await (await admin.get('/costs?from=2025-01-01&to=2026-03-05')).text();
  expect(html).toContain('<h2>Spend by week</h2>');
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
    const page: string = await (await admin.get(path)).text();
    const ledger: string = page.slice(page.indexOf('id="ledger"'));
    for (const [, row = ''] of ledger.matchAll(/<tr>(<td.*?)<\/tr>/gs)) {
      const [day, name] = row
        .replaceAll(/<[^>]+>/g, '|')
        .split(/\|+/)
        .filter(Boolean);
      listed.push(`${day} ${name}`);
    }
    const [, next]: string[] = /href="([^"]*)">Older costs</.exec(ledger) ?? [];
    path = next?.replaceAll('&amp;', '&');
  }
  expect(listed).toEqual([...days].reverse().flatMap((day) => names.map((name) => `${day} ${name}`)));
});

it('edits and deletes a row', async () => {
  await upload(
    'date,campaign,adset,creative,currency,amount\n2026-03-02,Spring,Young,Cat,usd,10\n2026-03-02,Spring,,,usd,3',
  );
  const key = { date: '2026-03-02', campaign: 'Spring', adset: 'Young', creative: 'Cat' };
  const page = await (await admin.get(`/costs/row?${new URLSearchParams(key)}`)).text();
  expect(page).toContain('value="10"');
  const wrong = await admin.post('/costs/row', { ...key, amount: '1x', currency: 'usd' });
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('must be a number')]);
  const saved = await admin.post('/costs/row', { ...key, amount: '12.5', currency: 'eur', clicks: '4' });
  expect(saved.status).toBe(303);
  expect(await stored()).toEqual([
    '2026-03-02,Spring,,,usd,3000000,,',
    '2026-03-02,Spring,Young,Cat,eur,12500000,,4',
  ]);
  expect(
    (await admin.post('/costs/row', { ...key, creative: 'Dog', amount: '1', currency: 'usd' })).status,
  ).toBe(404);
  expect((await admin.post('/costs/row/delete', key)).status).toBe(303);
  expect(await stored()).toEqual(['2026-03-02,Spring,,,usd,3000000,,']);
});

const names = (...parts: string[]) => JSON.stringify(parts);

it('maps a name: stored costs move there and are added up, and later uploads follow', async () => {
  const file =
    'date,campaign,currency,amount,impressions,clicks\n2026-03-02,FB_SPRING,usd,10,100,\n2026-03-03,FB_SPRING,usd,20,,2\n2026-03-02,Spring,usd,1,1,1';
  await upload(file);
  const page = await (await costs()).text();
  const [, campaign = ''] = /<option value="(cmp_[0-9a-f]+)">Spring</.exec(page) ?? [];
  const mapped = await admin.post('/costs/names', { names: names('FB_SPRING', '', ''), to: campaign });
  expect(mapped.status).toBe(303);
  const expected = ['2026-03-02,Spring,,,usd,11000000,101,1', '2026-03-03,Spring,,,usd,20000000,,2'];
  expect(await stored()).toEqual(expected);
  await upload(file);
  expect(await stored()).toEqual(expected);
  expect(await textOf(await costs())).toContain('|FB_SPRING|Spring|');

  await admin.post('/costs/names/remove', { campaign: 'FB_SPRING', adset: '', creative: '' });
  await upload('date,campaign,currency,amount\n2026-03-04,FB_SPRING,usd,7');
  expect((await stored()).at(-1)).toBe('2026-03-04,FB_SPRING,,,usd,7000000,,');
});

it('maps to a creative with all its names, and refuses what would add two currencies or is another team’s', async () => {
  await upload('date,campaign,currency,amount\n2026-03-02,X,usd,10\n2026-03-03,Y,usd,1');
  await admin.post('/costs/names', { names: names('X', '', ''), to: creative.id });
  expect((await stored())[0]).toBe('2026-03-02,Spring,Young,Cat,usd,10000000,,');
  await upload('date,campaign,currency,amount\n2026-03-02,Y,eur,1');
  const clash = await admin.post('/costs/names', { names: names('Y', '', ''), to: creative.id });
  expect([clash.status, await clash.text()]).toEqual([
    409,
    expect.stringContaining('already has costs in another currency on 2026-03-02'),
  ]);
  const other = await createTenant();
  const foreign = await createCreative(worker, other, { creative: 'Theirs' });
  expect((await admin.post('/costs/names', { names: names('Y', '', ''), to: foreign.id })).status).toBe(404);
  expect((await admin.post('/costs/names', { names: 'no list', to: creative.id })).status).toBe(400);
});

it('lists exchange rates and takes one of the team', async () => {
  const rate = { date: '2026-03-02', currency: 'EUR', rate: '1.25', base: 'usd' };
  expect((await admin.post(`/costs/rates?${PERIOD}`, rate)).status).toBe(303);
  const page = await textOf(await admin.get(`/costs/rates?${PERIOD}`));
  expect(page).toContain('|2026-03-02|EUR|1.25 USD|Your team|');
  for (const [fields, fault] of [
    [{ ...rate, currency: 'euro' }, 'must be an ISO 4217 code'],
    [{ ...rate, currency: 'usd' }, 'must not be the base currency'],
    [{ ...rate, rate: 'x' }, 'must be a number above 0'],
    [{ ...rate, date: '2026-02-30' }, 'must be a day'],
  ] as const) {
    expect(await (await admin.post(`/costs/rates?${PERIOD}`, fields)).text()).toContain(fault);
  }
});
