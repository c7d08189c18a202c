import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { fetchSharedRates, parseReferenceRates } from '#money';
import worker from '../../src/index.ts';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { inMinuteOf, type MINUTES } from '../helpers/minutes.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, fieldsOf, startWorker } from '../helpers/worker.ts';

const at = startWorker();
const put = (tenant: Tenant, path: string, body: unknown) => at.team(tenant, path, { method: 'PUT', body });

async function performance(tenant: Tenant, more = '') {
  const answer = await at.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31${more}`,
  );
  return (await answer.json()) as {
    data: Record<string, unknown>[];
    totals: Record<string, number | string | null>;
    unconverted: unknown[];
  };
}

describe('PUT /v1/costs', () => {
  it('overwrites the row of the same date and names, and adds up those of one upload', async () => {
    const tenant = await createTenant();
    const row = { date: '2026-03-02', campaign: 'Spring', currency: 'usd', amount: 10 };
    const upload = (rows: unknown[]) =>
      put(tenant, '/v1/costs', { application_id: tenant.application.id, rows });
    await upload([row, { ...row, adset: 'Young' }]);
    await upload([{ ...row, amount: 12.345678 }]);
    expect((await performance(tenant)).totals.spend).toBe(22.345678);
    await upload([
      { ...row, amount: 1 },
      { ...row, amount: 2 },
    ]);
    expect((await performance(tenant)).totals.spend).toBe(13);
  });

  it('overwrites the currency with the amount', async () => {
    const tenant = await createTenant();
    const row = { date: '2026-03-02', campaign: 'Spring', currency: 'eur', amount: 10 };
    for (const upload of [row, { ...row, currency: 'usd', amount: 7 }]) {
      await put(tenant, '/v1/costs', { application_id: tenant.application.id, rows: [upload] });
    }
    const { totals, unconverted } = await performance(tenant);
    expect([totals.spend, unconverted]).toEqual([7, []]);
  });

  it('counts the rows whose names match, and includes the others in the spend', async () => {
    const tenant = await createTenant();
    const id = tenant.application.id;
    await createCreative(at, tenant, { creative: 'Cat', campaign: 'Spring', adset: 'Young' });
    await createCreative(at, tenant, { creative: 'Mouse', campaign: 'Spring', adset: 'Wide' });
    const row = { date: '2026-03-02', campaign: 'Spring', currency: 'usd', amount: 1 };
    const answer = await put(tenant, '/v1/costs', {
      application_id: id,
      rows: [
        row,
        { ...row, adset: 'Young' },
        { ...row, adset: 'Young', creative: 'Cat' },
        { ...row, creative: 'Cat' },
        { ...row, adset: 'Old' },
        { ...row, creative: 'Dog' },
        { ...row, adset: 'Young', creative: 'Mouse' },
        { ...row, campaign: 'spring' },
      ],
    });
    expect(await answer.json()).toEqual({
      ...{ rows: 8, read: 8, stored: 8, skipped: [], amounts: [{ currency: 'usd', amount: 8 }] },
      replaced: 0,
      matched: 4,
      unmatched: 4,
      unmatched_names: [
        { campaign: 'Spring', adset: null, creative: 'Dog' },
        { campaign: 'Spring', adset: 'Old', creative: null },
        { campaign: 'Spring', adset: 'Young', creative: 'Mouse' },
        { campaign: 'spring', adset: null, creative: null },
      ],
    });
    expect((await performance(tenant)).totals.spend).toBe(8);
  });

  it.each([
    { fault: 'rows.0.date', row: { date: '2026-02-30' } },
    { fault: 'rows.0.campaign', row: { campaign: ' ' } },
    { fault: 'rows.0.currency', row: { currency: 'xyz' } },
    { fault: 'rows.0.amount', row: { amount: -1 } },
    { fault: 'rows.0.clicks', row: { clicks: 1.5 } },
  ])('refuses a row with a bad $fault', async ({ fault, row }) => {
    const tenant = await createTenant();
    const good = { date: '2026-03-02', campaign: 'Spring', currency: 'usd', amount: 1 };
    const rows = [{ ...good, ...row }];
    const answer = await put(tenant, '/v1/costs', { application_id: tenant.application.id, rows });
    expect(answer.status).toBe(400);
    const { message }: { message: string } = await answer.json();
    expect([...new Set(fieldsOf(message))]).toEqual([fault]);
  });

  it("is a 404 for another team's application", async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const rows = [{ date: '2026-03-02', campaign: 'Spring', currency: 'usd', amount: 1 }];
    expect((await put(tenant, '/v1/costs', { application_id: other.application.id, rows })).status).toBe(404);
    expect((await performance(other)).totals.spend).toBe(0);
  });
});

describe('PUT /v1/costs/file', () => {
  const putFile = (tenant: Tenant, body: BodyInit, query = '') =>
    at.request(`/v1/costs/file?application_id=${tenant.application.id}${query}`, {
      method: 'PUT',
      headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
      body,
    });

  it('stores an export with the reader of the dashboard, and answers like an upload of rows', async () => {
    const tenant = await createTenant();
    const file = 'Tag;Kampagnenname;Ausgegebener Betrag (USD)\n02.03.2026;Spring;1.234,50\n';
    const answer = await putFile(tenant, `\ufeff${file}`);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        ...{
          rows: 1,
          read: 1,
          stored: 1,
          ignored_columns: [],
          skipped: [],
          amounts: [{ currency: 'usd', amount: 1234.5 }],
        },
        ...{ format: 'meta', network: 'meta', replaced: 0, matched: 0, unmatched: 1 },
        unmatched_names: [{ campaign: 'Spring', adset: null, creative: null }],
      },
    ]);
    expect((await performance(tenant)).totals.spend).toBe(1234.5);
  });

  it('spreads periods if asked, and names the line of what it refuses', async () => {
    const tenant = await createTenant();
    const range =
      'Reporting starts,Reporting ends,Campaign name,Amount spent (USD)\n2026-03-01,2026-03-04,x,10\n';
    const refused = await putFile(tenant, range);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { message: expect.stringMatching(/^Line 2: covers 2026-03-01 to 2026-03-04: export by day/) },
    ]);
    expect((await putFile(tenant, range, '&spread=true')).status).toBe(200);
    const { data } = await performance(tenant, '&group_by=day');
    expect(data.filter(({ spend }) => spend === 2.5).map(({ day }) => day)).toEqual([
      ...['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'],
    ]);
    const late = `date,campaign,amount\n2026-03-01,x,1\n\n${addDays(dayIn('UTC', Date.now()), 2)},x,1`;
    const { message }: { message: string } = await (await putFile(tenant, late)).json();
    expect(message).toMatch(/^Line 4: date must not be later than tomorrow, \d{4}-\d\d-\d\d$/);
    const latin = await putFile(tenant, Uint8Array.of(0x44, 0xed, 0x61));
    expect(await latin.json()).toEqual({
      message: 'The file must be in UTF-8 or UTF-16, or an Excel file (.xlsx)',
    });
    expect((await performance(tenant)).totals.spend).toBe(10);
  });
});

it('refuses costs later than tomorrow in the time zone of the application, and stores none of the upload', async () => {
  const tenant = await createTenant({ timezone: 'Pacific/Kiritimati' });
  const today = dayIn('Pacific/Kiritimati', Date.now());
  const rowOn = (date: string) => ({ date, campaign: 'Spring', currency: 'usd', amount: 1 });
  const upload = (rows: unknown[]) =>
    put(tenant, '/v1/costs', { application_id: tenant.application.id, rows });
  const refused = await upload([rowOn(today), rowOn(addDays(today, 2))]);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { message: `rows.1.date must not be later than tomorrow, ${addDays(today, 1)}` },
  ]);
  expect(await (await upload([rowOn(addDays(today, 1))])).json()).toMatchObject({ rows: 1 });
});

describe('PUT /v1/exchange-rates', () => {
  it('overwrites the rate of the same day, for the uploading team only', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    for (const each of [tenant, other]) {
      const rows = [{ date: '2026-03-02', campaign: 'Spring', currency: 'eur', amount: 10 }];
      await put(each, '/v1/costs', { application_id: each.application.id, rows });
    }
    for (const eur of [1.5, 1.08]) {
      const answer = await put(tenant, '/v1/exchange-rates', {
        date: '2026-03-01',
        base: 'USD',
        rates: { EUR: eur },
      });
      expect(await answer.json()).toEqual({ date: '2026-03-01', base: 'usd', rates: 1 });
    }
    const own = await performance(tenant);
    expect(own.totals.spend).toBe(10.8);
    expect(own.unconverted).toEqual([]);
    const others = await performance(other);
    expect(others.totals).toMatchObject({ spend: 0, unconverted: [{ currency: 'eur', amount: 10 }] });
    expect(others.unconverted).toEqual([{ currency: 'eur', amount: 10 }]);
  });

  it.each([
    { fault: 'rates', body: { rates: {} } },
    { fault: 'rates.eur', body: { rates: { eur: 0 } } },
    { fault: 'rates.eur', body: { rates: { eur: 'one' } } },
    { fault: 'rates.xyz', body: { rates: { xyz: 1 } } },
    { fault: 'rates.usd', body: { rates: { usd: 1 } } },
    { fault: 'date', body: { date: 'today' } },
    { fault: 'base', body: { base: 'dollar' } },
  ])('refuses bad $fault', async ({ fault, body }) => {
    const tenant = await createTenant();
    const answer = await put(tenant, '/v1/exchange-rates', {
      date: '2026-03-01',
      base: 'usd',
      rates: { eur: 1 },
      ...body,
    });
    expect(answer.status).toBe(400);
    const { message }: { message: string } = await answer.json();
    expect([...new Set(fieldsOf(message))]).toEqual([fault]);
  });
});

const XML = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"><gesmes:subject>Reference rates</gesmes:subject><Cube>
<Cube time='2026-03-05'><Cube currency='USD' rate='1.1600'/><Cube currency='JPY' rate='160.5'/><Cube currency='???' rate='1'/></Cube>
<Cube time="2026-03-04"><Cube currency="USD" rate="N/A"/><Cube currency="GBP" rate="0.86"/></Cube></Cube></gesmes:Envelope>`;

describe('the daily reference rates', () => {
  afterEach(() => vi.restoreAllMocks());

  const scheduled = (work: keyof typeof MINUTES) =>
    worker.scheduled(inMinuteOf(work), {
      ...env,
      EXCHANGE_RATES_URL: 'https://rates.test/daily.xml',
      FURTHER_RATES_URL: '',
    });

  it('are read from the bank’s file with either kind of quotes', () => {
    expect(parseReferenceRates(XML)).toEqual([
      { currency: 'usd', base: 'eur', day: '2026-03-05', units: '1.1600', worth: '1' },
      { currency: 'jpy', base: 'eur', day: '2026-03-05', units: '160.5', worth: '1' },
      { currency: 'gbp', base: 'eur', day: '2026-03-04', units: '0.86', worth: '1' },
    ]);
  });

  it('are fetched only on their schedule, and convert for every team', async () => {
    const fetched = answerFetch(async () => new Response(XML));
    await scheduled('chores');
    expect(fetched).not.toHaveBeenCalled();
    await scheduled('exchange rates');
    await scheduled('exchange rates');
    expect(fetched.mock.calls.map(([url]) => url)).toEqual(Array(2).fill('https://rates.test/daily.xml'));

    const tenant = await createTenant({ timezone: 'Asia/Tokyo' });
    const token = await fetchToken(at, tenant, { created_at: '2026-03-06T10:00:00Z' });
    await at.post(tenant, '/webhook', {
      type: 'custom.purchase',
      created_at: '2026-03-06 10:00:00',
      creativeToken: token,
      payload: { item_id: 'gems', item_name: 'Gems', value: 1605, currency: 'jpy', status: 'success' },
    });
    await at.deliver(at.queue.take());
    const rows = [{ date: '2026-03-06', campaign: 'Spring', currency: 'jpy', amount: 3210 }];
    await put(tenant, '/v1/costs', { application_id: tenant.application.id, rows });
    const { totals, unconverted } = await performance(tenant);
    expect(totals).toMatchObject({ purchase_revenue: 11.6, spend: 23.2, roas: 0, roas_blended: 0.5 });
    expect(unconverted).toEqual([]);
  });

  it.each([
    { what: 'an error', answer: () => new Response(XML, { status: 503 }), message: 'returned status 503' },
    { what: 'no rate', answer: () => new Response('<html>'), message: 'returned no rates' },
    {
      what: 'a broken connection',
      answer: () => {
        throw new TypeError('Network connection lost');
      },
      message: 'connection lost',
    },
  ])('stay unchanged when the source answers with $what', async ({ answer, message }) => {
    answerFetch(async () => answer());
    const count = () => env.DB.prepare('SELECT count(*) AS n FROM exchange_rates').first('n');
    const before = await count();
    await expect(fetchSharedRates(env.DB, 'reference', 'https://rates.test/', 1)).rejects.toThrow(message);
    expect(await count()).toBe(before);
  });
});

describe('large amounts', () => {
  it('in yen and dong are neither rounded nor too large', async () => {
    const tenant = await createTenant({ currency: 'vnd' });
    // Per day, 40 million purchases of 200 dong and 3 billionths: 8 × 10^18 nanos. Three days of them exceed 64 bits.
    const nanos = 40_000_000n * 200_000_000_003n;
    for (const day of ['2026-03-01', '2026-03-02', '2026-03-03']) {
      // Small enough for a number to be exact.
      const parts = Array.from({ length: 1_000 }, () => ({
        ...{ day, currency: 'vnd', purchases: 40_000 },
        purchase_revenue: Number(nanos / 1_000n),
      }));
      await addFigures(env.DB, tenant.application.id, 'rollup_daily', parts);
    }
    const { totals } = await performance(tenant);
    expect(totals.purchase_revenue).toBe(24_000_000_000.36);
    expect(totals.purchase_revenue_exact).toBe('24000000000.360000000');
    expect(totals.purchases).toBe(120_000_000);
  });
});

it('takes names in either form of Unicode for the same', async () => {
  const tenant = await createTenant();
  const id = tenant.application.id;
  const names = { creative: 'Été', adset: 'Señal', campaign: 'Café' };
  const inForm = (form: 'NFC' | 'NFD') =>
    Object.fromEntries(Object.entries(names).map(([level, name]) => [level, name.normalize(form)]));
  const created = await createCreative(at, tenant, inForm('NFD'));
  await createCreative(at, tenant, inForm('NFC'));
  const campaigns = await at.team(tenant, `/v1/campaigns?application_id=${id}`);
  expect((await campaigns.json<{ data: unknown[] }>()).data).toHaveLength(1);
  const upload = async (form: 'NFC' | 'NFD', amount: number) => {
    const row = {
      date: '2026-03-02',
      currency: 'usd',
      amount,
      ...inForm(form),
      campaign: 'Café'.normalize(form),
    };
    const answer = await put(tenant, '/v1/costs', { application_id: id, rows: [row] });
    return answer.json<{ unmatched: number }>();
  };
  expect(await upload('NFD', 5)).toMatchObject({ unmatched: 0 });
  expect(await upload('NFC', 7)).toMatchObject({ unmatched: 0 });
  const { data, totals } = await performance(tenant, '&group_by=campaign');
  expect([data.length, totals.spend]).toEqual([1, 7]);
  expect(created.id).toBeTruthy();
  // As an earlier release stored it.
  await env.DB.prepare('UPDATE costs SET campaign = ?, adset = ?, creative = ? WHERE application_id = ?')
    .bind(...['Café', 'Señal', 'Été'].map((name) => name.normalize('NFD')), id)
    .run();
  await upload('NFC', 9);
  expect((await performance(tenant)).totals.spend).toBe(9);
  for (const form of ['NFC', 'NFD'] as const) {
    const listed = await at.team(
      tenant,
      `/v1/costs?application_id=${id}&campaign=${encodeURIComponent('Café'.normalize(form))}`,
    );
    expect((await listed.json<{ data: unknown[] }>()).data).toHaveLength(1);
  }
});
