import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { PerformanceQuery, reportPerformance } from '#reports';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Figures of cohorts as columns of the performance report. The second count in test/oracle has all groupings and filters.

const worker = startWorker();
const NOW = Date.UTC(2026, 3, 10, 12);
const PERIOD = { from: '2026-04-01', to: '2026-04-10' };
const NANOS = 1e9;

/** Ten devices a day of each creative on 1 and 8 April. Half of them come back the next day, when each of these earns 2 USD. */
async function withCohorts() {
  const tenant = await createTenant();
  const ids: string[] = [];
  for (const creative of ['Cat', 'Dog', 'Fox']) {
    ids.push((await createCreative(worker, tenant, { creative, adset: 'Set', campaign: 'Campaign' })).id);
  }
  const rows = ids.flatMap((creative_id) =>
    ['2026-04-01', '2026-04-08'].map((day) => ({ day, creative_id })),
  );
  const { id } = tenant.application;
  const next = (day: string) => day.replace(/\d$/, (last) => String(Number(last) + 1));
  await addFigures(
    env.DB,
    id,
    'rollup_daily',
    rows.map((row, index) => ({ ...row, installs: 10, active_devices: 10, ad_requests: 6 - index })),
  );
  await addFigures(
    env.DB,
    id,
    'cohort_activity',
    rows.flatMap(({ day: acquired_day, creative_id }) => [
      { acquired_day, creative_id, age: 0, active_devices: 10 },
      { acquired_day, creative_id, age: 1, active_devices: 5, last_active_devices: 5 },
    ]),
  );
  await addFigures(
    env.DB,
    id,
    'cohort_revenue',
    rows.map(({ day, creative_id }) => ({
      ...{ acquired_day: day, creative_id, day: next(day), currency: 'usd' },
      purchase_revenue: 5 * 2 * NANOS,
    })),
  );
  await putCosts(worker, tenant, [
    { date: '2026-04-01', campaign: 'Campaign', adset: 'Set', creative: 'Cat', amount: 20 },
    { date: '2026-04-08', campaign: 'Campaign', adset: 'Set', creative: 'Cat', amount: 40 },
  ]);
  return { tenant, ids };
}

const report = (tenant: Tenant, more: object) => {
  const query = PerformanceQuery.parse({ application_id: tenant.application.id, ...PERIOD, ...more });
  return reportPerformance(env, tenant.application, query, NOW);
};

const METRICS = 'roas_d0,roas_d1,roas_d7,ltv_d1,ltv_d14,retention_d1,retention_d7';

it('computes them from the devices that are old enough, and says where some are not', async () => {
  const { tenant } = await withCohorts();
  const { data } = await report(tenant, { group_by: 'creative,day', metrics: METRICS });
  const [old, young] = data.filter((row) => row.creative === 'Cat');
  expect(old).toMatchObject({
    ...{ roas_d0: 0, roas_d1: 0.5, roas_d7: 0.5, ltv_d1: 1, ltv_d14: null },
    ...{ retention_d1: 0.5, retention_d7: 0, incomplete_days: [14] },
  });
  // Day 1 is over for those of 8 April, day 7 is not.
  expect(young).toMatchObject({
    ...{ roas_d0: 0, roas_d1: 0.25, roas_d7: null, ltv_d1: 1, ltv_d14: null },
    ...{ retention_d1: 0.5, retention_d7: null, incomplete_days: [7, 14] },
  });
  const whole = await report(tenant, { group_by: 'campaign', metrics: METRICS });
  // Of all six groups of ten devices, day 1 is over; they earned 60 USD and cost as much.
  for (const row of [whole.data[0], whole.totals]) {
    expect(row).toMatchObject({ retention_d1: 0.5, ltv_d1: 1, roas_d1: 1, incomplete_days: [7, 14] });
  }
});

it('sums up the devices of all groups without a row', async () => {
  const { tenant } = await withCohorts();
  await putCosts(worker, tenant, [
    { date: '2026-04-01', campaign: 'Campaign', adset: 'Set', creative: 'Fox', amount: 10 },
  ]);
  const { data } = await report(tenant, { group_by: 'creative', metrics: METRICS, limit: 1 });
  expect(data.map((row) => [row.creative, row.roas_d1, row.retention_d1])).toEqual([
    ['Cat', 20 / 60, 0.5],
    ['other', 40 / 10, 0.5],
  ]);
});

it('says nothing of the cohorts of groups that have none, and reads none unless asked', async () => {
  const { tenant } = await withCohorts();
  const { data, totals } = await report(tenant, { group_by: 'source', metrics: METRICS });
  for (const row of data) expect(row).toMatchObject({ roas_d1: null, retention_d1: null });
  expect(totals).toMatchObject({ retention_d1: 0.5, roas_d1: 1 });
  const plain = await report(tenant, { group_by: 'creative' });
  expect(plain.data[0]).not.toHaveProperty('roas_d1');
  expect(plain.data[0]).not.toHaveProperty('incomplete_days');
});

it('answers the requested metrics only, as JSON and as CSV', async () => {
  const { tenant } = await withCohorts();
  const ask = (query: string) =>
    worker.team(
      tenant,
      `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-04-01&to=2026-04-10&${query}`,
    );
  const json = await ask('group_by=campaign&metrics=profit,retention_d1');
  const { data, totals } = await json.json<{ data: object[]; totals: object }>();
  const figures = { profit: -60, retention_d1: 0.5 };
  expect(data).toEqual([{ campaign: 'Campaign', campaign_id: expect.any(String), ...figures }]);
  expect(totals).toEqual(figures);
  const csv = await ask('group_by=campaign&metrics=profit,retention_d1&format=csv');
  expect((await csv.text()).replace('\ufeff', '').split('\r\n')[0]).toBe(
    'campaign,campaign_id,profit,retention_d1,unconverted',
  );
  const wrong = await ask('group_by=campaign&metrics=profit,roas_d5');
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('metrics.1 must be')]);
});

it('answers the same report of the earlier days that `compare` names', async () => {
  const { tenant } = await withCohorts();
  const ask = (query: string) =>
    worker.team(tenant, `/v1/reports/performance?application_id=${tenant.application.id}&${query}`);
  const before = async (query: string) => {
    const { before } = await (await ask(query)).json<{ before: { from: string; to: string } }>();
    return before;
  };
  const day = 'from=2026-04-08&to=2026-04-08&group_by=day&metrics=installs';
  // Wednesdays.
  expect(await before(`${day}&compare=weekdays`)).toEqual({
    ...{ from: '2026-04-01', to: '2026-04-01', total_rows: 1, unconverted: [] },
    ...{ data: [{ day: '2026-04-01', installs: 30 }], totals: { installs: 30 } },
  });
  expect(await before(`${day}&compare=previous`)).toMatchObject({ from: '2026-04-07', data: [] });
  expect(await before(`${day}&compare=year`)).toMatchObject({ from: '2025-04-08', to: '2025-04-08' });
  expect(await before('from=2026-04-01&to=2026-04-10&compare=weekdays')).toMatchObject({
    ...{ from: '2026-03-18', to: '2026-03-27' },
  });
  const csv = await ask(`${day}&compare=weekdays&format=csv`);
  expect([csv.status, await csv.text()]).toEqual([
    400,
    expect.stringContaining('compare is available in JSON'),
  ]);
});
