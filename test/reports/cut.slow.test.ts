import { env } from 'cloudflare:workers';
import Papa from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts, putRates } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { sendHistory } from '../oracle/history.ts';

// A report that is cut short has the same rows as the whole one, as far as it goes, and the sums of the rest in one row.

type Row = Record<string, string | number | boolean | null> & { days?: Record<string, unknown> };
type Report = { data: Row[]; total_rows: number; totals?: Row };

const PERIOD = 'from=2026-03-26&to=2026-04-10';
const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant({ currency: 'eur' });
  const creativeTokens: string[] = [];
  for (let index = 0; index < 6; index++) {
    const names = {
      creative: `Creative ${index % 4}`,
      adset: `Set ${index % 3}`,
      campaign: `Campaign ${index % 2}`,
    };
    creativeTokens.push((await createCreative(worker, tenant, names)).token);
  }
  await sendHistory(worker, tenant, {
    creativeTokens,
    seed: 8,
    start: '2026-03-26',
    days: 14,
    devices: 60,
    zone: 'UTC',
    currencies: ['usd', 'eur', 'jpy'],
  });
  // One rate for all days, so that the ranking knows the revenue exactly.
  await putRates(worker, tenant, '2026-03-01', { eur: 1.25, jpy: 0.008 });
  await putCosts(worker, tenant, [
    { date: '2026-03-27', campaign: 'Campaign 0', amount: 12.5 },
    {
      date: '2026-03-28',
      campaign: 'Campaign 1',
      adset: 'Set 1',
      creative: 'Creative 1',
      currency: 'eur',
      amount: 3,
    },
    {
      date: '2026-03-29',
      campaign: 'Unknown',
      adset: 'Set 9',
      creative: 'Creative 9',
      currency: 'eur',
      amount: 7,
    },
  ]);
});

async function report(name: string, query: string, of = tenant): Promise<Report> {
  const path = `/v1/reports/${name}?application_id=${of.application.id}&${PERIOD}&${query}`;
  const answer = await worker.team(of, path);
  expect(answer.status, query).toBe(200);
  return answer.json();
}

/** What adds up over groups. */
const SUMS = [
  'clicks',
  'installs',
  'sessions',
  'impressions',
  'ad_revenue',
  'ad_requests',
  'purchases',
  'failed_purchases',
  'purchase_revenue',
  'revenue',
  'spend',
  'events',
] as const;
const TIMES = ['day', 'week', 'month'];

const add = (rows: readonly Row[], name: string) =>
  rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
const revenueOf = (row: Row) => Number(row.revenue ?? row.ad_revenue ?? row.purchase_revenue);
const ratio = (above: number, below: number) => (below === 0 ? null : above / below);

function expectEqual(actual: unknown, expected: number | null, what: string) {
  if (expected === null) expect(actual, what).toBeNull();
  else expect(actual, what).toBeCloseTo(expected, 4);
}

describe.each([
  'creative',
  'adset',
  'campaign',
  'source',
  'media_source',
  'placement',
  'item',
  'event_name',
  'currency',
  'day',
  'week',
  'month',
  'day,creative',
  'campaign,week',
  'placement,month',
  'source,placement',
  'currency,creative',
  'media_source,currency',
])('performance by %s', (group_by) => {
  const names = group_by.split(',');
  const times = names.filter((name) => TIMES.includes(name));

  it.each([1, 2, 5])('cut after %i rows', async (limit) => {
    const whole = await report('performance', `group_by=${group_by}`);
    const cut = await report('performance', `group_by=${group_by}&limit=${limit}`);
    expect(whole.data.every((row) => !('is_other' in row))).toBe(true);
    expect(cut.totals).toEqual(whole.totals);
    expect([cut.total_rows, whole.total_rows]).toEqual([whole.data.length, whole.data.length]);
    if (whole.data.length <= limit) {
      expect(cut.data).toEqual(whole.data);
      return;
    }
    const other = cut.data.at(-1) as Row;
    const kept = cut.data.slice(0, -1);
    expect(kept).toHaveLength(limit);
    const texts = new Set(kept.map((row) => JSON.stringify(row)));
    // The same rows in the same order.
    expect(whole.data.filter((row) => texts.has(JSON.stringify(row)))).toEqual(kept);
    const left = whole.data.filter((row) => !texts.has(JSON.stringify(row)));
    expect(left).toHaveLength(whole.data.length - limit);

    const [first = {}] = whole.data as Row[];
    for (const column of Object.keys(first).slice(0, Object.keys(first).indexOf('clicks'))) {
      expect(other[column]).toBe(column.endsWith('_id') ? null : 'other');
    }
    expect(other.is_other).toBe(true);
    for (const name of SUMS) {
      expectEqual(other[name], first[name] === null ? null : add(left, name), name);
    }
    const ecpm = ratio(add(left, 'ad_revenue') * 1000, add(left, 'impressions'));
    expectEqual(other.ecpm, first.impressions === null ? null : ecpm, 'ecpm');
    if (first.fill_rate !== null) {
      expectEqual(other.fill_rate, ratio(add(left, 'impressions'), add(left, 'ad_requests')), 'fill_rate');
    }
    if (times.length === 0 && other.dau !== null) expectEqual(other.dau, add(left, 'dau'), 'dau');
    if (group_by === 'day') expectEqual(other.dau, add(left, 'dau') / left.length, 'dau');
    if (group_by === 'day,creative') {
      // The rest covers all days up to the last that has something in it.
      const last =
        left
          .map(({ day }) => String(day))
          .sort()
          .at(-1) ?? '';
      const days = new Set(whole.data.map(({ day }) => String(day)).filter((day) => day <= last));
      expectEqual(other.dau, add(left, 'dau') / days.size, 'dau');
    }

    const timeOf = (row: Row) => times.map((name) => row[name]).join();
    const [oldest = ''] = kept.map(timeOf).sort();
    for (const row of left) expect(timeOf(row) <= oldest).toBe(true);
    const rivals = left.filter((row) => timeOf(row) === oldest);
    const least = Math.min(...kept.filter((row) => timeOf(row) === oldest).map((row) => revenueOf(row)));
    for (const row of rivals) expect(revenueOf(row)).toBeLessThanOrEqual(least + 1e-6);
  });
});

