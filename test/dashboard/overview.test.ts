import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { LineChart } from '../../src/dashboard/charts/chart.tsx';
import { isGrowing } from '../../src/dashboard/tables/compared.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const TODAY = '2026-03-15';
let tenant: Tenant;
let browser: Browser;
let creative: string;

/** What a creative's devices brought on a day: purchases of one dollar each. */
const bring = (day: string, creativeId: string, purchases: number) =>
  addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    { day, creative_id: creativeId, currency: 'usd', purchases, purchase_revenue: purchases * 1_000_000_000 },
  ]);

beforeAll(async () => {
  // No full hour of today is over, so no part of it is compared: see hours.test.ts.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(TODAY) + 30 * 60_000 });
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  ({ id: creative } = await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer' }));
  // Six days at 10 before, six at 15 and one of today at 2; today's counterpart of the earlier week must not count.
  for (let age = 1; age <= 6; age++) await bring(addDays(TODAY, -age), creative, 15);
  for (let age = 8; age <= 13; age++) await bring(addDays(TODAY, -age), creative, 10);
  await bring(addDays(TODAY, -7), creative, 400);
  await bring(TODAY, creative, 2);
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at) VALUES (?1, ?2, 'Summer', 'usd', 5000000000, 0)`,
  )
    .bind(tenant.application.id, addDays(TODAY, -2))
    .run();
});

afterAll(() => {
  vi.useRealTimers();
});

/** With today, which is asked for. */
const WEEK = `from=${addDays(TODAY, -6)}&to=${TODAY}`;
const overview = async (query: string) =>
  pageOf(await browser.get(`/?app=${tenant.application.id}&${query}`));

it('shows and compares the days that are over, and says what there is with today', async () => {
  const card = (await overview(WEEK)).card('This period');
  expect(card.texts('.card-head .muted')).toEqual([
    '9 Mar – 14 Mar compared with 2 Mar – 7 Mar; today is left out until it is over',
  ]);
  expect(card.figures).toEqual({
    Revenue: '$92.00 so far ▲ 50.0% more $60.00 before $90.00 without today',
    Installs: '0 so far 0 before 0 without today',
    DAU: '0 so far 0 before 0 without today',
    ARPDAU: '– so far – without today',
    Spend: '$5.00 so far ▲ $5.00 more $0.00 before $5.00 without today',
    'ROAS day 7': '– so far – without today',
    Profit: '$87.00 so far ▲ 41.7% more $60.00 before $85.00 without today',
  });
});

it('compares nothing today while no hour of it is over', async () => {
  const { figures } = (await overview('period=today')).card('This period');
  expect(figures.Revenue).toBe('$2.00 so far');
});

it('compares with the year before, or with nothing, as asked', async () => {
  const year = await overview(`${WEEK}&compare=year`);
  expect(year.figures.Revenue).toBe('$92.00 so far ▲ $90.00 more $0.00 before $90.00 without today');
  const none = await overview(`${WEEK}&compare=none`);
  expect(none.figures.Revenue).toBe('$92.00 so far');
  expect(none.cards).toEqual(['This period', 'Revenue by day', 'Top campaigns', 'By day']);
});

it('names what changed revenue most, and leads to it', async () => {
  const movers = (await overview(WEEK)).card('What changed revenue most');
  expect(movers.texts('li')).toEqual([
    'Dragon creative +$30.00 0 → 0 installs',
    'Unknown country +$30.00 0 → 0 installs',
  ]);
  expect(movers.query('Dragon')).toMatchObject({
    app: tenant.application.id,
    from: addDays(TODAY, -6),
    creative_id: creative,
  });
});

it('lists the top campaigns with their revenue in the earlier period', async () => {
  expect((await overview(WEEK)).table('Campaigns with the highest revenue')).toEqual({
    headings: ['Campaign', 'Revenue', 'Spend', 'Installs', 'ROAS', 'Profit'],
    rows: [['Summer', '$92.00 ▲ 50.0% more than $60.00', '$5.00', '0', '0%', '$87.00']],
    totals: ['All, with organic', '$92.00 ▲ 50.0% more than $60.00', '$5.00', '0', '0%', '$87.00'],
  });
});

it('marks the first spend and a new creative in the charts', async () => {
  const chart = (await overview(WEEK)).card('Revenue by day');
  expect(chart.chart.notes).toEqual(['', '', '', '', 'first spend', '', 'new creative Dragon']);
  expect(chart.all('line.marker')).toHaveLength(2);
  const earlier = await overview(`from=${addDays(TODAY, -13)}&to=${addDays(TODAY, -7)}`);
  expect(earlier.card('Revenue by day').all('line.marker')).toEqual([]);
});

it('shows the alerts that are firing, above the figures', async () => {
  expect((await overview(WEEK)).notices).toEqual([]);
  await env.DB.prepare(
    `INSERT INTO alerts (id, application_id, kind, threshold, firing_since, next_check_at, created_at)
     VALUES ('alr_1', ?1, 'no_events', 2, ?2, 0, 0)`,
  )
    .bind(tenant.application.id, Date.now() - 3_600_000)
    .run();
  const { notices, text } = await overview(WEEK);
  await env.DB.prepare('DELETE FROM alerts').run();
  expect(notices).toEqual(['No events arrive for 2 hours (started 1 hour ago): see Health All alerts']);
  expect(text.indexOf('All alerts')).toBeLessThan(text.indexOf('This period'));
});

it('is reloaded every minute by its script', async () => {
  expect((await overview(WEEK)).one('#overview').getAttribute('data-live')).toBe('60');
});

it.each([
  ['roas', '2026-03-10', true],
  ['roas', '2026-02-14', true],
  ['roas', '2026-02-13', false],
  ['revenue', '2026-03-10', false],
  // Day 7 is over for the devices acquired until 7 March.
  ['roas_d7', '2026-03-14', false, '2026-03-01'],
  ['roas_d7', '2026-03-14', true, '2026-03-02'],
  ['roas_d7', '2026-03-07', false, '2026-03-07'],
  ['retention_d1', '2026-03-14', true, '2026-03-14'],
] as const)('says whether %s up to %s is still growing: %s', (name, to, is, from: string = '2026-01-01') => {
  const days = { from, to };
  expect(isGrowing(name, { now: days, before: days }, { today: '2026-03-15' })).toBe(is);
});

it('draws the incomplete part as a separate line, and scales each series to its own height when others are hidden', () => {
  const chart = String(
    LineChart({
      title: 'Test',
      labels: ['a', 'b', 'c'],
      format: { text: String, places: () => 0 },
      partial: [2],
      level: { value: 1, text: 'payback' },
      series: [
        { name: 'Large', values: [100, 80, 40] },
        { name: 'Small', values: [1, null, 3] },
      ],
    }),
  );
  const drawn = new Page(chart);
  const lines = drawn
    .all('polyline')
    .map((line) => [line.getAttribute('class'), line.getAttribute('points')]);
  expect(lines).toEqual([
    ['', '0.00,0.00 50.00,20.00'],
    ['partial', '50.00,20.00 100.00,60.00'],
    ['', '0.00,99.00 0.00,99.00'],
    ['partial', '100.00,97.00 100.00,97.00'],
  ]);
  expect(drawn.texts('p')).toEqual(['Dashed: not complete yet. Horizontal line: payback.']);
  const data = drawn.chart;
  expect(data.labels).toEqual(['a', 'b', 'c, not complete']);
  expect(data.series.map(({ top, ticks }) => [top, ticks[0]])).toEqual([
    [100, '100'],
    [4, '4'],
  ]);
});

it('shows net figures in place of gross ones, and leads back', async () => {
  const path = `/v1/applications/${tenant.application.id}`;
  const fee = (store_fee: number) => worker.team(tenant, path, { method: 'PATCH', body: { store_fee } });
  expect((await fee(0.3)).status).toBe(200);
  const gross = await overview(WEEK);
  expect(gross.card('This period').figures.Revenue).toMatch(/^\$92\.00/);
  expect(gross.query('Net')).toMatchObject({ revenue: 'net' });
  const net = await pageOf(await browser.get(gross.link('Net')));
  expect(net.card('Net revenue by day').chart.series.map(({ name }) => name)).toEqual([
    'Net revenue',
    'Net revenue, before',
  ]);
  const { figures } = net.card('This period');
  expect(figures['Net revenue']).toBe('$64.40 so far ▲ 50.0% more $42.00 before $63.00 without today');
  expect(figures).not.toHaveProperty('Revenue');
  expect(net.cells('Campaigns with the highest revenue', 'Campaign', 'Net revenue')).toEqual([
    ['Summer', expect.stringMatching(/^\$64\.40/)],
  ]);
  expect(net.query('Month')).toMatchObject({ revenue: 'net', unit: 'month' });
  expect(net.query('Gross')).not.toHaveProperty('revenue');
  await fee(0);
});
