import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { reportPerformance } from '#reports';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant({ timezone: 'Asia/Tokyo' });
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T16:00:00.000Z' });
  const day = { created_at: '2026-03-02 16:30:00' };
  const request = { event_name: 'ad_request', params: { id: 'main', key: 'banner', value: '4' } };
  const events = [
    envelope.ad(token, day),
    envelope.ad(token, day, { media_source: 'applovin', value: 0.004 }),
    envelope.ad(token, day, { source: 'native', media_source: undefined, currency: 'eur', value: 2 }),
    envelope.custom(token, day, request),
    envelope.custom(token, day),
    envelope.purchase(token, day),
  ];
  await worker.post(tenant, '/webhook/batch', { events });
  await worker.deliver(worker.queue.take());
});

async function report(query: string, of = tenant) {
  const answer = await worker.team(
    of,
    `/v1/reports/performance?application_id=${tenant.application.id}&${query}`,
  );
  return {
    status: answer.status,
    body: (await answer.json()) as { data: Record<string, unknown>[] } & Record<string, unknown>,
  };
}
const march = 'from=2026-03-01&to=2026-03-31';

describe('GET /v1/reports/performance', () => {
  it('groups by day in the time zone of the application, with every metric in every row', async () => {
    const { body } = await report(march);
    expect(body.data.map(({ day }) => day)).toEqual(['2026-03-02', '2026-03-03']);
    expect(body.data[1]).toEqual({
      day: '2026-03-03',
      clicks: 0,
      installs: 0,
      dau: 1,
      sessions: 0,
      session_seconds: 0,
      average_session_seconds: null,
      impressions: 3,
      // Without what is in euros, which have no rate.
      ad_revenue: 0.006,
      ecpm: 2,
      ad_requests: 4,
      fill_rate: 0.75,
      purchases: 1,
      failed_purchases: 0,
      payers: 1,
      purchase_revenue: 4.99,
      revenue: 4.996,
      refunds: 0,
      refunded_revenue: 0,
      net_revenue: 4.996,
      trials: 0,
      renewals: 0,
      doubted_installs: 0,
      net_installs: 0,
      ad_impressions_bought: 0,
      ...{ ctr: null, cvr: null, ipm: null, cpc: null, cpm: null },
      roas_net: null,
      arpdau: 4.996,
      arpdau_net: 4.996,
      arppu: 4.99,
      arppu_net: 4.99,
      spend: 0,
      profit: 4.996,
      profit_net: 4.996,
      cpi: null,
      roas: null,
      roas_blended: null,
      roas_blended_net: null,
      events: 1,
      unconverted: [{ currency: 'eur', amount: 2 }],
    });
    expect(body).toMatchObject({
      currency: 'usd',
      timezone: 'Asia/Tokyo',
      unconverted: [{ currency: 'eur', amount: 2 }],
    });
  });

  it('has the mean of the daily devices and the revenue per summed device in the totals', async () => {
    const { body } = await report('from=2026-03-02&to=2026-03-05');
    expect(body.totals).toMatchObject({ installs: 1, dau: 0.5, purchase_revenue: 4.99, arpdau: 2.498 });
  });

  it('groups by source, with null for metrics that a source does not have', async () => {
    const { body } = await report(`${march}&group_by=source`);
    expect(body.data).toMatchObject([
      {
        source: 'banner',
        impressions: 2,
        ad_revenue: 0.006,
        ecpm: 3,
        ad_requests: 4,
        fill_rate: 0.5,
        installs: null,
        revenue: null,
      },
      { source: 'native', impressions: 1, ad_revenue: 0, ad_requests: 0, fill_rate: null, dau: null },
    ]);
  });

  it('groups by network, without requests', async () => {
    const { body } = await report(`${march}&group_by=day,media_source`);
    expect(body.data).toMatchObject([
      { day: '2026-03-03', media_source: null, impressions: 1, ad_requests: null, fill_rate: null },
      { day: '2026-03-03', media_source: 'admob', impressions: 1 },
      { day: '2026-03-03', media_source: 'applovin', impressions: 1, ecpm: 4 },
    ]);
  });

  it('groups by event name, without ad requests', async () => {
    const { body } = await report(`${march}&group_by=event_name`);
    expect(body.data).toMatchObject([{ event_name: 'level_1', events: 1, revenue: null }]);
    expect(body.totals).toMatchObject({ events: 1, ad_requests: 4 });
  });

  it('reports amounts of another currency', async () => {
    const { body } = await report(`${march}&currency=EUR`);
    expect(body).toMatchObject({
      currency: 'eur',
      totals: { ad_revenue: 2, purchase_revenue: 0, revenue: 2 },
      unconverted: [{ currency: 'usd', amount: 4.996 }],
    });
  });

  it('lists amounts without a rate for the whole period, whatever the groups contain', async () => {
    for (const group of ['source', 'item', 'event_name', 'day,creative']) {
      const { body } = await report(`${march}&group_by=${group}&currency=eur`);
      expect(body.unconverted, group).toEqual([{ currency: 'usd', amount: 4.996 }]);
    }
  });

  it('counts the payers of a week by the days of that week, even if only one is in the period', async () => {
    const other = await createTenant();
    // A Sunday and the Tuesday after.
    for (const day of ['2026-03-01', '2026-03-03']) {
      const token = await fetchToken(worker, other, { created_at: `${day}T08:00:00Z` });
      await worker.post(other, '/webhook', envelope.purchase(token, { created_at: `${day} 09:00:00` }));
    }
    await worker.deliver(worker.queue.take());
    const query = `application_id=${other.application.id}&from=2026-03-01&to=2026-03-08&group_by=week`;
    const answer = await worker.team(other, `/v1/reports/performance?${query}`);
    const { data } = (await answer.json()) as { data: Record<string, unknown>[] };
    expect(data.map(({ week, payers }) => [week, payers])).toEqual([
      ['2026-W09', 1],
      ['2026-W10', 1],
    ]);
  });

  it('leaves future days out of a mean', async () => {
    const query = {
      application_id: tenant.application.id,
      from: '2026-03-02',
      to: '2026-03-31',
      format: 'json',
      limit: 1000,
      q: undefined,
    } as const;
    const noon = Date.parse('2026-03-05T12:00:00Z');
    for (const group_by of [['month'], ['source']] as const) {
      const { data, totals } = await reportPerformance(
        env,
        tenant.application,
        { ...query, group_by: [...group_by] },
        noon,
      );
      // Active on the 2nd and the 3rd, of four days.
      expect(totals.dau).toBe(0.5);
      if (group_by[0] === 'month') expect(data[0]?.dau).toBe(0.5);
    }
  });

  it.each([
    ['to=2026-03-01', 'from is required'],
    ['from=2026-03-01', 'to is required'],
    ['from=2026-02-30&to=2026-03-01', 'from must be a day'],
    ['from=2026-03-02&to=2026-03-01', 'to must not be before from'],
    ['from=2000-03-02&to=2026-03-01', 'to must be within 1100 days of from'],
    [`${march}&group_by=colour`, 'group_by'],
    [`${march}&group_by=day,source,media_source`, 'group_by must be one or two'],
    [`${march}&group_by=source,event_name`, 'names two groupings that cannot be combined'],
    [`${march}&group_by=hour`, 'from must not be before'],
    [`${march}&until_hour=9`, 'to must not be before'],
    [`${march}&group_by=hour,source`, 'group_by names two groupings that cannot be combined'],
    [`${march}&group_by=hour,country`, 'group_by names two groupings that cannot be combined'],
    [`${march}&group_by=hour&country=de`, 'country cannot be combined with group_by=hour'],
    [`${march}&until_hour=9&os=ios`, 'os cannot be combined with until_hour'],
    [`${march}&until_hour=9&app_version=1.0`, 'app_version cannot be combined with until_hour'],
    [`${march}&until_hour=9&group_by=item`, 'until_hour cannot be combined with this group_by'],
    [`${march}&until_hour=24`, 'until_hour must be an hour from 1 to 23'],
    [`${march}&until_hour=0`, 'until_hour must be an hour from 1 to 23'],
    [`${march}&until_hour=nine`, 'until_hour must be an hour from 1 to 23'],
    [`${march}&currency=zzz`, 'currency must be a currency code (ISO 4217), such as eur'],
  ])('answers 400 to ?%s', async (query, message) => {
    const { status, body } = await report(query);
    expect(status).toBe(400);
    expect(body).toEqual({ message: expect.stringContaining(message) });
  });
});

