import { describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { putRates } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

type Row = Record<string, number | string | null>;
type Answer = { data: Row[]; rate_day: string; message?: string } & Record<
  'a' | 'b',
  { name: string | null; size: number }
>;

const ask = async (tenant: Tenant, query: string) => {
  const answer = await worker.team(
    tenant,
    `/v1/reports/compare?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-07&${query}`,
  );
  return { status: answer.status, body: (await answer.json()) as Answer };
};
const rowOf = ({ data }: Answer, metric: string, day: number) =>
  data.find((row) => row.metric === metric && row.day === day);

/** Devices of a creative: what each does is a list of events. */
async function sendDevices(
  tenant: Tenant,
  creativeToken: string | undefined,
  devices: { at?: string; country?: string; events: object[] }[],
) {
  for (const { at = '2026-03-02T09:00:00Z', country, events } of devices) {
    const token = await fetchToken(worker, tenant, {
      created_at: at,
      data: { creative_token: creativeToken, country, os_system: country === 'fr' ? 'iOS 18' : 'Android 16' },
    });
    if (events.length === 0) continue;
    const answer = await worker.post(tenant, '/webhook/batch', {
      events: events.map((event) => ({ creativeToken: token, ...event })),
    });
    expect(await answer.json()).toMatchObject({ accepted: events.length });
    await worker.deliver(worker.queue.take());
  }
}

const visit = (created_at: string) => ({ type: 'retention', created_at, payload: {} });
const buy = (created_at: string, value: number, currency = 'usd') => ({
  type: 'custom.purchase',
  created_at,
  payload: { item_id: 'x', item_name: 'X', value, currency, status: 'completed' },
});
const watch = (created_at: string, value: number, currency = 'usd') => ({
  type: 'custom.ad',
  created_at,
  payload: { ad_id: 'main', source: 'banner', value, currency },
});

async function start() {
  const tenant = await createTenant();
  const [cat, dog] = [
    await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative: 'Cat' }),
    await createCreative(worker, tenant, { campaign: 'Autumn', adset: 'Young', creative: 'Dog' }),
  ];
  await sendDevices(tenant, cat.token, [
    { country: 'de', events: [visit('2026-03-03 12:00:00'), buy('2026-03-03 12:00:00', 6)] },
    { country: 'de', events: [watch('2026-03-02 12:00:00', 1), buy('2026-03-20 12:00:00', 50)] },
    { country: 'fr', events: [visit('2026-03-03 12:00:00')] },
  ]);
  await sendDevices(tenant, dog.token, [
    { country: 'fr', events: [watch('2026-03-03 12:00:00', 2), watch('2026-03-08 12:00:00', 4)] },
    { country: 'fr', events: [] },
  ]);
  await sendDevices(tenant, undefined, [{ at: '2026-03-05T09:00:00Z', country: 'de', events: [] }]);
  return { tenant, cat, dog };
}

