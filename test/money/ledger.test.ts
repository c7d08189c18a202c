import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { database } from '#db';
import { toKeyCursor } from '#http';
import { findFirstSpendDay } from '#money';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

async function call(tenant: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(tenant, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

type Row = { date: string; campaign: string; [field: string]: unknown };

async function withCosts(rows: Row[]) {
  const tenant = await createTenant();
  const application_id = tenant.application.id;
  const { status } = await call(tenant, 'PUT', '/v1/costs', { application_id, rows });
  expect(status).toBe(200);
  return tenant;
}

const usd = { currency: 'usd', amount: 1 };
const listPath = ({ application }: Tenant, more = '') => `/v1/costs?application_id=${application.id}${more}`;

/** The dates and names of all pages. */
async function listed(tenant: Tenant, more = ''): Promise<string[]> {
  const names: string[] = [];
  let cursor = '';
  do {
    const { status, body } = await call(tenant, 'GET', listPath(tenant, `${more}&cursor=${cursor}`));
    expect(status).toBe(200);
    const data = body.data as {
      date: string;
      campaign: string;
      adset: string | null;
      creative: string | null;
    }[];
    names.push(
      ...data.map(({ date, campaign, adset, creative }) => [date, campaign, adset, creative].join(' › ')),
    );
    cursor = String(body.next_cursor ?? '');
  } while (cursor !== '');
  return names;
}

describe('GET /v1/costs', () => {
  it('shows every field of a row, and whether its names match the application’s', async () => {
    const tenant = await withCosts([
      {
        date: '2026-03-02',
        campaign: 'Spring',
        adset: 'Young',
        country: 'DE',
        os: 'iOS',
        network: 'TikTok Ads',
        ...usd,
        amount: 12.345678,
        impressions: 9,
        clicks: 2,
      },
      { date: '2026-03-02', campaign: 'Autumn', currency: 'EUR', amount: 9_000_000_000 },
    ]);
    await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young' });
    const { body } = await call(tenant, 'GET', listPath(tenant));
    const updated_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(body).toEqual({
      data: [
        {
          date: '2026-03-02',
          campaign: 'Autumn',
          adset: null,
          creative: null,
          country: null,
          os: null,
          network: null,
          currency: 'eur',
          amount: 9_000_000_000,
          amount_exact: '9000000000.000000000',
          impressions: null,
          clicks: null,
          matched: false,
          connector_id: null,
          updated_at,
        },
        {
          date: '2026-03-02',
          campaign: 'Spring',
          adset: 'Young',
          creative: null,
          country: 'DE',
          os: 'ios',
          network: 'tiktok',
          currency: 'usd',
          amount: 12.345678,
          impressions: 9,
          clicks: 2,
          matched: true,
          connector_id: null,
          updated_at,
        },
      ],
      next_cursor: null,
      totals: {
        rows: 2,
        amounts: [expect.objectContaining({ currency: 'eur' }), { currency: 'usd', amount: 12.345678 }],
        impressions: 9,
        clicks: 2,
      },
    });
    expect(await listed(tenant, '&unmatched=true')).toEqual(['2026-03-02 › Autumn ›  › ']);
    expect(await listed(tenant, '&unmatched=false')).toHaveLength(2);
  });

  it('pages through all rows by key, whatever their names contain', async () => {
    const names = ['a', 'a"b', 'ä › b', '字'.repeat(255)];
    const rows = ['2026-03-01', '2026-03-02'].flatMap((date) =>
      names.flatMap((campaign) => [
        { date, campaign, ...usd },
        { date, campaign, adset: 'x', ...usd },
        { date, campaign, adset: 'x', creative: campaign, ...usd },
      ]),
    );
    const tenant = await withCosts(rows);
    const all = rows.map(({ date, campaign, ...row }) =>
      [date, campaign, 'adset' in row ? row.adset : null, 'creative' in row ? row.creative : null].join(
        ' › ',
      ),
    );
    const newest = all.toSorted((left, right) => right.slice(0, 10).localeCompare(left.slice(0, 10)));
    for (const limit of [1, 5, 200]) {
      expect(await listed(tenant, `&limit=${limit}`)).toEqual(all);
      expect(await listed(tenant, `&limit=${limit}&order=newest`)).toEqual(newest);
    }
  });

  it('filters by days and campaign', async () => {
    const tenant = await withCosts(
      ['2026-03-01', '2026-03-02', '2026-03-03'].flatMap((date) => [
        { date, campaign: 'A', ...usd },
        { date, campaign: 'B', ...usd },
      ]),
    );
    expect(await listed(tenant, '&from=2026-03-02&to=2026-03-02')).toEqual([
      '2026-03-02 › A ›  › ',
      '2026-03-02 › B ›  › ',
    ]);
    expect(await listed(tenant, '&from=2026-03-02&campaign=B')).toEqual([
      '2026-03-02 › B ›  › ',
      '2026-03-03 › B ›  › ',
    ]);
    expect(await listed(tenant, '&to=2026-03-01&campaign=C')).toEqual([]);
  });

  it.each([
    { query: '&from=yesterday', path: 'from' },
    { query: '&to=2026-02-30', path: 'to' },
    { query: '&unmatched=yes', path: 'unmatched' },
    { query: '&limit=0', path: 'limit' },
    { query: '&cursor=nonsense', path: 'cursor' },
    { query: '&cursor=WyJhIl0', path: 'cursor' },
  ])('answers 400 to $query', async ({ query, path }) => {
    const tenant = await createTenant();
    const { status, body } = await call(tenant, 'GET', listPath(tenant, query));
    expect([status, String(body.message).split(' ')[0]]).toEqual([400, path]);
  });
});

describe('DELETE /v1/costs', () => {
  const deleteCosts = (tenant: Tenant, body: object) =>
    call(tenant, 'DELETE', '/v1/costs', { application_id: tenant.application.id, ...body });

  it('deletes only the rows with these keys, returns them, and can be repeated', async () => {
    const tenant = await withCosts([
      { date: '2026-03-01', campaign: 'A', ...usd, amount: 10.5 },
      { date: '2026-03-01', campaign: 'A', adset: 'x', ...usd },
      { date: '2026-03-01', campaign: 'B', currency: 'eur', amount: 3 },
      { date: '2026-03-02', campaign: 'A', ...usd },
    ]);
    const rows = [
      { date: '2026-03-01', campaign: 'A' },
      { date: '2026-03-01', campaign: 'B' },
      { date: '2026-03-01', campaign: 'none' },
    ];
    expect(await deleteCosts(tenant, { rows })).toEqual({
      status: 200,
      body: {
        deleted: 2,
        amounts: [
          { currency: 'eur', amount: 3 },
          { currency: 'usd', amount: 10.5 },
        ],
      },
    });
    expect(await listed(tenant)).toEqual(['2026-03-01 › A › x › ', '2026-03-02 › A ›  › ']);
    expect((await deleteCosts(tenant, { rows })).body).toEqual({ deleted: 0, amounts: [] });
  });

  it('deletes a range of days, of one campaign or all', async () => {
    const tenant = await withCosts(
      ['2026-03-01', '2026-03-02', '2026-03-03'].flatMap((date) => [
        { date, campaign: 'A', ...usd },
        { date, campaign: 'B', ...usd },
      ]),
    );
    const range = { from: '2026-03-01', to: '2026-03-02' };
    expect((await deleteCosts(tenant, { ...range, campaign: 'A' })).body).toMatchObject({ deleted: 2 });
    expect(await listed(tenant)).toHaveLength(4);
    expect((await deleteCosts(tenant, range)).body).toMatchObject({ deleted: 2 });
    expect(await listed(tenant)).toEqual(['2026-03-03 › A ›  › ', '2026-03-03 › B ›  › ']);
  });

  it('keeps every billionth of an amount that a number holds, up to 9 billion', async () => {
    const amounts = [0.0000000005, 0.0000123456, 9_007_199.254740993, 4_503_599_627.37, 8_999_999_999.999998];
    const kept = [
      '0.000000001',
      '0.000012346',
      '9007199.254740993',
      '4503599627.370000000',
      '8999999999.999998000',
    ];
    const rows = amounts.map((amount, index) => ({
      date: '2026-03-01',
      campaign: `C${index}`,
      currency: 'vnd',
      amount,
    }));
    const tenant = await withCosts(rows);
    const { body } = await call(tenant, 'GET', listPath(tenant));
    const { data } = body as { data: { amount: number; amount_exact?: string }[] };
    expect(data.map(({ amount, amount_exact }) => amount_exact ?? amount.toFixed(9))).toEqual(kept);
    expect(data.map(({ amount }) => amount).slice(1)).toEqual([0.000012346, ...amounts.slice(2)]);
    const tooLarge = await call(tenant, 'PUT', '/v1/costs', {
      application_id: tenant.application.id,
      rows: [{ date: '2026-03-01', campaign: 'C', currency: 'vnd', amount: 9_000_000_001 }],
    });
    expect(tooLarge).toMatchObject({ status: 400 });
    expect(JSON.stringify(tooLarge.body)).toContain('must be at most 9000000000');
    expect((await deleteCosts(tenant, { from: '2026-03-01', to: '2026-03-01' })).body).toMatchObject({
      amounts: [{ amount_exact: '13512606826.624751340' }],
    });
  });

  it('adds up amounts beyond 64 bits', async () => {
    const rows = Array.from({ length: 1_200 }, (_, index) => ({
      date: '2026-03-01',
      campaign: `C${index}`,
      currency: 'vnd',
      amount: 9_000_000_000,
    }));
    const tenant = await withCosts(rows);
    expect((await deleteCosts(tenant, { from: '2026-03-01', to: '2026-03-01' })).body).toEqual({
      deleted: 1_200,
      amounts: [{ currency: 'vnd', amount: 10_800_000_000_000, amount_exact: '10800000000000.000000000' }],
    });
  });

  it.each([
    { body: {}, path: 'from' },
    { body: { from: '2026-03-01' }, path: 'to' },
    { body: { from: '2026-03-02', to: '2026-03-01' }, path: 'to' },
    { body: { rows: [] }, path: 'rows' },
    { body: { rows: [{ date: '2026-03-01' }] }, path: 'rows.0.campaign' },
    { body: { rows: [{ date: '2026-03-01', campaign: 'A' }], to: '2026-03-01' }, path: 'rows' },
  ])('answers 400 to $body', async ({ body, path }) => {
    const tenant = await withCosts([{ date: '2026-03-01', campaign: 'A', ...usd }]);
    const answer = await deleteCosts(tenant, body);
    expect([answer.status, String(answer.body.message).split(' ')[0]]).toEqual([400, path]);
    expect(await listed(tenant)).toHaveLength(1);
  });
});

describe('GET /v1/exchange-rates', () => {
  it('lists a team’s own rates and the reference rates, newest first, and no other team’s', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    await env.DB.prepare(
      "INSERT INTO exchange_rates VALUES ('', 'usd', 'eur', '2026-03-02', '1.25', '1', 0)",
    ).run();
    const put = (of: Tenant, date: string, rates: object) =>
      call(of, 'PUT', '/v1/exchange-rates', { date, base: 'usd', rates });
    await put(tenant, '2026-03-01', { eur: 1.08, jpy: '0.00667' });
    await put(tenant, '2026-03-03', { eur: 1.1 });
    await put(other, '2026-03-04', { eur: 2 });
    const rate = (
      date: string,
      currency: string,
      base: string,
      value: number,
      units: string,
      worth: string,
    ) => ({
      date,
      currency,
      base,
      rate: value,
      units,
      worth,
      source: base === 'eur' ? 'reference' : 'team',
    });
    const all = [
      rate('2026-03-03', 'eur', 'usd', 1.1, '1', '1.1'),
      rate('2026-03-02', 'usd', 'eur', 0.8, '1.25', '1'),
      rate('2026-03-01', 'eur', 'usd', 1.08, '1', '1.08'),
      rate('2026-03-01', 'jpy', 'usd', 0.00667, '1', '0.00667'),
    ];
    expect((await call(tenant, 'GET', '/v1/exchange-rates')).body).toEqual({ data: all, next_cursor: null });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await call(tenant, 'GET', `/v1/exchange-rates?limit=1&cursor=${cursor}`);
      seen.push(...(body.data as unknown[]));
      cursor = String(body.next_cursor ?? '');
    } while (cursor !== '');
    expect(seen).toEqual(all);
    const some = async (query: string) =>
      (await call(tenant, 'GET', `/v1/exchange-rates?${query}`)).body.data;
    expect(await some('from=2026-03-02&to=2026-03-02')).toEqual([all[1]]);
    expect(await some('currency=EUR&to=2026-03-02')).toEqual([all[2]]);
    expect(await some('base=eur')).toEqual([all[1]]);
  });

  it.each([
    { query: 'currency=xyz', path: 'currency' },
    { query: 'base=dollar', path: 'base' },
    { query: 'from=1', path: 'from' },
    { query: 'cursor=x', path: 'cursor' },
  ])('answers 400 to $query', async ({ query, path }) => {
    const { status, body } = await call(await createTenant(), 'GET', `/v1/exchange-rates?${query}`);
    expect([status, String(body.message).split(' ')[0]]).toEqual([400, path]);
  });
});

