import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { dayFromNumber, dayNumber } from '#lib/time';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What one application sends, however much of it there is, is counted exactly and is no fault of another's.

const worker = startWorker();
const EVENTS_PER_MESSAGE = 400;

/** An ad view of a new device, to be varied. */
async function adView(tenant: Tenant): Promise<Extract<LoggedEvent, { type: 'custom.ad' }>> {
  const acquiredDay = '2012-01-01';
  const created = await startCounter(tenant.application.id).createDevice({
    acquiredDay,
    acquiredAt: Date.parse(`${acquiredDay}T10:00:00Z`),
  });
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const event = eventOf(tenant.application.id, created.device, 'custom.ad');
  if (event.type !== 'custom.ad') throw new Error('an ad view was made');
  return event;
}

async function deliver(events: LoggedEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_PER_MESSAGE) {
    const body = { v: 1, events: events.slice(start, start + EVENTS_PER_MESSAGE) };
    const result = await worker.deliver([{ id: `m-${start}`, body }]);
    expect(result.retryMessages).toEqual([]);
  }
}

async function report(tenant: Tenant, name: string, query: string) {
  const answer = await worker.team(
    tenant,
    `/v1/reports/${name}?application_id=${tenant.application.id}&${query}`,
  );
  expect(answer.status).toBe(200);
  return answer;
}

const many = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));
const numbered = (event: LoggedEvent): LoggedEvent => ({ ...event, id: newId('evt') });

it('counts 20,000 names, 3,000 days and 10,000 of the largest amounts without affecting others', async () => {
  const [loud, quiet] = [await createTenant(), await createTenant()];
  const [view, other] = [await adView(loud), await adView(quiet)];
  const { ad_id, source, media_source, value_micros, currency, ...device } = view;
  const billion = 1_000_000_000_000_000;
  await deliver([
    ...many(20_000, (index) => numbered({ ...device, type: 'custom', event_name: `name ${index}` })),
    ...many(3_000, (index) => {
      const day = dayFromNumber(dayNumber('2012-01-01') + 2 * index);
      return numbered({ ...view, day, occurred_at: Date.parse(day), value_micros: 1 });
    }),
    ...many(10_000, (index) =>
      numbered({
        ...device,
        type: 'custom.purchase',
        item_id: 'all',
        item_name: 'All',
        status: 'success',
        currency,
        value_micros: billion - (index % 2),
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
  // 10,000 × 10^9 less 5,000 millionths.
  const exact = '9999999999999.995000';
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
  const revenue_exact = '9999999999999.995001';
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
    data: [{ days: { 0: { revenue: 0.000001 }, 1100: { revenue: 0.000551 } } }],
  });
});

it('adds up amounts exactly beyond 64 bits, in every report', async () => {
  const tenant = await createTenant();
  const view = await adView(tenant);
  const { ad_id, source, media_source, value_micros, ...device } = view;
  await deliver([numbered(view)]);
  await settleAll(tenant.application.id);
  // As years of events leave it: ads and purchases of one cohort and day, each just below and together above 2^63 micros.
  const [high, low] = [9_223_372, 36_854_775_807];
  const put = (table: string) =>
    env.DB.prepare(
      `UPDATE ${table} SET ad_revenue_high = ?2, ad_revenue = ?3 WHERE application_id = ?1 AND currency = 'usd'`,
    ).bind(tenant.application.id, high, low);
  await env.DB.batch([put('rollup_daily'), put('rollup_ads'), put('cohort_revenue')]);
  const purchase = { item_id: 'x', item_name: 'X', status: 'success', value_micros: 1 } as const;
  await deliver([numbered({ ...device, ...purchase, type: 'custom.purchase' })]);
  await settleAll(tenant.application.id);
  const same = (table: string) =>
    env.DB.prepare(
      `UPDATE ${table} SET purchase_revenue_high = ?2, purchase_revenue = ?3
       WHERE application_id = ?1 AND currency = 'usd'`,
    ).bind(tenant.application.id, high, low);
  await env.DB.batch([same('rollup_daily'), same('rollup_items'), same('cohort_revenue')]);
  // One more event carries over into the higher part.
  await deliver([numbered({ ...view, value_micros: 970_000_000_000 })]);

  const [purchases, ads, revenue] = ['9223372036854.775807', '9223373006854.775807', '18446745043709.551614'];
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
  const billion = 1_000_000_000_000_000;
  await deliver(
    many(9_300, (index) =>
      numbered({ ...view, value_micros: billion, total_ad_value: (index + 1) * 1_000_000_000 + 2 }),
    ),
  );
  await settleAll(tenant.application.id);
  const answer = await report(tenant, 'client-totals', 'from=2012-01-01&to=2012-01-01');
  expect(await answer.json()).toMatchObject({
    totals: [
      {
        client_total_exact: '9300000000002.000000',
        counted_total_exact: '9300000000000.000000',
        gap: 2,
        devices_with_gap: 1,
      },
    ],
    data: [{ client_total: 9_300_000_000_002, gap: 2 }],
  });
});
