import Papa from 'papaparse';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { adView, deliverInMessages, many, numbered, report } from '../helpers/many-events.ts';
import { putCosts, putRates } from '../helpers/money.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import type { Report } from '../oracle/setup.ts';

describe('amounts beyond 64 bits, sent as events', () => {
  const worker = startWorker();
  const DAYS = ['2026-03-02', '2026-03-03'];
  const period = 'from=2026-03-01&to=2026-03-03';
  // Ten of the largest amount are beyond 2^63 nanos. A nano beside them is lost in any sum that is not exact.
  const LARGEST = 999_999_999;
  const NANO = 0.000000001;
  const ADS = [...many(10, () => LARGEST), NANO, NANO, NANO];
  const PURCHASES = [...many(11, () => LARGEST), NANO];
  const [ads, purchases] = ['9999999990.000000003', '10999999989.000000001'];
  const revenue = '20999999979.000000004';
  let tenant: Tenant;

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-20T12:00:00Z') });
    tenant = await createTenant();
    const { token: creative_token } = await createCreative(worker, tenant, { creative: 'Cat' });
    const token = await fetchToken(worker, tenant, {
      created_at: `${DAYS[0]}T08:00:00Z`,
      app_version: '1.0',
      data: { country: 'DE', creative_token },
    });
    const at = (index: number) => ({
      created_at: `${DAYS[index % 2]}T1${index % 2}:00:00Z`,
      creativeToken: token,
    });
    const events = [
      ...ADS.map((value, index) => ({
        ...{ type: 'custom.ad', ...at(index) },
        payload: { ad_id: 'main', source: 'banner', media_source: 'admob', value, currency: 'usd' },
      })),
      ...PURCHASES.map((value, index) => ({
        ...{ type: 'custom.purchase', ...at(index) },
        payload: { item_id: 'gems', item_name: 'Gems', value, currency: 'usd', status: 'success' },
      })),
    ];
    for (const own of [events.slice(0, 20), events.slice(20)]) {
      const answer = await worker.post(tenant, '/webhook/batch', { events: own });
      expect(await answer.json()).toMatchObject({ accepted: own.length });
    }
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  const ask = async (name: string, query: string): Promise<Report> =>
    (await report(tenant, name, `${period}&${query}`)).json();
  const inAll = { ad_revenue_exact: ads, purchase_revenue_exact: purchases, revenue_exact: revenue };

  it.each([
    'month',
    'campaign',
    'adset',
    'creative',
    'country',
    'os',
    'app_version',
    'creative,country',
    'currency',
  ])('are exact by %s', async (group) => {
    expect(await ask('performance', `group_by=${group}`)).toMatchObject({
      data: [{ ...inAll, ...(group === 'currency' ? {} : { installs: 1 }) }],
      totals: inAll,
    });
  });

  it.each(['os=android', 'country=de', 'app_version=1.0', 'attribution=paid'])(
    'are exact of %s',
    async (filter) => {
      expect(await ask('performance', `group_by=month&${filter}`)).toMatchObject({
        data: [inAll],
        totals: inAll,
      });
    },
  );

  it.each(['source', 'media_source', 'placement', 'source,country', 'placement,month'])(
    'of ads are exact by %s',
    async (group) => {
      expect(await ask('performance', `group_by=${group}`)).toMatchObject({
        data: [{ ad_revenue_exact: ads }],
      });
    },
  );

  it.each(['item', 'item,creative', 'item,currency'])('of purchases are exact by %s', async (group) => {
    expect(await ask('performance', `group_by=${group}`)).toMatchObject({
      data: [{ purchase_revenue_exact: purchases }],
    });
  });

  it.each(['day', 'hour'])('are exact by %s', async (group) => {
    const { data, totals } = await ask('performance', `group_by=${group}`);
    // The device came in an hour of its own.
    expect(data.filter((row) => Number(row.revenue) > 0)).toMatchObject([
      { ad_revenue_exact: '4999999995.000000002', purchase_revenue_exact: '5999999994.000000000' },
      { ad_revenue_exact: '4999999995.000000001', purchase_revenue_exact: '4999999995.000000001' },
    ]);
    expect(totals).toMatchObject(inAll);
  });

  it.each(['', 'group_by=creative', 'group_by=country'])('are exact in the ad report %s', async (group) => {
    expect(await ask('ads', group)).toMatchObject({
      data: [{ ad_revenue_exact: '4999999995.000000002' }, { ad_revenue_exact: '4999999995.000000001' }],
    });
  });

  it.each(['', 'group_by=campaign', 'group_by=os', 'app_version=1.0'])(
    'are exact in lifetime values %s',
    async (query) => {
      expect(await ask('ltv', `days=0,7&${query}`)).toMatchObject({
        data: [
          {
            days: {
              0: { revenue_exact: '10999999989.000000002' },
              7: { revenue_exact: revenue, ltv: Number(revenue) },
            },
          },
        ],
      });
    },
  );

  it('are as exact as numbers are where a report has no exact amounts', async () => {
    const near = (amount: string) => expect.closeTo(Number(amount), 5);
    expect(await ask('predicted-ltv', '')).toMatchObject({
      data: [{ purchase_revenue: near(purchases), ad_revenue: near(ads), revenue: near(revenue) }],
    });
    expect(await ask('compare', 'by=os&a=android&b=ios&days=7')).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ metric: 'arpu', day: 7, a: near(revenue) })]),
    });
  });

  it('are not said to be exact by a comparison', async () => {
    const { data } = await ask('compare', 'by=os&a=android&b=ios&days=7&currency=eur');
    const lacking = data.find(({ metric }) => metric === 'arpu')?.unconverted;
    expect(lacking).toEqual([{ currency: 'usd', amount: expect.closeTo(Number(revenue), 5) }]);
  });

  it('are exact without a rate, and converted', async () => {
    const lacking = [{ currency: 'usd', amount: Number(revenue), amount_exact: revenue }];
    for (const group of ['month', 'creative', 'country']) {
      expect(await ask('performance', `group_by=${group}&currency=eur`)).toMatchObject({
        data: [{ revenue: 0, unconverted: lacking }],
        unconverted: lacking,
      });
    }
    expect(await ask('ltv', 'days=7&currency=eur')).toMatchObject({
      data: [{ days: { 7: { unconverted: lacking } } }],
      unconverted: lacking,
    });
    await putRates(worker, tenant, '2026-03-01', { jpy: 0.5 });
    for (const group of ['month', 'creative', 'country']) {
      expect(await ask('performance', `group_by=${group}&currency=jpy`)).toMatchObject({
        data: [
          { ad_revenue_exact: '19999999980.000000006', purchase_revenue_exact: '21999999978.000000002' },
        ],
        totals: { revenue_exact: '41999999958.000000008' },
      });
    }
    expect(await ask('ltv', 'days=7&currency=jpy')).toMatchObject({
      data: [{ days: { 7: { revenue_exact: '41999999958.000000008' } } }],
    });
  });

  it('are exact in CSV', async () => {
    const text = await (await report(tenant, 'performance', `${period}&group_by=month&format=csv`)).text();
    const { data } = Papa.parse<Record<string, string>>(text.replace(/^\ufeff/, ''), { header: true });
    expect(data[0]).toMatchObject(inAll);
  });

  it('are exact in spend', async () => {
    const names = { campaign: 'Large' };
    const largest = { ...names, amount: 9_000_000_000 };
    await putCosts(worker, tenant, [
      ...DAYS.map((date) => ({ ...largest, date })),
      { ...names, date: '2026-03-01', amount: NANO },
    ]);
    for (const group of ['month', 'campaign']) {
      expect(await ask('performance', `group_by=${group}`)).toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ spend_exact: '18000000000.000000001' })]),
        totals: { spend_exact: '18000000000.000000001' },
      });
    }
  });
});

it('compares client totals exactly beyond 64 bits', async () => {
  const tenant = await createTenant();
  const view = await adView(tenant);
  const large = 999_000_000_000_000_000;
  await deliverInMessages(
    many(9_300, (index) =>
      numbered({ ...view, value_nanos: large, total_ad_value: (index + 1) * 999_000_000 + 2 }),
    ),
  );
  await settleAll(tenant.application.id);
  const answer = await report(tenant, 'client-totals', 'from=2012-01-01&to=2012-01-01');
  expect(await answer.json()).toMatchObject({
    totals: [
      {
        client_total_exact: '9290700000002.000000000',
        counted_total_exact: '9290700000000.000000000',
        gap: 2,
        devices_with_gap: 1,
      },
    ],
    data: [{ client_total: 9_290_700_000_002, gap: 2 }],
  });
});
