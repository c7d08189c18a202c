import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { addDays } from '#lib/time';
import { sendCohort } from '../helpers/cohorts.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const TODAY = new Date().toISOString().slice(0, 10);
const day = (ago: number) => addDays(TODAY, -ago);

type Row = Record<string, unknown>;

async function ask(tenant: Tenant, query = '', from = day(60), to = TODAY) {
  const answer = await worker.team(
    tenant,
    `/v1/reports/predicted-ltv?application_id=${tenant.application.id}&from=${from}&to=${to}&${query}`,
  );
  return { status: answer.status, body: (await answer.json()) as { data: Row[]; message?: string } & Row };
}

async function askCsv(tenant: Tenant, query = '') {
  const answer = await worker.team(
    tenant,
    `/v1/reports/predicted-ltv?application_id=${tenant.application.id}&from=${day(60)}&to=${TODAY}&format=csv&${query}`,
  );
  return Papa.parse<Record<string, string>>((await answer.text()).trim(), { header: true }).data;
}

describe('GET /v1/reports/predicted-ltv', () => {
  it('predicts a cohort’s purchases, more over a longer time, with an interval', async () => {
    const tenant = await createTenant();
    const creative = await createCreative(worker, tenant, {
      campaign: 'Spring',
      adset: 'Young',
      creative: 'Cat',
    });
    const paid = await sendCohort(tenant, { ago: 40, devices: 400, payers: 100, creativeId: creative.id });
    const organic = await sendCohort(tenant, { ago: 30, devices: 300, payers: 60 });
    const { status, body } = await ask(tenant, 'horizon_days=30');
    expect(status, JSON.stringify(body)).toBe(200);
    const [row = {}] = body.data;
    expect(body).toMatchObject({ horizon_days: 30, currency: 'usd', rate_day: TODAY, total_rows: 1 });
    expect(row).toMatchObject({
      cohort_from: day(60),
      cohort_to: TODAY,
      size: 700,
      payers: 160,
      reason: null,
    });
    expect(row.revenue).toBeCloseTo(paid.revenue + organic.revenue, 6);
    expect(row).toMatchObject({ ad_revenue: 0, predicted_ad_revenue: 0, ads_reason: null });
    const { predicted_revenue_low: low, predicted_revenue: middle, predicted_revenue_high: high } = row;
    expect([0, low, middle, high].toSorted((a, b) => Number(a) - Number(b))).toEqual([0, low, middle, high]);
    expect(row.predicted_ltv).toBeCloseTo((Number(row.revenue) + Number(middle)) / 700, 8);
    expect(row.predicted_ltv_low).toBeCloseTo((Number(row.revenue) + Number(low)) / 700, 8);
    const [longer = {}] = (await ask(tenant, 'horizon_days=180')).body.data;
    expect(Number(longer.predicted_revenue)).toBeGreaterThan(Number(middle));

    const groups = (await ask(tenant, 'group_by=campaign&horizon_days=30')).body.data;
    expect(groups.map(({ campaign, size, reason }) => ({ campaign, size, reason }))).toEqual([
      { campaign: 'Spring', size: 400, reason: null },
      { campaign: null, size: 300, reason: null },
    ]);
    const days = (await ask(tenant, 'cohort=day')).body.data;
    expect(days.map(({ cohort_from, size }) => [cohort_from, size])).toEqual([
      [day(40), 400],
      [day(30), 300],
    ]);
    // Everything without a row of its own is in one row.
    const limited = (await ask(tenant, 'cohort=day&limit=1')).body;
    expect(limited.data.map(({ size, is_other }) => [size, is_other])).toEqual([
      [300, undefined],
      [400, true],
    ]);
    expect(limited.total_rows).toBe(2);
    const organicOnly = (await ask(tenant, 'attribution=organic')).body.data;
    expect(organicOnly.map(({ size }) => size)).toEqual([300]);
  });

  it('predicts purchases and ads apart and together, and rounds amounts like other money', async () => {
    const tenant = await createTenant();
    const sent = await sendCohort(tenant, { ago: 40, devices: 300, payers: 100, adNanos: 12_345_000 });
    const [row = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    expect(row).toMatchObject({ reason: null, ads_reason: null });
    expect(row.purchase_revenue).toBeCloseTo(sent.revenue, 6);
    expect(row.ad_revenue).toBeCloseTo(sent.adRevenue, 6);
    expect(row.revenue).toBeCloseTo(sent.revenue + sent.adRevenue, 6);
    for (const [name, value] of Object.entries(row)) {
      if (!name.endsWith('revenue') || typeof value !== 'number') continue;
      expect(value, name).toBe(Math.round(value * 1e9) / 1e9);
    }
    const { predicted_purchase_revenue: purchases, predicted_ad_revenue: ads, predicted_revenue: both } = row;
    expect(Number(both)).toBeCloseTo(Number(purchases) + Number(ads), 5);
    // 0.4 / √day of 300 devices on days 41 to 70, at 0.012345 each.
    const expected = Array.from({ length: 30 }, (_, index) => 300 * 0.4 * (41 + index) ** -0.5);
    const adRevenue = 0.012345 * expected.reduce((sum, active) => sum + active, 0);
    expect(Math.abs(Number(ads) / adRevenue - 1)).toBeLessThan(0.25);
    expect(Number(row.predicted_revenue_low)).toBeGreaterThan(Number(row.predicted_purchase_revenue_low));
    expect(Number(row.predicted_revenue_high)).toBeGreaterThan(Number(row.predicted_purchase_revenue_high));
    const [line = {}] = await askCsv(tenant);
    expect(Object.keys(line)).toEqual([...Object.keys(row), 'unconverted']);

    const path = `/v1/applications/${tenant.application.id}`;
    await worker.team(tenant, path, { method: 'PATCH', body: { store_fee: 0.3 } });
    const net = (await ask(tenant, 'horizon_days=30&net=true')).body;
    const [less = {}] = net.data;
    expect(net.net).toBe(true);
    for (const name of ['purchase_revenue', 'predicted_purchase_revenue', 'predicted_purchase_revenue_low']) {
      expect(less[name], name).toBeCloseTo(0.7 * Number(row[name]), 6);
    }
    expect(less).toMatchObject({
      ad_revenue: row.ad_revenue,
      predicted_ad_revenue: row.predicted_ad_revenue,
    });
    const ahead = 0.7 * (sent.revenue + Number(purchases)) + sent.adRevenue + Number(ads);
    expect(less.predicted_ltv).toBeCloseTo(ahead / 300, 6);
  });

  it('predicts ads where nobody has purchased', async () => {
    const tenant = await createTenant();
    await sendCohort(tenant, { ago: 40, devices: 200, payers: 0, adNanos: 10_000_000 });
    const [row = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    expect(row).toMatchObject({ reason: 'no_payers', ads_reason: null, predicted_purchases: null });
    expect(Number(row.predicted_ad_revenue)).toBeGreaterThan(0);
    // Not to be taken for the whole.
    expect(row.predicted_ltv).toBeNull();
  });

  it('does not take the first purchase for a repeat', async () => {
    const tenant = await createTenant();
    await sendCohort(tenant, { ago: 40, devices: 80, payers: 80 });
    const [row = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    await sendCohort(tenant, { ago: 41, devices: 300, payers: 300, once: true });
    const [more = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    // Those who purchased once had their chance to repeat.
    expect(Number(more.predicted_purchases)).toBeLessThan(2 * Number(row.predicted_purchases));
  });

  it('answers as of a past day as it did on that day, whatever came later', async () => {
    // Day 30 is the end of a band of revenue, so that everything is known by it.
    const [known, grown] = [await createTenant(), await createTenant()];
    const cohort = { ago: 60, devices: 300, payers: 120, adNanos: 10_000_000 };
    await sendCohort(known, { ...cohort, until: 30 });
    await sendCohort(grown, cohort);
    await sendCohort(grown, { ago: 20, devices: 40, payers: 40 });
    const asOf = `as_of=${day(30)}&horizon_days=30`;
    const [then, now] = [(await ask(known, asOf)).body, (await ask(grown, asOf)).body];
    expect(now.data).toEqual(then.data);
    expect(now).toMatchObject({ as_of: day(30), rate_day: day(30), total_rows: 1 });
    expect(now.data[0]).toMatchObject({ size: 300, reason: null, ads_reason: null });
    expect((await ask(grown)).body.data).not.toEqual(now.data);
    // A day to come is today.
    expect((await ask(grown, `as_of=${addDays(TODAY, 3)}`)).body).toMatchObject({ as_of: TODAY });
  });

  it.each([
    { reason: 'too_young', cohort: { ago: 6, devices: 80, payers: 70 } },
    { reason: 'too_few_devices', cohort: { ago: 30, devices: 19, payers: 12 } },
    { reason: 'no_payers', cohort: { ago: 30, devices: 100, payers: 0 } },
  ])('makes no prediction and says why: $reason', async ({ reason, cohort }) => {
    const tenant = await createTenant();
    await sendCohort(tenant, cohort);
    const { body } = await ask(tenant);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      size: cohort.devices,
      payers: cohort.payers,
      reason,
      predicted_purchases: null,
      predicted_revenue: null,
      predicted_ltv: null,
    });
    expect(body.data[0]?.unconverted).toBeUndefined();
  });

  it.each([
    { ago: 30, devices: 20, payers: 1 },
    { ago: 30, devices: 100, payers: 8 },
    { ago: 30, devices: 100, payers: 27, once: true },
  ])('predicts from few payers, with a wide interval: %o', async (cohort) => {
    const tenant = await createTenant();
    await sendCohort(tenant, cohort);
    const [few = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    expect(few).toMatchObject({ size: cohort.devices, payers: cohort.payers, reason: null });
    const widthOf = (row: Record<string, unknown>) =>
      (Number(row.predicted_purchase_revenue_high) - Number(row.predicted_purchase_revenue_low)) /
      Number(row.predicted_purchase_revenue);
    expect(Number(few.predicted_purchase_revenue)).toBeGreaterThan(0);
    expect(widthOf(few)).toBeGreaterThan(1);
    // Beside a large cohort, what that suggests counts too.
    await sendCohort(tenant, { ago: 31, devices: 400, payers: 200 });
    const days = (await ask(tenant, 'cohort=day&horizon_days=30')).body.data;
    expect(days.map(({ size, reason }) => [size, reason])).toEqual([
      [400, null],
      [cohort.devices, null],
    ]);
    expect(days[1]?.predicted_purchase_revenue).not.toBe(few.predicted_purchase_revenue);
  });

  it('predicts from the seventh day on', async () => {
    const tenant = await createTenant();
    await sendCohort(tenant, { ago: 7, devices: 100, payers: 90, adNanos: 10_000_000 });
    expect((await ask(tenant)).body.data[0]).toMatchObject({ reason: null, ads_reason: null });
  });

  it('leaves out amounts without an exchange rate, and says which', async () => {
    const tenant = await createTenant();
    const known = await sendCohort(tenant, { ago: 40, devices: 300, payers: 100, adNanos: 10_000_000 });
    const [before = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    const cohort = { ago: 41, devices: 80, payers: 80, currency: 'eur', adNanos: 10_000_000 };
    const unknown = await sendCohort(tenant, cohort);
    const [row = {}] = (await ask(tenant, 'horizon_days=30')).body.data;
    expect(row).toMatchObject({ size: 380, payers: 180, reason: null, ads_reason: null });
    expect(row.revenue).toBeCloseTo(known.revenue + known.adRevenue, 6);
    const lacking = unknown.revenue + unknown.adRevenue;
    expect(row.unconverted).toEqual([{ currency: 'eur', amount: expect.closeTo(lacking, 6) }]);
    // Who pays in euros is not expected to pay in dollars.
    for (const name of ['', '_low', '_high'].map((end) => `predicted_purchase_revenue${end}`)) {
      expect(row[name], name).toBe(before[name]);
    }
    // Days, weeks and groups that lack nothing have no such field.
    const days = (await ask(tenant, 'cohort=day&horizon_days=30')).body.data;
    expect(days.map(({ reason, unconverted }) => [reason, unconverted])).toEqual([
      ['no_payers', row.unconverted],
      [null, undefined],
    ]);
    expect(days[0]).toMatchObject({ revenue: 0, payers: 80, predicted_ad_revenue: 0, predicted_ltv: null });
    const csv = await askCsv(tenant, 'cohort=day');
    expect(csv.map(({ size, unconverted }) => [size, unconverted])).toEqual([
      ['80', JSON.stringify(row.unconverted)],
      ['300', ''],
    ]);
  });

  it('predicts nothing without devices', async () => {
    expect((await ask(await createTenant())).body).toMatchObject({ data: [], total_rows: 0 });
  });

  it.each([
    ['horizon_days=0', 'horizon_days must be a whole number of days from 1 to 1095'],
    ['horizon_days=1.5', 'horizon_days must be a whole number of days from 1 to 1095'],
    [`as_of=${day(61)}`, 'as_of must not be before from'],
    ['as_of=yesterday', 'as_of must be a day, as YYYY-MM-DD'],
    ['limit=51', 'limit must be a whole number from 1 to 50'],
    [
      'group_by=item',
      'group_by must be one of creative, adset, campaign, country, os, network, app_version, sdk_version',
    ],
    ['cohort=year', 'cohort must be one of day, week, month, all'],
    ['currency=xyz', 'currency must be a currency code (ISO 4217), such as eur'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask(await createTenant(), query);
    expect(status).toBe(400);
    expect(body.message).toBe(message);
  });
});
