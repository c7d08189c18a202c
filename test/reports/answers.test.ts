import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { REPORT_NAMES, requiredOf } from '../helpers/reports.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';
const get = (tenant: Tenant, name: string, query: string, application = tenant.application.id) =>
  worker.team(
    tenant,
    `/v1/reports/${name}?application_id=${application}&${PERIOD}${requiredOf(name)}${query}`,
  );

const ad = (token: string, payload: Record<string, unknown>, envelope: Record<string, unknown> = {}) => ({
  type: 'custom.ad',
  created_at: '2026-03-02 10:00:00',
  creativeToken: token,
  ...envelope,
  payload: { ad_id: 'main', source: 'banner', currency: 'usd', value: 0.5, ...payload },
});

async function send(tenant: Tenant, events: unknown[]) {
  const answer = await worker.post(tenant, '/webhook/batch', { events });
  expect(await answer.json()).toMatchObject({ accepted: events.length });
  await worker.deliver(worker.queue.take());
}

const parse = (csv: Uint8Array) =>
  Papa.parse<Record<string, string>>(new TextDecoder().decode(csv), { header: true, skipEmptyLines: true });

describe.each(REPORT_NAMES)('GET /v1/reports/%s', (name) => {
  it("is a 404 for another team's application", async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    expect((await get(other, name, '')).status).toBe(200);
    const [theirs, unknown] = [
      await get(tenant, name, '', other.application.id),
      await get(tenant, name, '', `app_${'0'.repeat(32)}`),
    ];
    expect([theirs.status, await theirs.json()]).toEqual([404, { message: 'Application not found' }]);
    expect([unknown.status, await unknown.json()]).toEqual([404, { message: 'Application not found' }]);
  });

  it('requires the team token', async () => {
    const answer = await worker.request(`/v1/reports/${name}?application_id=app_1&${PERIOD}`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ message: 'Incorrect authentication token' });
  });

  it('has the same figures as CSV', async () => {
    const tenant = await createTenant({ name: '遊戲" #1', timezone: 'Europe/Berlin' });
    const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
    await send(tenant, [
      ad(token, { media_source: '=cmd', total_ad_value: 9 }),
      ad(token, { currency: 'eur', source: 'native' }),
    ]);
    const empty = await createTenant();
    const json = await (await get(tenant, name, '')).json<{
      data: Record<string, unknown>[];
      currency?: string;
      unconverted?: unknown[];
    }>();
    const answer = await get(tenant, name, '&format=csv');
    expect(answer.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    for (const [field, value] of Object.entries(json)) {
      if (typeof value !== 'string' || field === 'counted_through') continue;
      expect(answer.headers.get(`X-${field.replaceAll('_', '-')}`), field).toBe(value);
    }
    expect(answer.headers.get('X-Timezone')).toBe('Europe/Berlin');
    expect(answer.headers.get('X-Currency')).toBe(json.currency ?? null);
    expect(answer.headers.get('X-Unconverted')).toBe(
      json.unconverted ? JSON.stringify(json.unconverted) : null,
    );
    if (json.unconverted) expect(json.unconverted).toEqual([{ currency: 'eur', amount: 0.5 }]);
    expect(answer.headers.get('Content-Disposition')).toBe(
      `attachment; filename="${name}-___ _1-2026-03-01-2026-03-05.csv"; filename*=UTF-8''${name}-%E9%81%8A%E6%88%B2_%20%231-2026-03-01-2026-03-05.csv`,
    );
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const { data, meta, errors } = parse(bytes);
    expect(errors).toEqual([]);
    const expected = json.data.flatMap(({ days, ...row }) =>
      days
        ? Object.entries(days).map(([day, values]) => ({ ...row, day: Number(day), ...Object(values) }))
        : [row],
    );
    const text = (cell: unknown) =>
      Array.isArray(cell) ? JSON.stringify(cell) : String(cell ?? '').replace(/^=/, "'=");
    // A table of amounts has the column whether or not any row lacks some.
    const lacking = ['performance', 'ltv', 'ads', 'compare'].includes(name) ? { unconverted: '' } : {};
    if ('unconverted' in lacking) {
      const lists = expected.flatMap((row) => ('unconverted' in row ? [row.unconverted] : []));
      expect(lists).toContainEqual([{ currency: 'eur', amount: 0.5 }]);
    }
    expect(data).toEqual(
      expected.map((row) => ({
        ...lacking,
        ...Object.fromEntries(Object.entries(row).map(([key, cell]) => [key, text(cell)])),
      })),
    );
    const none = parse(new Uint8Array(await (await get(empty, name, '&format=csv')).arrayBuffer()));
    if (name !== 'client-totals') expect(none.meta.fields).toEqual(meta.fields);
  });

  it.each(['&to=2026-02-01', '&from=2026-02-30', '&to=2031-01-01', '&format=xml'])(
    'refuses %s',
    async (query) => {
      const tenant = await createTenant();
      const url = new URL(
        `https://x.test/v1/reports/${name}?application_id=${tenant.application.id}&${PERIOD}${requiredOf(name)}`,
      );
      for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value);
      expect((await worker.team(tenant, url.pathname + url.search)).status).toBe(400);
    },
  );
});