it('returns the same rows every time, even among equals', async () => {
  const other = await createTenant();
  const token = await fetchToken(worker, other, { created_at: '2026-03-26T10:00:00Z' });
  const events = ['d', 'b', 'a', 'c'].map((event_name) => ({
    type: 'custom',
    created_at: '2026-03-27 10:00:00',
    creativeToken: token,
    payload: { event_name },
  }));
  await worker.post(other, '/webhook/batch', { events });
  await worker.deliver(worker.queue.take());
  const { data } = await report('performance', 'group_by=event_name&limit=2', other);
  expect(data.map((row) => [row.event_name, row.events])).toEqual([
    ['a', 1],
    ['b', 1],
    ['other', 2],
  ]);
});

it('distinguishes a group named "other" from the row of the rest', async () => {
  const other = await createTenant();
  const token = await fetchToken(worker, other, { created_at: '2026-03-26T10:00:00Z' });
  const ad = (ad_id: string, value: number) => ({
    type: 'custom.ad',
    created_at: '2026-03-27 10:00:00',
    creativeToken: token,
    payload: { ad_id, source: 'banner', value, currency: 'usd' },
  });
  await worker.post(other, '/webhook/batch', { events: [ad('other', 3), ad('a', 2), ad('b', 1)] });
  await worker.deliver(worker.queue.take());
  const { data } = await report('performance', 'group_by=placement&limit=1', other);
  expect(data.map((row) => [row.placement, row.is_other ?? false, row.ad_revenue])).toEqual([
    ['other', false, 3],
    ['other', true, 3],
  ]);
});

it('finds groups by part of their name, in any case, and sums up the others', async () => {
  const whole = await report('performance', 'group_by=creative,source');
  const found = await report('performance', 'group_by=creative,source&q=TIVE%201');
  const wanted = whole.data.filter((row) => String(row.creative).includes('tive 1'));
  expect(wanted.length).toBeGreaterThan(1);
  expect(found.data.slice(0, -1)).toEqual(wanted);
  expect(found.total_rows).toBe(wanted.length);
  expect(found.data.at(-1)).toMatchObject({
    creative: 'other',
    creative_id: null,
    source: 'other',
    is_other: true,
  });
  expect(add(found.data, 'impressions')).toBe(add(whole.data, 'impressions'));
  expect(found.totals).toEqual(whole.totals);
  const nothing = await report('performance', "group_by=creative&q=%25'%22");
  expect(nothing.data).toHaveLength(1);
  expect(nothing).toMatchObject({ total_rows: 0, data: [{ is_other: true }] });
});

