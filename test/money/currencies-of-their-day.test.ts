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
  ['ssp', '2011-07-17', '2011-07-18'],
  ['zmw', '2012-12-31', '2013-01-01'],
  ['byn', '2016-06-30', '2016-07-01'],
  ['mru', '2017-12-31', '2018-01-01'],
  ['stn', '2017-12-31', '2018-01-01'],
  ['ves', '2018-08-19', '2018-08-20'],
  ['ved', '2021-09-30', '2021-10-01'],
  ['sle', '2022-03-31', '2022-04-01'],
  ['zwg', '2024-04-04', '2024-04-05'],
  ['xcg', '2025-03-30', '2025-03-31'],
  ['xad', '2025-05-11', '2025-05-12'],
])('takes %s from its first day on', async (currency, before, first) => {
  const tenant = await createTenant();
  const on = async (date: string) => (await putRows(tenant, [{ date, currency, amount: 1 }])).status;
  expect([await on(before), await on(first)]).toEqual([400, 200]);
});

it.each([
  ['ltl', '2014-12-31', '2015-01-01'],
  ['byr', '2016-12-31', '2017-01-01'],
  ['mro', '2017-12-31', '2018-01-01'],
  ['std', '2017-12-31', '2018-01-01'],
  ['vef', '2018-08-19', '2018-08-20'],
  ['cuc', '2021-06-30', '2021-07-01'],
  ['sll', '2024-03-31', '2024-04-01'],
  ['zwl', '2024-08-31', '2024-09-01'],
  ['ang', '2025-03-31', '2025-04-01'],
])('takes %s until its last day', async (currency, last, after) => {
  const tenant = await createTenant();
  const on = async (date: string) => (await putRows(tenant, [{ date, currency, amount: 1 }])).status;
  expect([await on(last), await on(after)]).toEqual([200, 400]);
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