it.each(['GET', 'DELETE'])(
  '%s /v1/costs is a 404 to another team, as if there were no such application',
  async (method) => {
    const tenant = await withCosts([{ date: '2026-03-01', campaign: 'A', ...usd }]);
    const stranger = await createTenant();
    const ask = (application_id: string) =>
      method === 'GET'
        ? call(stranger, 'GET', `/v1/costs?application_id=${application_id}`)
        : call(stranger, 'DELETE', '/v1/costs', { application_id, from: '2026-03-01', to: '2026-03-01' });
    const theirs = await ask(tenant.application.id);
    expect(theirs).toEqual({ status: 404, body: { message: 'Application not found' } });
    expect(await ask(`app_${'0'.repeat(32)}`)).toEqual(theirs);
    expect(await listed(tenant)).toHaveLength(1);
  },
);

it('refuses a cursor of another list', async () => {
  const tenant = await createTenant();
  for (const key of [['2026-03-02'], ['2026-03-02', 'Spring', '', '', '']]) {
    const { status, body } = await call(tenant, 'GET', listPath(tenant, `&cursor=${toKeyCursor(key)}`));
    expect([status, body.message]).toEqual([400, 'cursor must be a cursor returned by a previous request']);
  }
});

it('finds the first day with any spend of an application, not one with a cost of nothing', async () => {
  const tenant = await withCosts([
    { ...usd, date: '2026-03-01', campaign: 'Spring', amount: 0 },
    { ...usd, date: '2026-03-05', campaign: 'Spring' },
    { ...usd, date: '2026-03-07', campaign: 'Spring' },
  ]);
  await withCosts([{ ...usd, date: '2026-02-01', campaign: 'Spring' }]);
  expect(await findFirstSpendDay(database(env.DB), tenant.application.id)).toBe('2026-03-05');
  const { application } = await createTenant();
  expect(await findFirstSpendDay(database(env.DB), application.id)).toBeNull();
});