it.each([
  ['performance', '&group_by=source,item'],
  ['performance', '&group_by=currency,event_name'],
  ['performance', '&group_by=day,week,month'],
  ['performance', '&group_by='],
  ['performance', '&group_by=toString'],
  ['performance', '&currency=xyz'],
  ['retention', '&days=-1'],
  ['retention', '&cohort=year'],
  ['ltv', '&days=9999'],
  ['funnel', '&window_hours=0'],
  ['funnel', '&group_by=item'],
])('%s refuses %s', async (name, query) => {
  const tenant = await createTenant();
  expect((await get(tenant, name, query)).status).toBe(400);
});

describe('a funnel', () => {
  it('is reported for each group, for the filtered devices', async () => {
    const tenant = await createTenant();
    const ids: Record<string, string> = {};
    const device = async (created_at: string, creative_token?: string, country?: string) =>
      fetchToken(worker, tenant, { created_at, data: { creative_token, country } });
    for (const [creative, adset, country] of [
      ['Cat', 'Young', 'de'],
      ['Dog', 'Young', 'fr'],
      ['Dog', 'Old', 'de'],
    ] as const) {
      const made = await createCreative(worker, tenant, { campaign: 'Spring', adset, creative });
      ids[`${creative} ${adset}`] = made.id;
      const token = await device('2026-03-02T09:00:00Z', made.token, country);
      await send(tenant, [ad(token, {}, { created_at: '2026-03-02 09:10:00' }), ad(token, {})]);
    }
    await device('2026-03-02T09:00:00Z');
    const funnel = async (more: string) => {
      const answer = await (await get(tenant, 'funnel', more)).json<{ data: Record<string, unknown>[] }>();
      return answer.data
        .filter(({ step }) => step === 'ad')
        .map(({ step: _, from_first: _first, from_previous: _previous, ...row }) => row);
    };
    const all = { devices: 3, median_seconds: 600 };
    expect(await funnel('')).toEqual([all]);
    const [row, ...others] = await funnel('&group_by=campaign');
    expect(row).toEqual({ campaign: 'Spring', campaign_id: expect.stringMatching(/^cmp_/), ...all });
    expect(others).toEqual([{ campaign: null, campaign_id: null, devices: 0, median_seconds: null }]);
    expect((await funnel('&group_by=adset')).map(({ adset, devices }) => [adset, devices])).toEqual([
      ['Young', 2],
      [expect.toBeOneOf(['Old', null]), expect.toBeOneOf([0, 1])],
      [expect.toBeOneOf(['Old', null]), expect.toBeOneOf([0, 1])],
    ]);
    const countries = await funnel('&group_by=country');
    expect(countries).toContainEqual({ country: 'DE', devices: 2, median_seconds: 600 });
    expect(countries).toContainEqual({ country: 'FR', devices: 1, median_seconds: 600 });
    const devices = async (more: string) => (await funnel(more))[0]?.devices;
    expect(await devices(`&creative_id=${ids['Cat Young']}&creative_id=${ids['Dog Old']}`)).toBe(2);
    expect(await devices(`&campaign_id=${row?.campaign_id}&country=FR`)).toBe(1);
    expect(await devices('&creative_id=crt_of_nobody')).toBe(0);
    expect(await devices('&attribution=organic')).toBe(0);
    expect(await devices('&os=ios')).toBe(0);
  });

  it('accepts names with commas and quotes', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00.900Z' });
    const custom = (event_name: string, created_at: string) => ({
      type: 'custom',
      created_at,
      creativeToken: token,
      payload: { event_name },
    });
    await send(tenant, [
      custom('say "hi", $.x', '2026-03-02 09:00:00'),
      custom('later', '2026-03-02 11:00:00'),
    ]);
    const steps = (names: string[], hours: number) =>
      worker.team(
        tenant,
        `/v1/reports/funnel?application_id=${tenant.application.id}&${PERIOD}&window_hours=${hours}&steps=${encodeURIComponent(names.join(','))}`,
      );
    const name = 'event:say "hi"%2C $.x';
    expect(await (await steps(['install', name, 'event:later', 'purchase'], 2)).json()).toMatchObject({
      data: [
        { step: 'install', devices: 1, from_first: 1, from_previous: null },
        { step: 'event:say "hi", $.x', devices: 1, from_first: 1, from_previous: 1 },
        { step: 'event:later', devices: 1 },
        { step: 'purchase', devices: 0, from_first: 0, from_previous: 0 },
      ],
    });
    expect(await (await steps(['install', 'event:later'], 1.9)).json()).toMatchObject({
      data: [{}, { devices: 0 }],
    });
    expect(await (await steps(['event:later', 'install'], 100)).json()).toMatchObject({
      data: [{}, { devices: 0 }],
    });
    expect(await (await steps(['purchase', 'ad'], 1)).json()).toMatchObject({
      data: [
        { devices: 0, from_first: null },
        { from_first: null, from_previous: null },
      ],
    });
  });
});