it.each([
  ['', {}],
  ['&group_by=campaign', { campaign: 'other', campaign_id: null }],
  ['&group_by=app_version', { app_version: 'other' }],
])(
  'cuts off the oldest rows of the ad report%s, and keeps the requests of every format that has a row',
  async (by, named) => {
    const whole = await report('ads', by);
    expect(whole.data.length).toBeGreaterThan(20);
    for (const limit of [1, 7, 20]) {
      const cut = await report('ads', `limit=${limit}${by}`);
      const [kept, other] = [cut.data.slice(0, -1), cut.data.at(-1)];
      expect(kept).toHaveLength(limit);
      const texts = new Set(kept.map((row) => JSON.stringify(row)));
      expect(whole.data.filter((row) => texts.has(JSON.stringify(row)))).toEqual(kept);
      const left = whole.data.filter((row) => !texts.has(JSON.stringify(row)));
      const [oldest = ''] = kept.map((row) => String(row.day));
      for (const row of left) expect(String(row.day) <= oldest).toBe(true);
      expect(other).toMatchObject({ day: 'other', source: 'other', media_source: 'other', is_other: true });
      expect(other).toMatchObject(named);
      expect(other).toMatchObject({
        impressions: add(left, 'impressions'),
        ad_requests: add(left, 'ad_requests'),
        fill_rate: null,
      });
      expectEqual(other?.ad_revenue, add(left, 'ad_revenue'), 'ad_revenue');
      expectEqual(other?.ecpm, ratio(add(left, 'ad_revenue') * 1000, add(left, 'impressions')), 'ecpm');
      expect(cut.total_rows).toBe(whole.data.length);
    }
    const found = await report('ads', `q=BANNER${by}`);
    expect(found.data.filter((row) => !row.is_other)).toEqual(
      whole.data.filter((row) => row.source === 'banner'),
    );
  },
);

it('finds names in any case of any script, whether SQL or the Worker looks for them', async () => {
  const other = await createTenant();
  const { token: creative_token } = await createCreative(worker, other, { creative: 'Löwe' });
  const created_at = '2026-03-26T10:00:00Z';
  const token = await fetchToken(worker, other, { created_at, data: { creative_token } });
  const event = (type: string, payload: object) => ({ type, created_at, creativeToken: token, payload });
  const ad = (ad_id: string, media_source: string) =>
    event('custom.ad', { ad_id, source: 'ПРИВЕТ', media_source, value: 1, currency: 'usd' });
  await worker.post(other, '/webhook/batch', {
    events: [
      ad('ΟΔΟΣ', 'ÄÖ'),
      ad('Level', 'admob'),
      event('custom', { event_name: 'İstanbul' }),
      event('custom', { event_name: 'Level' }),
    ],
  });
  await worker.deliver(worker.queue.take());
  for (const [name, by, q, found] of [
    ['performance', 'placement', 'οδος', 'ΟΔΟΣ'],
    ['performance', 'creative,placement', 'οδος', 'ΟΔΟΣ'],
    ['performance', 'event_name', 'istanbul', 'İstanbul'],
    ['performance', 'creative', 'lÖWE', 'Löwe'],
    ['ads', 'media_source', 'äÖ', 'äö'],
    ['ads', 'source', 'Привет', 'привет'],
    ['ads', 'creative', 'lÖWE', 'Löwe'],
  ] as const) {
    const grouped = name === 'ads' && by !== 'creative' ? '' : `group_by=${by}&`;
    const { data } = await report(name, `${grouped}q=${encodeURIComponent(q)}`, other);
    const shown = data.filter((row) => !row.is_other).map((row) => row[by.split(',').at(-1) ?? '']);
    expect([...new Set(shown)], `${name} by ${by}`).toEqual([found]);
  }
});

it.each([
  ['performance', 'group_by=source', 'Rewarded%20video', ({ source }: Row) => source === 'rewarded_video'],
  ['performance', 'group_by=country', 'gERman', ({ country }: Row) => country === 'DE'],
  ['performance', 'group_by=country,source', 'India', ({ country }: Row) => country === 'IN'],
  ['performance', 'group_by=country', 'none', ({ country }: Row) => country === null],
  ['performance', 'group_by=campaign', 'organic', ({ campaign }: Row) => campaign === null],
  ['ads', '', 'rewarded%20video', ({ source }: Row) => source === 'rewarded_video'],
  ['ads', 'group_by=country', 'brazil', ({ country }: Row) => country === 'BR'],
  ['ads', 'group_by=campaign', 'campaign%201', ({ campaign }: Row) => campaign === 'Campaign 1'],
])('%s with %s finds groups by the name %s', async (name, query, q, isWanted) => {
  const whole = await report(name, query);
  const found = (await report(name, `${query}&q=${q}`)).data.filter((row) => !row.is_other);
  expect(found.length).toBeGreaterThan(0);
  expect(found).toEqual(whole.data.filter(isWanted));
});

