import { expect, it } from 'vitest';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

async function putFile(tenant: Tenant, text: string, more = '') {
  const answer = await worker.request(`/v1/costs/file?application_id=${tenant.application.id}${more}`, {
    method: 'PUT',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
    body: text,
  });
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
}

const putRows = async (tenant: Tenant, rows: object[]) =>
  worker.team(tenant, '/v1/costs', {
    method: 'PUT',
    body: {
      application_id: tenant.application.id,
      rows: rows.map((row) => ({ campaign: 'Spring', ...row })),
    },
  });

async function spend(tenant: Tenant, from: string, to: string, currency: string) {
  const query = `application_id=${tenant.application.id}&from=${from}&to=${to}&currency=${currency}`;
  const answer = await worker.team(tenant, `/v1/reports/performance?${query}`);
  return (await answer.json<{ totals: { spend: number | null } }>()).totals.spend;
}

it('takes costs in a former currency on its days, and refuses them by name on others', async () => {
  const tenant = await createTenant();
  const taken = await putFile(tenant, 'Day,Campaign name,Amount spent (HRK)\n2022-12-31,Spring,75.34\n');
  expect([taken.status, taken.body.amounts]).toEqual([200, [{ currency: 'hrk', amount: 75.34 }]]);
  const late = await putFile(tenant, 'date,campaign,currency,amount\n2023-01-01,Spring,HRK,75.34\n');
  expect([late.status, late.body.message]).toEqual([
    400,
    'Line 2: currency must be a currency of its day: hrk was in force until 2022-12-31',
  ]);
  expect((await putFile(tenant, 'date,campaign,amount\n2025-06-01,Spring,1\n', '&currency=bgn')).status).toBe(
    200,
  );
  const rows = await putRows(tenant, [
    { date: '2025-12-31', currency: 'bgn', amount: 1 },
    { date: '2026-01-01', currency: 'bgn', amount: 1 },
  ]);
  expect([rows.status, await rows.json()]).toEqual([
    400,
    {
      message: expect.stringMatching(
        /^rows\.1\.currency must be a currency of its day: bgn was in force until/,
      ),
    },
  ]);
});

it.each([
  ['xcg', '2025-03-30', '2025-03-31'],
  ['zwg', '2024-04-04', '2024-04-05'],
])('takes %s from its first day on', async (currency, before, first) => {
  const tenant = await createTenant();
  const on = async (date: string) => (await putRows(tenant, [{ date, currency, amount: 1 }])).status;
  expect([await on(before), await on(first)]).toEqual([400, 200]);
});

it.each([
  ['hrk', '7.5345', '2022-06-01'],
  ['bgn', '1.95583', '2025-06-01'],
  ['ltl', '3.4528', '2014-06-01'],
  ['lvl', '0.702804', '2013-06-01'],
  ['eek', '15.6466', '2010-06-01'],
])('converts %s by its fixed rate where no rate is known', async (currency, units, day) => {
  const tenant = await createTenant();
  await putRows(tenant, [{ date: day, currency, amount: Number(units) * 2 }]);
  expect(await spend(tenant, day, day, 'eur')).toBe(2);
});

it('prefers a rate of the day to the fixed one', async () => {
  const tenant = await createTenant();
  await putRows(tenant, [{ date: '2022-06-01', currency: 'hrk', amount: 75 }]);
  const body = { date: '2022-05-31', base: 'eur', rates: { hrk: 0.12 } };
  await worker.team(tenant, '/v1/exchange-rates', { method: 'PUT', body });
  expect(await spend(tenant, '2022-06-01', '2022-06-01', 'eur')).toBe(9);
});