describe('GET /v1/reports/retention', () => {
  const retention = async (query: string, of = tenant) => {
    const answer = await worker.team(
      of,
      `/v1/reports/retention?application_id=${tenant.application.id}&${query}`,
    );
    return { status: answer.status, body: await answer.json() };
  };

  it('returns one row for the cohorts of the days', async () => {
    const { body } = await retention(`${march}&days=0,1`);
    const full = { eligible: 1, complete: true, active: 1, classic: 1, rolling: 1 };
    expect(body).toEqual({
      data: [
        {
          cohort_from: '2026-03-01',
          cohort_to: '2026-03-31',
          creative: null,
          creative_id: null,
          size: 1,
          days: { '0': full, '1': full },
        },
      ],
      total_rows: 1,
      totals: { size: 1, days: { '0': full, '1': full } },
      timezone: 'Asia/Tokyo',
      counted_through: expect.any(String),
      uncounted: 0,
    });
  });

  it('accepts a reported day number that is one off, and none that is two off', async () => {
    const other = await createTenant();
    for (const [day, reported] of [
      [10, 11],
      [10, 12],
      [10, 9],
      [10, 8],
    ] as const) {
      const token = await fetchToken(worker, other, { created_at: '2026-03-01T10:00:00.000Z' });
      const at = { created_at: `2026-03-${day + 1} 10:00:00` };
      await worker.post(other, '/webhook', envelope.retention(token, at, { retentionDay: reported }));
    }
    await worker.deliver(worker.queue.take());
    const answer = await worker.team(
      other,
      `/v1/reports/retention?application_id=${other.application.id}&${march}&days=8,9,10,11,12`,
    );
    const { data }: { data: { days: Record<string, { active: number }> }[] } = await answer.json();
    const active = Object.entries(data[0]?.days ?? {}).map(([day, values]) => [day, values.active]);
    expect(Object.fromEntries(active)).toEqual({ 8: 0, 9: 1, 10: 2, 11: 1, 12: 0 });
  });

  it('returns no row if nobody was acquired', async () => {
    expect((await retention('from=2026-04-01&to=2026-04-02')).body).toEqual({
      data: [],
      total_rows: 0,
      totals: { size: 0, days: expect.any(Object) },
      timezone: 'Asia/Tokyo',
      counted_through: expect.any(String),
      uncounted: 0,
    });
  });

  it.each([
    [`${march}&days=x`, 'must be day numbers'],
    [`${march}&days=`, 'must be day numbers'],
    [`${march}&days=9999`, 'must be day numbers'],
    [`${march}&cohort=decade`, 'cohort must be'],
  ])('answers 400 to ?%s', async (query, message) => {
    const { status, body } = await retention(query);
    expect([status, body]).toEqual([400, { message: expect.stringContaining(message) }]);
  });
});