describe('client totals', () => {
  it('show lost revenue and revenue that was counted twice', async () => {
    const tenant = await createTenant();
    const devices: Record<string, string> = {};
    for (const name of ['whole', 'lost', 'doubled', 'mixed', 'unknown', 'silent']) {
      devices[name] = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
    }
    const of = (name: string) => devices[name] ?? '';
    const keyed = ad(of('whole'), { value: 0.1, total_ad_value: 0.1 }, { event_id: 'a' });
    const purchase = (status: string, total: number) => ({
      type: 'custom.purchase',
      created_at: '2026-03-02 10:00:00',
      creativeToken: of('whole'),
      payload: {
        item_id: 'x',
        item_name: 'X',
        value: 5,
        currency: 'usd',
        status,
        total_purchase_value: total,
      },
    });
    await send(tenant, [
      keyed,
      keyed,
      ad(of('whole'), { value: 0.2, total_ad_value: 0.30000000000000004 }),
      purchase('success', 5),
      purchase('failed', 5),
      ad(of('lost'), { value: 1, total_ad_value: 3.5 }),
      ad(of('doubled'), { value: 2, total_ad_value: 2 }),
      ad(of('doubled'), { value: 2, total_ad_value: 2 }),
      ad(of('mixed'), { value: 2, total_ad_value: 2 }),
      ad(of('mixed'), { value: 2, total_ad_value: 4, currency: 'eur' }),
      // Neither the client's total nor what was counted has a currency.
      ad(of('unknown'), { value: -1, currency: null, total_ad_value: 7 }),
      ad(of('silent'), { value: 2 }),
    ]);
    const report = await (await get(tenant, 'client-totals', '')).json<{
      data: unknown[];
      totals: unknown[];
    }>();
    expect(report.data).toEqual([
      {
        device_id: expect.stringMatching(/^dev_/),
        kind: 'ad',
        currency: 'usd',
        client_total: 3.5,
        counted_total: 1,
        gap: 2.5,
      },
      {
        device_id: expect.stringMatching(/^dev_/),
        kind: 'ad',
        currency: 'usd',
        client_total: 2,
        counted_total: 4,
        gap: -2,
      },
    ]);
    expect(report.totals).toEqual([
      {
        kind: 'ad',
        currency: null,
        devices: 2,
        devices_with_gap: null,
        client_total: null,
        counted_total: null,
        gap: null,
      },
      {
        kind: 'ad',
        currency: 'usd',
        devices: 3,
        devices_with_gap: 2,
        client_total: 5.8,
        counted_total: 5.3,
        gap: 0.5,
      },
      {
        kind: 'purchase',
        currency: 'usd',
        devices: 1,
        devices_with_gap: 0,
        client_total: 5,
        counted_total: 5,
        gap: 0,
      },
    ]);
  });

  it('tolerate a millionth per event', async () => {
    const tenant = await createTenant();
    const gapOf = async (total: number) => {
      const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
      await send(tenant, [
        ad(token, { value: 0.000001 }),
        ad(token, { value: 0.000001 }),
        ad(token, { value: 0.000001, total_ad_value: total }),
      ]);
      const report = await (await get(tenant, 'client-totals', '')).json<{
        totals: { devices_with_gap: number }[];
      }>();
      return report.totals[0]?.devices_with_gap;
    };
    // Three events may be three millionths apart.
    expect(await gapOf(0.000006)).toBe(0);
    expect(await gapOf(0)).toBe(0);
    expect(await gapOf(0.000006001)).toBe(1);
  });
});
