import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const PERIOD = 'from=2026-03-08&to=2026-03-14';
let tenant: Tenant;
let browser: Browser;
const ids: Record<string, string> = {};

beforeAll(async () => {
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  for (const [name, campaign] of [
    ['Dragon', 'Summer'],
    ['Castle', 'Winter'],
  ] as const) {
    ids[name] = (await createCreative(worker, tenant, { creative: name, campaign, adset: 'All' })).id;
  }
  const rows = [
    ['2026-03-02', 'Dragon', 10],
    ['2026-03-09', 'Dragon', 25],
    ['2026-03-03', 'Castle', 20],
    ['2026-03-10', 'Castle', 5],
  ] as const;
  await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    ...rows.map(([day, name, dollars]) => ({
      ...{ day, creative_id: ids[name] ?? '', currency: 'usd' },
      purchases: 1,
      purchase_revenue: dollars * 1_000_000_000,
    })),
    { day: '2026-03-08', creative_id: '', currency: '', clicks: 1 },
  ]);
});

const breakdown = async (query: string) =>
  pageOf(await browser.get(`/breakdown?app=${tenant.application.id}&${PERIOD}&${query}`));

it('shows the earlier figure of each group, and sorts by the change', async () => {
  const down = await breakdown('by=campaign&sort=-change');
  expect(down.cells('Figures by campaign', 'Campaign', 'Revenue')).toEqual([
    ['Summer', '$25.00 ▲ 150% more than $10.00'],
    ['Organic', '$0.00'],
    ['Winter', '$5.00 ▼ 75.0% less than $20.00'],
  ]);
  const up = await breakdown('by=campaign&sort=change');
  expect(up.cells('Figures by campaign', 'Campaign')).toEqual([['Winter'], ['Organic'], ['Summer']]);
  expect(up.all('th[aria-sort]').map((head) => head.getAttribute('aria-sort'))).toEqual(['ascending']);
});

it('compares each day with the day at the same position, and does not compare weeks', async () => {
  const days = await breakdown('by=day');
  expect(days.cells('Figures by day', 'Day', 'Revenue')).toEqual([
    ['Sun 8 Mar', '$0.00'],
    ['Mon 9 Mar', '$25.00 ▲ 150% more than $10.00'],
    ['Tue 10 Mar', '$5.00 ▼ 75.0% less than $20.00'],
  ]);
  expect((await breakdown('by=week')).table('Figures by week').headings.slice(0, 4)).toEqual([
    'Week',
    'Revenue',
    'Installs',
    'DAU',
  ]);
  expect((await breakdown('by=week&set=all')).table('Figures by week').headings).toContain('Clicks');
});

it('has no changes without a comparison', async () => {
  const shown = await breakdown('by=campaign&compare=none');
  const { headings } = shown.table('Figures by campaign');
  expect(shown.all('.changed, .also')).toEqual([]);
  expect(headings.slice(0, 4)).toEqual(['Campaign', 'Revenue', 'Installs', 'DAU']);
});

it('leads from a campaign to its ad sets, and from a day to its campaigns', async () => {
  const campaign = (await breakdown('by=campaign')).row('Figures by campaign', 'Summer');
  expect(campaign.query('Summer')).toEqual({
    app: tenant.application.id,
    period: 'custom',
    from: '2026-03-08',
    to: '2026-03-14',
    by: 'adset',
    campaign_id: expect.stringMatching(/^cmp_/),
  });
  const day = (await breakdown('by=day')).row('Figures by day', 'Mon 9 Mar');
  expect(day.query('Mon 9 Mar')).toEqual({
    app: tenant.application.id,
    period: 'custom',
    from: '2026-03-09',
    to: '2026-03-09',
    by: 'campaign',
  });
});

it.each([
  ['week', 'Week of 2 Mar', '2026-03-08', '2026-03-08'],
  ['week', 'Week of 9 Mar', '2026-03-09', '2026-03-14'],
  ['month', 'Mar 2026', '2026-03-08', '2026-03-14'],
])('leads from the %s %s to its days within the period', async (by, name, from, to) => {
  const row = (await breakdown(`by=${by}`)).row(`Figures by ${by}`, name);
  const app = tenant.application.id;
  expect(row.query(name)).toEqual({ app, period: 'custom', from, to, by: 'day' });
});

it('draws a bar for each group, and a curve for each group over time', async () => {
  const bars = await breakdown('by=campaign');
  expect(bars.card('Revenue by campaign').texts('li')).toEqual([
    'Summer $25.00 from $10.00',
    'Winter $5.00 from $20.00',
    'Organic $0.00 from $0.00',
  ]);
  const { series } = (await breakdown('by=day&and=creative')).chart;
  expect(series.map(({ name }) => name)).toEqual(['Dragon', 'Castle', 'Organic']);
});

it('charts another metric, and keeps it when the table is sorted', async () => {
  const shown = await breakdown('by=campaign&metric=purchases');
  expect(shown.cards).toEqual(['Purchases by campaign', 'All figures']);
  expect(shown.query('change')).toEqual({
    app: tenant.application.id,
    period: 'custom',
    from: '2026-03-08',
    to: '2026-03-14',
    by: 'campaign',
    metric: 'purchases',
    sort: '-change',
  });
});

it.each([
  ['by=source', 'Ad revenue by ad format'],
  ['by=item', 'Purchase revenue by item'],
  ['by=event_name', 'Custom events by event name'],
  ['by=app_version&metric=spend', 'Revenue by app version'],
])('charts another metric where the chosen one does not exist: %s', async (query, title) => {
  expect((await breakdown(query)).cards).toContain(title);
});

it('offers the metrics of the groupings only', async () => {
  const options = (await breakdown('by=item')).all('#field-metric option');
  expect(options.map((option) => option.getAttribute('value'))).toEqual([
    'purchases',
    'failed_purchases',
    'purchase_revenue',
  ]);
});

it('shows the first of two groupings that no event has both of, and says so', async () => {
  const { text } = await breakdown('by=item&and=event_name');
  expect(text).toContain('No event has both item and event name, so this shows figures by item only.');
  expect(text).toContain('Purchase revenue by item');
});

it('writes to CSV what the page shows, in its order', async () => {
  const csv = await (
    await browser.get(`/breakdown?app=${tenant.application.id}&${PERIOD}&by=creative&sort=-change&format=csv`)
  ).text();
  const [head = '', ...lines] = csv.trim().split(/\r?\n/);
  const columns = head.split(',');
  const rows = lines.map((line) => line.split(','));
  const column = (name: string) => rows.map((row) => row[columns.indexOf(name)]);
  expect(column('creative').slice(0, 2)).toEqual(['Dragon', '']);
  expect(column('creative').at(-1)).toBe('Castle');
  expect(column('revenue_before')).toEqual(['10', '0', '20']);
  expect(column('revenue_change')).toEqual(['15', '0', '-15']);
});

it('opens networks by who acquired the devices, as a page of its own in the navigation', async () => {
  const currentOf = async (query: string) =>
    (await breakdown(query)).texts('.side-nav [aria-current="page"]');
  const link = (await breakdown('by=day')).query('Networks');
  expect(link.by).toBe('network');
  const networks = await breakdown('by=network');
  expect([networks.texts('main h1'), networks.cards]).toEqual([
    ['Networks'],
    expect.arrayContaining(['Revenue by network']),
  ]);
  expect(await currentOf('by=network')).toEqual(['Networks']);
  expect(await currentOf('by=network&metric=spend')).toEqual(['Networks']);
  expect(await currentOf('by=country')).toEqual(['Breakdown']);
  expect(await currentOf('')).toEqual(['Breakdown']);
});
