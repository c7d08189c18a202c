import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CostRow } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const day = { date: '2026-03-02', campaign: 'Spring' };

async function ask<Answer>(tenant: Tenant, path: string): Promise<Answer> {
  const answer = await worker.team(tenant, `${path}application_id=${tenant.application.id}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

type Stored = {
  campaign: string;
  country: string | null;
  os: string | null;
  network: string | null;
  amount: number;
};
const STATED = ['country', 'os', 'network'] as const;
/** The stored rows as `campaign/country/os/network amount`. */
async function storedIn(tenant: Tenant): Promise<string[]> {
  const { data } = await ask<{ data: Stored[] }>(tenant, '/v1/costs?limit=200&');
  return data
    .map((row) => `${[row.campaign, ...STATED.map((name) => row[name] ?? '')].join('/')} ${row.amount}`)
    .sort();
}

async function upload(tenant: Tenant, rows: readonly CostRow[]) {
  const answer = await worker.team(tenant, '/v1/costs', {
    method: 'PUT',
    body: { application_id: tenant.application.id, rows: rows.map((row) => ({ currency: 'usd', ...row })) },
  });
  return (await answer.json()) as { rows: number; replaced: number };
}

describe('a day that is uploaded with other details', () => {
  const german = { ...day, country: 'DE' };
  const total = { ...day, amount: 10 };
  it.each([
    {
      name: 'by country after the total',
      first: [total],
      second: [
        { ...german, amount: 4 },
        { ...day, country: 'US', amount: 6 },
      ],
      stored: ['Spring/DE// 4', 'Spring/US// 6'],
      replaced: 1,
    },
    {
      name: 'as a total after countries',
      first: [
        { ...german, amount: 4 },
        { ...german, os: 'ios', country: 'US', amount: 6 },
      ],
      second: [total],
      stored: ['Spring/// 10'],
      replaced: 2,
    },
    {
      name: 'by OS after countries',
      first: [{ ...german, amount: 4 }],
      second: [{ ...day, os: 'ios', amount: 9 }],
      stored: ['Spring//ios/ 9'],
      replaced: 1,
    },
    {
      name: 'one network after another',
      first: [{ ...german, network: 'meta', amount: 4 }],
      second: [{ ...day, network: 'TikTok Ads', amount: 9 }],
      stored: ['Spring///tiktok 9', 'Spring/DE//meta 4'],
      replaced: 0,
    },
    {
      name: 'one country after another',
      first: [{ ...german, amount: 4 }],
      second: [{ ...day, country: 'US', amount: 9 }],
      stored: ['Spring/DE// 4', 'Spring/US// 9'],
      replaced: 0,
    },
    {
      name: 'with a rest beside the countries',
      first: [total],
      second: [
        { ...german, amount: 4 },
        { ...day, amount: 1 },
      ],
      stored: ['Spring/// 1', 'Spring/DE// 4'],
      replaced: 0,
    },
    {
      name: 'of other names and days',
      first: [
        { ...total, campaign: 'Autumn' },
        { ...total, date: '2026-03-03' },
        { ...total, adset: 'Young' },
      ],
      second: [{ ...german, amount: 4 }],
      stored: ['Autumn/// 10', 'Spring/// 10', 'Spring/// 10', 'Spring/DE// 4'],
      replaced: 0,
    },
  ])('$name', async ({ first, second, stored, replaced }) => {
    const tenant = await createTenant();
    expect((await upload(tenant, first)).replaced).toBe(0);
    expect((await upload(tenant, second)).replaced).toBe(replaced);
    expect(await storedIn(tenant)).toEqual(stored);
    // Again, nothing changes.
    expect((await upload(tenant, second)).replaced).toBe(0);
    expect(await storedIn(tenant)).toEqual(stored);
  });

  it('leaves the costs of other applications', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    await upload(other, [total]);
    await upload(tenant, [{ ...german, amount: 4 }]);
    expect(await storedIn(other)).toEqual(['Spring/// 10']);
  });

  it('never leaves rows of two uploads that may be of the same money', async () => {
    const one = fc.record(
      {
        campaign: fc.constantFrom('Spring', 'Autumn'),
        country: fc.constantFrom('DE', 'US'),
        os: fc.constantFrom('ios', 'android'),
        network: fc.constantFrom('meta', 'tiktok'),
        amount: fc.integer({ min: 1, max: 9 }),
      },
      { requiredKeys: ['campaign', 'amount'] },
    );
    type Row = { campaign: string; amount: number } & Partial<Record<(typeof STATED)[number], string>>;
    const keyOf = (row: Row) => [row.campaign, ...STATED.map((name) => row[name] ?? '')].join('/');
    const isSame = (left: Row, right: Row) =>
      left.campaign === right.campaign &&
      STATED.every((name) => !left[name] || !right[name] || left[name] === right[name]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(one, { minLength: 1, maxLength: 5 }), { maxLength: 5 }),
        async (uploads) => {
          const tenant = await createTenant();
          let model = new Map<string, Row>();
          for (const rows of uploads) {
            await upload(
              tenant,
              rows.map((row) => ({ date: day.date, ...row }) as CostRow),
            );
            const kept = [...model].filter(([, stored]) => !rows.some((row) => isSame(row as Row, stored)));
            const sums = new Map<string, Row>();
            for (const row of rows as Row[]) {
              const earlier = sums.get(keyOf(row))?.amount ?? 0;
              sums.set(keyOf(row), { ...row, amount: row.amount + earlier });
            }
            model = new Map([...kept, ...sums]);
          }
          expect(await storedIn(tenant)).toEqual(
            [...model].map(([key, { amount }]) => `${key} ${amount}`).sort(),
          );
        },
      ),
      { numRuns: 25 },
    );
  });
});
