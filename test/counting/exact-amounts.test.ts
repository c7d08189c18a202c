import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { adView, deliverInMessages, many, numbered, report } from '../helpers/many-events.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';

it('adds up amounts exactly beyond 64 bits, in every report', async () => {
  const tenant = await createTenant();
  const view = await adView(tenant);
  const { ad_id, source, media_source, value_nanos, ...device } = view;
  await deliverInMessages([numbered(view)]);
  await settleAll(tenant.application.id);
  // As years of events leave it: ads and purchases of one cohort and day, each just below and together above 2^63 nanos.
  const [high, low] = [9_223_372, 36_854_775_807];
  const put = (table: string) =>
    env.DB.prepare(
      `UPDATE ${table} SET ad_revenue_high = ?2, ad_revenue = ?3 WHERE application_id = ?1 AND currency = 'usd'`,
    ).bind(tenant.application.id, high, low);
  await env.DB.batch([put('rollup_daily'), put('rollup_ads'), put('cohort_revenue')]);
  const purchase = { item_id: 'x', item_name: 'X', status: 'success', value_nanos: 1 } as const;
  await deliverInMessages([numbered({ ...device, ...purchase, type: 'custom.purchase' })]);
  await settleAll(tenant.application.id);
  const same = (table: string) =>
    env.DB.prepare(
      `UPDATE ${table} SET purchase_revenue_high = ?2, purchase_revenue = ?3
       WHERE application_id = ?1 AND currency = 'usd'`,
    ).bind(tenant.application.id, high, low);
  await env.DB.batch([same('rollup_daily'), same('rollup_items'), same('cohort_revenue')]);
  // One more event carries over into the higher part.
  await deliverInMessages([numbered({ ...view, value_nanos: 970_000_000_000 })]);

  const [purchases, ads, revenue] = ['9223372036.854775807', '9223373006.854775807', '18446745043.709551614'];
  const period = 'from=2026-03-02&to=2026-03-02';
  const one = { purchase_revenue_exact: purchases, ad_revenue_exact: ads, revenue_exact: revenue };
  expect(await (await report(tenant, 'performance', period)).json()).toMatchObject({
    data: [one],
    totals: one,
  });
  expect(await (await report(tenant, 'performance', `${period}&group_by=item`)).json()).toMatchObject({
    data: [{ purchase_revenue_exact: purchases }],
  });
  expect(await (await report(tenant, 'ads', period)).json()).toMatchObject({
    data: [{ ad_revenue_exact: ads }],
  });
  const ltv = await report(tenant, 'ltv', `from=2012-01-01&to=2012-01-01&days=1100`);
  expect(await ltv.json()).toMatchObject({ data: [{ days: { 1100: { revenue: 0 } } }] });
  const later = await env.DB.prepare(
    `UPDATE cohort_revenue SET acquired_day = '2026-03-01' WHERE application_id = ?`,
  )
    .bind(tenant.application.id)
    .run();
  expect(later.meta.changes).toBeGreaterThan(0);
  await env.DB.prepare(`UPDATE cohort_activity SET acquired_day = '2026-03-01' WHERE application_id = ?`)
    .bind(tenant.application.id)
    .run();
  const cohort = await report(tenant, 'ltv', `from=2026-03-01&to=2026-03-01&days=30`);
  expect(await cohort.json()).toMatchObject({
    data: [{ days: { 30: { revenue: Number(revenue), revenue_exact: revenue } } }],
  });
  const inEuro = await report(tenant, 'performance', `${period}&currency=eur`);
  expect(await inEuro.json()).toMatchObject({
    unconverted: [{ currency: 'usd', amount: Number(revenue), amount_exact: revenue }],
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
