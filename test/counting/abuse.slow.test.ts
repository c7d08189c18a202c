import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { dayFromNumber, dayNumber } from '#lib/time';
import { startCounter } from '../helpers/counter.ts';
import { adView, deliverInMessages, many, numbered, report } from '../helpers/many-events.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';

// What one application sends, however much of it there is, is counted exactly and is no fault of another's.

it('counts 20,000 names, 3,000 days and 10,000 of the largest amounts without affecting others', async () => {
  const [loud, quiet] = [await createTenant(), await createTenant()];
  const [view, other] = [await adView(loud), await adView(quiet)];
  const { ad_id, source, media_source, value_nanos, currency, ...device } = view;
  // 100 million units. Beyond 2^53, a number has one nano in sixteen.
  const large = 100_000_000_000_000_000;
  await deliverInMessages([
    ...many(20_000, (index) => numbered({ ...device, type: 'custom', event_name: `name ${index}` })),
    ...many(3_000, (index) => {
      const day = dayFromNumber(dayNumber('2012-01-01') + 2 * index);
      return numbered({ ...view, day, occurred_at: Date.parse(day), value_nanos: 1 });
    }),
    ...many(10_000, (index) =>
      numbered({
        ...device,
        type: 'custom.purchase',
        item_id: 'all',
        item_name: 'All',
        status: 'success',
        currency,
        value_nanos: large - 16 * (index % 2),
        day: '2026-03-02',
      }),
    ),
    numbered(other),
  ]);
  // The other's report counts nothing of all that, and does not wait for it.
  const { stub } = startCounter(loud.application.id);
  const { pending } = await stub().health();
  expect(pending).toBe(33_001);
  expect(await (await report(quiet, 'performance', 'from=2026-03-02&to=2026-03-02')).json()).toMatchObject({
    totals: { impressions: 1, ad_revenue: 0.002, revenue: 0.002 },
  });
  expect((await stub().health()).pending).toBe(pending);
  await settleAll(loud.application.id);
  const { results } = await env.DB.prepare('SELECT * FROM parked_messages').all();
  expect(results).toEqual([]);
  // 10,000 × 10^8 less 5,000 × 16 billionths.
  const exact = '999999999999.999920000';
  const day = 'from=2026-03-02&to=2026-03-02';
  const performance = await (await report(loud, 'performance', day)).json<{
    data: unknown[];
    totals: Record<string, unknown>;
  }>();
  expect(performance.totals).toMatchObject({
    purchases: 10_000,
    purchase_revenue: Number(exact),
    purchase_revenue_exact: exact,
  });
  // One of the ad views is on that day too.
  const revenue_exact = '999999999999.999920001';
  expect(performance.data).toMatchObject([{ purchase_revenue_exact: exact, revenue_exact, payers: 1 }]);
  // An amount that a number holds exactly stands alone.
  expect(performance.totals).not.toHaveProperty('ad_revenue_exact');
  const csv = (await (await report(loud, 'performance', `${day}&format=csv`)).text()).split('\r\n');
  const columns = csv[0]?.split(',') ?? [];
  expect(csv[1]?.split(',')[columns.indexOf('purchase_revenue_exact')]).toBe(exact);
  expect(columns).not.toContain('spend_exact');

  const days = await report(loud, 'performance', 'from=2026-01-01&to=2028-07-01&group_by=event_name');
  expect((await days.json<{ totals: object }>()).totals).toMatchObject({ events: 20_000 });
  const ltv = await report(loud, 'ltv', 'from=2012-01-01&to=2012-01-01&days=0,1100');
  // Of the 3,000 days those within 1,100 of the acquisition, every other one.
  expect(await ltv.json()).toMatchObject({
    data: [{ days: { 0: { revenue: 0.000000001 }, 1100: { revenue: 0.000000551 } } }],
  });
});