describe('GET /v1/reports/compare', () => {
  it('compares retention, conversion and revenue per device of two creatives', async () => {
    const { tenant, cat, dog } = await start();
    const { status, body } = await ask(tenant, `by=creative&a=${cat.id}&b=${dog.id}&days=1,3,7,8`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      a: { name: 'Cat', size: 3 },
      b: { name: 'Dog', size: 2 },
      rate_day: '2026-03-07',
    });
    expect(body.data.map(({ metric, day }) => `${metric} ${day}`)).toEqual(
      [1, 3, 7, 8].flatMap((day) => [`retention ${day}`, `conversion ${day}`, `arpu ${day}`]),
    );
    expect(rowOf(body, 'retention', 1)).toMatchObject({
      a_devices: 3,
      a_count: 2,
      a: 2 / 3,
      b_count: 1,
      b: 0.5,
    });
    expect(rowOf(body, 'retention', 1)?.difference).toBeCloseTo(0.5 - 2 / 3, 12);
    expect(rowOf(body, 'conversion', 1)).toMatchObject({
      a_count: 1,
      b_count: 0,
      test: 'two-proportion z-test',
    });
    expect(rowOf(body, 'arpu', 1)).toMatchObject({
      a_count: null,
      a: expect.closeTo(7 / 3, 12),
      b: 1,
      test: "Welch's t-test",
    });
    // By day 7: 6, 1 and 0 against 6 and 0; p and interval are those of scipy's ttest_ind without equal variances.
    expect(rowOf(body, 'arpu', 7)).toMatchObject({
      a: expect.closeTo(7 / 3, 12),
      b: 3,
      difference: expect.closeTo(2 / 3, 12),
      p_value: expect.closeTo(0.86941093, 7),
      low: expect.closeTo(-16.4436045, 5),
      high: expect.closeTo(17.7769379, 5),
    });
    // Revenue is not kept for every day.
    expect(rowOf(body, 'arpu', 8)).toMatchObject({ a: null, b: null, p_value: null });
  });

  it('compares campaigns, countries, systems and periods of the filtered devices', async () => {
    const { tenant, cat } = await start();
    const sizes = async (query: string) => {
      const { body } = await ask(tenant, query);
      return [body.a?.size, body.b?.size];
    };
    const campaigns = await worker.team(tenant, `/v1/campaigns?application_id=${tenant.application.id}`);
    const { data } = (await campaigns.json()) as { data: { id: string; name: string }[] };
    const idOf = (name: string) => data.find((one) => one.name === name)?.id;
    const campaign = `by=campaign&a=${idOf('Spring')}&b=${idOf('Autumn')}`;
    expect(await sizes(campaign)).toEqual([3, 2]);
    expect(await sizes(`${campaign}&country=fr`)).toEqual([1, 2]);
    expect(await sizes('by=country&a=DE&b=fr')).toEqual([3, 3]);
    expect(await sizes(`by=country&a=de&b=fr&creative_id=${cat.id}`)).toEqual([2, 1]);
    expect(await sizes('by=country&a=de&b=fr&country=de')).toEqual([3, 0]);
    expect(await sizes('by=os&a=android&b=ios&attribution=paid')).toEqual([2, 3]);
    expect(await sizes('by=period&b_from=2026-03-04&b_to=2026-03-09')).toEqual([6, 1]);
  });

  it('tells versions apart by their letters’ case, and by no more than their own filter', async () => {
    const tenant = await createTenant();
    for (const app_version of ['1.0-RC', '1.0-RC', '1.0-rc', '2.0']) {
      await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z', app_version });
    }
    await worker.deliver(worker.queue.take());
    const { body } = await ask(tenant, 'by=app_version&a=1.0-RC&b=1.0-rc');
    expect(body).toMatchObject({ a: { name: '1.0-RC', size: 2 }, b: { name: '1.0-rc', size: 1 } });
    const narrowed = await ask(tenant, 'by=app_version&a=1.0-RC&b=2.0&app_version=2.0');
    expect(narrowed.body).toMatchObject({ a: { size: 0 }, b: { size: 1 } });
  });

  it.each([
    ['the second period, if that is later', '2026-03-10', '2026-03-20', '2026-03-20'],
    ['the first, if that is', '2026-02-10', '2026-02-20', '2026-03-07'],
    ['the first, which may last as long', '2026-03-02', '2026-03-07', '2026-03-07'],
    ['no day that is ahead', '2026-03-10', '2999-01-01', new Date().toISOString().slice(0, 10)],
  ])('uses the rates of the last day of %s', async (_, b_from, b_to, rateDay) => {
    const tenant = await createTenant();
    const { status, body } = await ask(tenant, `by=period&b_from=${b_from}&b_to=${b_to}`);
    expect([status, body.rate_day]).toEqual([200, rateDay]);
  });

  it('counts only devices whose day N is over', async () => {
    const tenant = await createTenant();
    await sendDevices(tenant, undefined, [{ at: new Date().toISOString(), country: 'de', events: [] }]);
    const today = new Date().toISOString().slice(0, 10);
    const answer = await worker.team(
      tenant,
      `/v1/reports/compare?application_id=${tenant.application.id}&from=${today}&to=${today}&by=country&a=de&b=fr&days=0`,
    );
    const body = (await answer.json()) as Answer;
    expect(body).toMatchObject({ a: { size: 1 } });
    expect(rowOf(body, 'retention', 0)).toMatchObject({
      a_devices: 0,
      a: null,
      difference: null,
      p_value: null,
    });
    expect(rowOf(body, 'arpu', 0)).toMatchObject({ a: null, difference: null });
  });

  it('converts with the rates of one day, and leaves out what has no rate', async () => {
    const tenant = await createTenant();
    await sendDevices(tenant, undefined, [
      { country: 'de', events: [buy('2026-03-02 12:00:00', 10, 'eur'), watch('2026-03-03 12:00:00', 1)] },
      { country: 'fr', events: [] },
    ]);
    const query = 'by=country&a=de&b=fr&days=1';
    const before = (await ask(tenant, query)).body;
    expect(rowOf(before, 'arpu', 1)).toMatchObject({
      ...{ a: 1, b: 0, difference: -1 },
      unconverted: [{ currency: 'eur', amount: 10 }],
    });
    expect(rowOf(before, 'conversion', 1)).toMatchObject({ a_count: 1 });
    await putRates(worker, tenant, '2026-03-01', { eur: 2 });
    await putRates(worker, tenant, '2026-03-06', { eur: 1.5 });
    await putRates(worker, tenant, '2026-03-08', { eur: 9 });
    const { body } = await ask(tenant, query);
    expect(body.rate_day).toBe('2026-03-07');
    expect(rowOf(body, 'arpu', 1)).toMatchObject({ a: 16, b: 0 });
    expect(rowOf(body, 'arpu', 1)).not.toHaveProperty('unconverted');
    expect(rowOf((await ask(tenant, `${query}&currency=eur`)).body, 'arpu', 1)?.a).toBeCloseTo(
      10 + 1 / 1.5,
      9,
    );
  });

  it.each([
    [
      '',
      'by must be one of creative, adset, campaign, country, os, network, app_version, sdk_version, period',
    ],
    [
      'by=item',
      'by must be one of creative, adset, campaign, country, os, network, app_version, sdk_version, period',
    ],
    ['by=os&a=ios', 'b is required with by=os'],
    ['by=os&a=ios&b=ios', 'b must not be the same as a'],
    ['by=period', 'b_from is required with by=period; b_to is required with by=period'],
    ['by=period&a=x&b_from=2026-03-01&b_to=2026-03-02', 'a must not be used with by=period'],
    ['by=period&b_from=2026-03-05&b_to=2026-03-02', 'b_to must not be before b_from'],
    ['by=period&b_from=2026-02-30&b_to=2026-03-02', 'b_from must be a day, as YYYY-MM-DD'],
    ['by=os&a=ios&b=android&days=x', 'days.0 must be day numbers from 0 to 1100, such as 0,1,7,30'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask(await createTenant(), query);
    expect(status).toBe(400);
    expect(body.message).toBe(message);
  });

  it('is a 404 for another team’s creative', async () => {
    const [{ tenant, cat }, other] = [await start(), await start()];
    const { status, body } = await ask(tenant, `by=creative&a=${cat.id}&b=${other.dog.id}`);
    expect([status, body.message]).toEqual([400, "b must be the id of one of this application's creatives"]);
  });
});
