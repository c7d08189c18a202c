import { beforeAll, describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Costs that state less than a report groups or filters by: what is unknown is null, and what belongs to no row is one of its own.

const worker = startWorker();
let tenant: Tenant;
let creative: { id: string; adset: string };

type Row = Record<string, unknown>;

async function ask(report: string, query: string): Promise<{ data: Row[]; totals: Row }> {
  const path = `/v1/reports/${report}?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team(tenant, `${path}&${query}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}
const performance = (query: string) => ask('performance', query);

beforeAll(async () => {
  tenant = await createTenant();
  const tokens: string[] = [];
  for (const names of [
    { campaign: 'Spring', adset: 'Young', creative: 'Cat' },
    { campaign: 'Spring', adset: 'Old', creative: 'Dog' },
    { campaign: 'Autumn', adset: 'All', creative: 'Cow' },
  ]) {
    const made = await createCreative(worker, tenant, names);
    tokens.push(made.token);
    creative ??= { id: made.id, adset: '' };
  }
  const devices = [
    { day: 2, country: 'DE', creative_token: tokens[0] },
    { day: 2, country: 'US', creative_token: tokens[1] },
    { day: 3, country: 'DE', creative_token: tokens[2] },
    { day: 3, country: 'DE' },
  ];
  for (const { day, ...data } of devices) {
    const created_at = `2026-03-0${day} 10:00:00`;
    const device = { ...data, device_id: crypto.randomUUID() };
    const token = await fetchToken(worker, tenant, { created_at, data: device });
    const event = envelope.purchase(token, { created_at }, { value: 10, currency: 'usd' });
    await worker.post(tenant, '/webhook', event);
  }
  await worker.deliver(worker.queue.take());
  const [spring, autumn] = [{ campaign: 'Spring' }, { campaign: 'Autumn' }];
  await putCosts(worker, tenant, [
    { ...spring, date: '2026-03-02', amount: 3, impressions: 100 },
    { ...spring, adset: 'Young', creative: 'Cat', date: '2026-03-02', amount: 2, country: 'DE' },
    {
      ...autumn,
      adset: 'All',
      creative: 'Cow',
      date: '2026-03-03',
      amount: 4,
      country: 'DE',
      impressions: 50,
    },
  ]);
});

const figuresOf =
  (...names: string[]) =>
  (row: Row) =>
    names.map((name) => row[name] ?? null);

describe('in a row', () => {
  it('shows what is known of the spend, and nothing that is computed from it', async () => {
    const { data, totals } = await performance('group_by=country');
    const names = ['country', 'spend', 'profit', 'cpi', 'roas', 'ad_impressions_bought', 'ctr', 'unstated'];
    expect(data.map(figuresOf(...names))).toEqual([
      ['DE', 6, null, null, null, 50, null, ['country']],
      ['US', null, null, null, null, null, null, ['country']],
      ['unallocated', 3, 31, null, null, 100, null, null],
    ]);
    expect(figuresOf('spend', 'profit', 'ad_impressions_bought')(totals)).toEqual([9, 31, 150]);
    expect(data.map(({ is_unallocated }) => is_unallocated)).toEqual([undefined, undefined, true]);
  });

  it.each([
    [
      'day,country',
      [
        ['2026-03-02', 'DE', null],
        ['2026-03-02', 'US', null],
        ['2026-03-03', 'DE', 16],
      ],
      15,
    ],
    [
      'creative',
      [
        ['Cat', null],
        ['Cow', 6],
        ['Dog', null],
        [null, 10],
      ],
      15,
    ],
    [
      'adset',
      [
        ['All', 6],
        ['Old', null],
        ['Young', null],
        [null, 10],
      ],
      15,
    ],
    [
      'campaign',
      [
        ['Autumn', 6],
        ['Spring', 15],
        [null, 10],
      ],
      null,
    ],
    [
      'campaign,country',
      [
        ['Autumn', 'DE', 6],
        ['Spring', 'DE', null],
        ['Spring', 'US', null],
        [null, 'DE', 10],
      ],
      15,
    ],
    [
      'creative,day',
      [
        ['Cat', '2026-03-02', null],
        ['Cow', '2026-03-03', 6],
        ['Dog', '2026-03-02', null],
        [null, '2026-03-03', 10],
      ],
      15,
    ],
  ])('is known where no other costs may belong: by %s', async (groups, expected, unallocated) => {
    const { data, totals } = await performance(`group_by=${groups}`);
    const shown = data.map(figuresOf(...groups.split(','), 'profit'));
    const sorted = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();
    const last = unallocated === null ? [] : [[...groups.split(',').map(() => 'unallocated'), unallocated]];
    expect(sorted(shown)).toEqual(sorted([...expected, ...last]));
    expect(totals.profit).toBe(31);
  });

  it('is unknown in the row that sums up all others', async () => {
    const { data } = await performance('group_by=country&limit=1');
    expect(data.map(figuresOf('country', 'profit'))).toEqual([
      ['DE', null],
      ['other', null],
      ['unallocated', 31],
    ]);
  });
});

describe('with a filter', () => {
  it.each([
    ['country=de', [6, null, null, ['country']]],
    ['country=us', [null, null, null, ['country']]],
    ['country=us&country=unknown', [3, 7, 3, null]],
    ['campaign_id=Autumn', [4, 6, 4, null]],
    ['attribution=organic', [0, 10, null, null]],
  ])('%s, says what the totals do not know', async (filter, expected) => {
    const named = filter.startsWith('campaign_id') ? await campaignFilter('Autumn') : filter;
    const { totals } = await performance(`group_by=month&${named}`);
    expect(figuresOf('spend', 'profit', 'cpi', 'unstated')(totals)).toEqual(expected);
  });

  it('by creative, knows that costs of its campaign may be of it', async () => {
    const { totals, data } = await performance(`group_by=day&creative_id=${creative.id}`);
    expect(figuresOf('spend', 'profit', 'unstated')(totals)).toEqual([2, null, ['creative']]);
    expect(data.map(figuresOf('day', 'profit'))).toEqual([['2026-03-02', null]]);
  });

  async function campaignFilter(name: string) {
    const { data } = await performance('group_by=campaign');
    return `campaign_id=${data.find(({ campaign }) => campaign === name)?.campaign_id}`;
  }
});

describe('of cohorts', () => {
  it('leaves the return on spend open where some of it may be missing', async () => {
    const { data } = await performance('group_by=country&metrics=roas_d7,ltv_d7');
    expect(data.map(figuresOf('country', 'roas_d7', 'ltv_d7'))).toEqual([
      ['DE', null, 10],
      ['US', null, 10],
    ]);
    const ltv = await ask('ltv', 'group_by=country&days=7');
    const row = (of: Row) => [of.country, of.payback_day, (of.days as Record<string, Row>)['7']?.roas];
    expect(ltv.data.map(row)).toEqual([
      ['DE', null, null],
      ['US', null, null],
    ]);
    expect(ltv.data.map(({ unstated }) => unstated)).toEqual([['country'], ['country']]);
    const whole = await ask('ltv', 'days=7');
    expect(whole.data.map((of) => [of.payback_day, of.unstated])).toEqual([[0, undefined]]);
  });
});
