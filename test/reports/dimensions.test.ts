import { beforeAll, describe, expect, it } from 'vitest';
import {
  COST_DIMENSIONS,
  DIMENSIONS,
  type DimensionName,
  ofDimensions,
  SEGMENT_DIMENSIONS,
} from '#catalogue';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Two devices that differ in everything. Each dimension has to answer its own values, and each filter has to know its own. The tables
// below are records over the dimensions, so a new dimension does not compile without its values.

const worker = startWorker();
let tenant: Tenant;
const ids: Record<string, string> = {};

const VALUES: Record<DimensionName, [string | null, string | null]> = {
  hour: ['2026-03-02T10:00:00+00:00', '2026-03-09T11:00:00+00:00'],
  day: ['2026-03-02', '2026-03-09'],
  week: ['2026-W10', '2026-W11'],
  month: ['2026-03', '2026-03'],
  creative: ['Cat', 'Dog'],
  adset: ['Young', 'Old'],
  campaign: ['Spring', 'Autumn'],
  country: ['DE', 'BR'],
  os: ['android', 'ios'],
  network: ['meta', 'tiktok'],
  app_version: ['1.0', '2.0'],
  sdk_version: ['7', '8.1'],
  source: ['banner', 'native'],
  media_source: ['admob', 'applovin'],
  placement: ['main', 'shop'],
  item: ['gold', 'gems'],
  event_name: ['level_1', 'level_2'],
  currency: ['usd', 'eur'],
};
const NAMES = Object.keys(VALUES) as DimensionName[];
const SEGMENTS = SEGMENT_DIMENSIONS;
const GROUPS = ['creative', 'adset', 'campaign', ...SEGMENTS] as const;
type Group = (typeof GROUPS)[number];

const DEVICES = [
  {
    data: { country: 'DE', os_system: 'Android 15', network: 'Facebook' },
    told: { app_version: '1.0', sdk_version: '7' },
    names: { creative: 'Cat', adset: 'Young', campaign: 'Spring' },
    created_at: '2026-03-02 10:30:00',
    ad: { source: 'banner', media_source: 'admob', ad_id: 'main' },
    purchase: { item_id: 'gold', currency: 'usd' },
    event_name: 'level_1',
  },
  {
    data: {
      country: 'BR',
      device_name: 'iOS',
      device_model: 'iPhone17,1',
      os_system: '18.1',
      network: 'TikTok',
    },
    told: { app_version: '2.0', sdk_version: '8.1' },
    names: { creative: 'Dog', adset: 'Old', campaign: 'Autumn' },
    created_at: '2026-03-09 11:30:00',
    ad: { source: 'native', media_source: 'applovin', ad_id: 'shop', currency: 'eur' },
    purchase: { item_id: 'gems', currency: 'eur' },
    event_name: 'level_2',
  },
];

beforeAll(async () => {
  tenant = await createTenant();
  for (const { data, told, names, created_at, ad, purchase, event_name } of DEVICES) {
    const { id, token: creative_token } = await createCreative(worker, tenant, names);
    ids[names.creative] = id;
    const token = await fetchToken(worker, tenant, {
      created_at: `${created_at.replace(' ', 'T')}Z`,
      ...told,
      data: { ...data, creative_token },
    });
    const at = { created_at };
    const events = [
      envelope.ad(token, at, ad),
      envelope.purchase(token, at, purchase),
      envelope.custom(token, at, { event_name }),
    ];
    expect(await (await worker.post(tenant, '/webhook/batch', { events })).json()).toMatchObject({
      accepted: 3,
    });
    await worker.deliver(worker.queue.take());
  }
  await putCosts(
    worker,
    tenant,
    DEVICES.map(({ names, created_at }, side) => ({
      ...names,
      date: created_at.slice(0, 10),
      ...ofDimensions(COST_DIMENSIONS, (name) => String(VALUES[name][side])),
      amount: 5 + side,
    })),
  );
  await settleAll(tenant.application.id);
  for (const group of ['adset', 'campaign'] as const) {
    for (const row of (await ask('performance', `group_by=${group}`)).data) {
      ids[String(row[group])] = String(row[`${group}_id`]);
    }
  }
});