describe.each(['retention', 'ltv'])('%s', (name) => {
  it.each([
    'cohort=day',
    'cohort=week&group_by=creative',
    'cohort=all&group_by=campaign',
    'cohort=all&group_by=adset',
    'cohort=week&group_by=app_version',
  ])('by %s, cut', async (query) => {
    const whole = await report(name, `${query}&days=0,3`);
    const limit = 2;
    const cut = await report(name, `${query}&days=0,3&limit=${limit}`);
    expect(whole.data.length).toBeGreaterThan(limit);
    expect(cut.total_rows).toBe(whole.data.length);
    const [kept, other] = [cut.data.slice(0, -1), cut.data.at(-1)];
    expect(kept).toHaveLength(limit);
    const texts = new Set(kept.map((row) => JSON.stringify(row)));
    expect(whole.data.filter((row) => texts.has(JSON.stringify(row)))).toEqual(kept);
    const left = whole.data.filter((row) => !texts.has(JSON.stringify(row)));
    for (const row of left) expect(String(row.cohort_from) <= String(kept[0]?.cohort_from)).toBe(true);
    expect(other).toMatchObject({ is_other: true, size: add(left, 'size') });
    for (const [day, figures] of Object.entries(other?.days ?? {}) as [string, Row][]) {
      const days = left.map((row) => (row.days as Record<string, Row>)[day] as Row);
      const eligible = add(days, 'eligible');
      expect(figures.eligible).toBe(eligible);
      if (name === 'retention') {
        expect(figures.active).toBe(add(days, 'active'));
        expectEqual(figures.classic, ratio(add(days, 'active'), eligible), 'classic');
        const later = days.reduce((sum, row) => sum + Number(row.rolling) * Number(row.eligible), 0);
        expectEqual(figures.rolling, ratio(later, eligible), 'rolling');
      } else {
        expectEqual(figures.revenue, add(days, 'revenue'), 'revenue');
        expectEqual(figures.ltv, ratio(add(days, 'revenue'), eligible), 'ltv');
      }
    }
  });
});

it.each(['retention', 'ltv'])('%s has no row for activity without devices, nor of the rest', async (name) => {
  const other = await createTenant();
  const of = { creative_id: '', acquired_day: '2026-03-27' };
  // The acquisition of these devices was not counted yet.
  await addFigures(env.DB, other.application.id, 'cohort_activity', [
    { ...of, age: 0, active_devices: 0, last_active_devices: -1 },
    { ...of, age: 1, active_devices: 2, last_active_devices: 2 },
  ]);
  expect((await report(name, 'cohort=day&limit=1', other)).data).toEqual([]);
  expect((await report(name, 'cohort=day&group_by=creative', other)).data).toEqual([]);
  await addFigures(env.DB, other.application.id, 'cohort_activity', [
    { ...of, acquired_day: '2026-03-28', age: 0, active_devices: 3, last_active_devices: 3 },
  ]);
  const { data, total_rows } = await report(name, 'cohort=day&limit=1', other);
  expect([data.map(({ cohort_from, size }) => [cohort_from, size]), total_rows]).toEqual([
    [['2026-03-28', 3]],
    1,
  ]);
});

it('has a row of the rest for ad requests alone', async () => {
  const other = await createTenant();
  const token = await fetchToken(worker, other, { created_at: '2026-03-27T08:00:00Z' });
  const at = { created_at: '2026-03-27 09:00:00' };
  const params = { id: 'main', key: 'banner', value: '4' };
  const events = [envelope.ad(token, at), envelope.custom(token, at, { event_name: 'ad_request', params })];
  await worker.post(other, '/webhook/batch', { events });
  await worker.deliver(worker.queue.take());
  for (const grouping of ['', '&group_by=os']) {
    const { data } = await report('ads', `limit=1${grouping}`, other);
    expect(data.map((row) => [row.media_source, row.impressions, row.ad_requests, row.is_other])).toEqual([
      ['admob', 1, null, undefined],
      ['other', 0, 4, true],
    ]);
  }
});

it.each(['performance', 'ads', 'retention', 'ltv'])(
  '%s marks the row of the rest in CSV too',
  async (name) => {
    const grouping = name === 'ads' ? '' : '&group_by=creative';
    const path = `/v1/reports/${name}?application_id=${tenant.application.id}&${PERIOD}${grouping}&limit=2&format=csv`;
    const answer = await worker.team(tenant, path);
    const { data } = Papa.parse<Record<string, string>>(await answer.text(), {
      header: true,
      skipEmptyLines: true,
    });
    expect(Number(answer.headers.get('X-Total-Rows'))).toBeGreaterThan(2);
    const first = data.findIndex((row) => row.is_other === 'true');
    expect(first).toBeGreaterThan(0);
    expect(data.map((row) => row.is_other)).toEqual(data.map((_, index) => (index < first ? '' : 'true')));
  },
);

it.each(['limit=0', 'limit=1001', 'limit=x', 'limit=1.5'])('refuses %s', async (query) => {
  for (const name of ['performance', 'ads', 'retention', 'ltv']) {
    const path = `/v1/reports/${name}?application_id=${tenant.application.id}&${PERIOD}&${query}`;
    const answer = await worker.team(tenant, path);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      message: expect.stringContaining('limit must be a whole number from 1 to 1000'),
    });
  }
});