it.each(['performance', 'retention'])('/v1/reports/%s is a 404 to another team', async (name) => {
  const stranger = await createTenant();
  const path = `/v1/reports/${name}?application_id=${tenant.application.id}&${march}`;
  const answer = await worker.team(stranger, path);
  expect([answer.status, await answer.json()]).toEqual([404, { message: 'Application not found' }]);
});

describe('GET /v1/reports/ltv', () => {
  it('compares revenue by day N with the costs of the devices whose day is over', async () => {
    const other = await createTenant();
    const dayAt = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    const [old, yesterday] = [dayAt(5), dayAt(1)];
    const token = await fetchToken(worker, other, { created_at: old });
    await worker.post(other, '/webhook', envelope.purchase(token, { created_at: old }, { value: 20 }));
    await worker.deliver(worker.queue.take());
    await putCosts(worker, other, [
      { date: old.slice(0, 10), campaign: 'Spring', amount: 10 },
      { date: yesterday.slice(0, 10), campaign: 'Spring', amount: 30 },
    ]);
    const answer = await worker.team(
      other,
      `/v1/reports/ltv?application_id=${other.application.id}&from=${old.slice(0, 10)}&to=${yesterday.slice(0, 10)}&days=0,3&attribution=all`,
    );
    expect(await answer.json()).toMatchObject({ data: [{ days: { 0: { roas: 0.5 }, 3: { roas: 0.5 } } }] });
  });
});