type Row = Record<string, unknown>;
async function ask(name: string, query: string): Promise<{ data: Row[]; totals: Row; a: Row; b: Row }> {
  const answer = await worker.team(
    tenant,
    `/v1/reports/${name}?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31&${query}`,
  );
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

const valuesOf = (rows: Row[], name: string) => [...new Set(rows.map((row) => row[name]))].sort();
const expectedOf = (name: DimensionName) => [...new Set(VALUES[name])].sort();
/** By what a filter knows a value: creatives, ad sets and campaigns by their ids. */
const keyOf = (group: Group, side: 0 | 1) => {
  const value = String(VALUES[group][side]);
  return DIMENSIONS[group].kind === 'named' ? String(ids[value]) : value;
};
const filterOf = (group: Group) => (DIMENSIONS[group].kind === 'named' ? `${group}_id` : group);

describe('each dimension shows its own values', () => {
  it.each(NAMES.filter((name) => name !== 'hour'))('%s in performance', async (name) => {
    const { data } = await ask('performance', `group_by=${name}`);
    expect(valuesOf(data, name)).toEqual(expectedOf(name));
  });

  it.each(GROUPS)('%s beside a day in performance', async (name) => {
    const { data } = await ask('performance', `group_by=day,${name}`);
    expect(data.map((row) => [row.day, row[name]])).toEqual([
      ['2026-03-02', VALUES[name][0]],
      ['2026-03-09', VALUES[name][1]],
    ]);
  });

  it.each(
    GROUPS.flatMap((name) =>
      ['retention', 'ltv', 'predicted-ltv', 'ads', 'funnel'].map((report) => ({ name, report })),
    ),
  )('$name in $report', async ({ name, report }) => {
    const { data } = await ask(
      report,
      `group_by=${name}${report === 'funnel' ? '&steps=install,purchase' : ''}`,
    );
    expect(valuesOf(data, name)).toEqual(expectedOf(name));
  });

  it.each(GROUPS)('%s as the sides of a comparison', async (name) => {
    const { data, a, b } = await ask('compare', `by=${name}&a=${keyOf(name, 0)}&b=${keyOf(name, 1)}&days=1`);
    expect([a, b]).toMatchObject([
      { name: VALUES[name][0], size: 1 },
      { name: VALUES[name][1], size: 1 },
    ]);
    expect(data.find(({ metric }) => metric === 'conversion')).toMatchObject({ a_count: 1, b_count: 1 });
  });
});

it.each(COST_DIMENSIONS)('the spend of each %s, CPI and ROAS, in rows and with a filter', async (name) => {
  const { data } = await ask('performance', `group_by=${name}`);
  const filtered = [];
  for (const side of [0, 1] as const) {
    const { totals } = await ask('performance', `group_by=day&${name}=${VALUES[name][side]}`);
    filtered.push(totals);
  }
  const rows = VALUES[name].map((value) => data.find((row) => row[name] === value));
  for (const shown of [rows, filtered]) {
    expect(shown).toMatchObject([
      { spend: 5, cpi: 5, roas: expect.any(Number) },
      { spend: 6, cpi: 6 },
    ]);
  }
  expect(rows.map((row) => row?.roas)).toEqual(filtered.map((totals) => totals.roas));
});

describe('each filter knows its own values', () => {
  it.each(GROUPS.flatMap((group) => ([0, 1] as const).map((side) => ({ group, side }))))(
    '$group, side $side',
    async ({ group, side }) => {
      const filter = `${filterOf(group)}=${encodeURIComponent(keyOf(group, side))}`;
      const day = String(VALUES.day[side]);
      const { data, totals } = await ask('performance', `group_by=day&${filter}`);
      expect(data.filter(({ installs }) => installs === 1).map((row) => row.day)).toEqual([day]);
      expect(totals).toMatchObject({ installs: 1, purchases: 1, impressions: 1, events: 1 });
      for (const report of ['retention', 'ltv', 'predicted-ltv']) {
        const { data: cohorts } = await ask(report, `cohort=day&${filter}`);
        expect(
          cohorts.map(({ cohort_from, size }) => [cohort_from, size]),
          report,
        ).toEqual([[day, 1]]);
      }
      expect((await ask('ads', filter)).data.map(({ source }) => source)).toEqual([VALUES.source[side]]);
      const funnel = await ask('funnel', `steps=install,purchase&${filter}`);
      expect(funnel.data.map(({ devices }) => devices)).toEqual([1, 1]);
    },
  );
});

describe('a country', () => {
  const status = async (path: string) => {
    const answer = await worker.team(
      tenant,
      `${path}application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31&country=Germany`,
    );
    const { message }: { message?: string } = await answer.json();
    return [answer.status, message];
  };
  const fault = 'must be a two-letter ISO 3166 country code such as DE, or unknown';

  it.each([
    'performance?',
    'retention?',
    'ltv?',
    'ads?',
    'funnel?steps=install&',
    'predicted-ltv?',
    'client-totals?',
    'compare?by=os&a=android&b=ios&',
  ])('that cannot exist is refused by %s', async (report) => {
    expect(await status(`/v1/reports/${report}`)).toEqual([400, `country.0 ${fault}`]);
  });

  it('that cannot exist is refused by the list of events, and as a side of a comparison', async () => {
    expect(await status('/v1/events?')).toEqual([400, `country.0 ${fault}`]);
    const answer = await worker.team(
      tenant,
      `/v1/reports/compare?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31&by=country&a=Germany&b=br`,
    );
    expect(await answer.json()).toEqual({ message: `a ${fault}` });
  });

  it.each(['DE', 'de', 'De'])('may be %s in a filter', async (country) => {
    expect((await ask('performance', `country=${country}`)).totals).toMatchObject({ installs: 1 });
    expect((await ask('performance', `country=${country}&country=unknown`)).totals.installs).toBe(1);
  });

  it('is in upper case in events, and in any case in their filter', async () => {
    for (const country of ['DE', 'de']) {
      const answer = await worker.team(
        tenant,
        `/v1/events?application_id=${tenant.application.id}&country=${country}`,
      );
      const { data }: { data: Row[] } = await answer.json();
      expect(data.length).toBe(4);
      expect(valuesOf(data, 'country')).toEqual(['DE']);
    }
  });
});

it.each([
  { group: 'creative', row: { campaign: 'Spring', adset: 'Young', creative: 'Cow' } },
  { group: 'adset', row: { campaign: 'Spring', adset: 'Cow' } },
  { group: 'campaign', row: { campaign: 'Cow' } },
])(
  'spend whose $group matches nothing has a row of its own, with nothing but spend',
  async ({ group, row }) => {
    const other = await createTenant();
    // An organic payer, whose group has no name either.
    const token = await fetchToken(worker, other, { created_at: '2026-03-02T09:00:00Z' });
    await worker.post(other, '/webhook', envelope.purchase(token));
    await worker.deliver(worker.queue.take());
    await putCosts(worker, other, [{ ...row, date: '2026-03-02', amount: 5 }]);
    await settleAll(other.application.id);
    const answer = await worker.team(
      other,
      `/v1/reports/performance?application_id=${other.application.id}&from=2026-03-01&to=2026-03-31&group_by=${group}`,
    );
    const { data }: { data: Row[] } = await answer.json();
    expect(data.find((own) => own[group] === 'Cow')).toMatchObject({
      ...{ spend: 5, payers: 0, installs: 0, purchases: 0, purchase_revenue: 0, arppu: null, cpi: null },
    });
    expect(data.find((own) => own[group] === null)).toMatchObject({ spend: 0, payers: 1, purchases: 1 });
  },
);
