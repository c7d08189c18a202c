import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { LineChart } from '../../src/dashboard/chart.tsx';
import { unreadyReason } from '../../src/dashboard/compared.tsx';
import { findMovers } from '../../src/dashboard/movers.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
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
    { day, creative_id: creativeId, currency: 'usd', purchases, purchase_revenue: purchases * 1_000_000 },
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
    `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at) VALUES (?1, ?2, 'Summer', 'usd', 5000000, 0)`,
  )
    .bind(tenant.application.id, addDays(TODAY, -2))
    .run();
});

afterAll(() => {
  vi.useRealTimers();
});

async function overview(query: string) {
  const html = await (await browser.get(`/?app=${tenant.application.id}&${query}`)).text();
  return { html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
}

it('shows the whole period, and changes of the days that are over only', async () => {
  const { text } = await overview('period=7d');
  expect(text).toContain('Revenue $92.00 ▲ 50% more from $60.00');
  expect(text).toMatch(/ compared with .*; today is left out until it is over/);
});

it('computes no change for today, and says what there was before', async () => {
  const { text } = await overview('period=today');
  expect(text).toContain('Revenue $2.00 $15.00 before; today is not over');
});

it('compares with the year before, or with nothing, as asked', async () => {
  expect((await overview('period=7d&compare=year')).text).toContain('Revenue $92.00 $0.00 before');
  const none = await overview('period=7d&compare=none');
  expect(none.text).not.toContain('before');
  expect(none.text).not.toContain('What changed revenue most');
});

it('names what changed revenue most, and leads to it', async () => {
  const { html, text } = await overview('period=7d');
  expect(text).toMatch(/What changed revenue most Creative Dragon \+\$30.00 ▲ 50% more/);
  expect(html).toContain(`href="/?app=${tenant.application.id}&amp;period=7d&amp;creative_id=${creative}"`);
});

it('lists the top campaigns with what they brought before', async () => {
  const { text } = await overview('period=7d');
  expect(text).toMatch(/Top campaigns .* Summer \$5.00 0 – \$92.00 .* \$60.00/);
});

it('marks the first spend and a new creative in the charts', async () => {
  const { html, text } = await overview('period=7d');
  expect(text).toContain('first spend.');
  expect(text).toContain('new creative Dragon.');
  expect(html).toContain('class="marker"');
  expect((await overview(`from=${addDays(TODAY, -13)}&to=${addDays(TODAY, -7)}`)).html).not.toContain(
    'class="marker"',
  );
});

it('shows the alerts that are firing, above the figures', async () => {
  expect((await overview('period=7d')).text).not.toContain('All alerts');
  await env.DB.prepare(
    `INSERT INTO alerts (id, application_id, kind, threshold, firing_since, next_check_at, created_at)
     VALUES ('alr_1', ?1, 'cpi_above', 2, ?2, 0, 0)`,
  )
    .bind(tenant.application.id, Date.now() - 3_600_000)
    .run();
  const { text } = await overview('period=7d');
  expect(text).toMatch(/\(since 1 hour ago\) All alerts .*This period/);
  await env.DB.prepare('DELETE FROM alerts').run();
});

it('is fetched again every minute by its script', async () => {
  expect((await overview('period=7d')).html).toContain('id="overview" data-live="60"');
});

it.each([
  ['roas', '2026-03-10', 'still growing'],
  ['roas', '2026-02-01', null],
  ['revenue', '2026-03-10', null],
])('says of %s up to %s whether it can be compared: %s', (name, to, reason) => {
  const days = { from: '2026-01-01', to };
  expect(unreadyReason(name, { to, today: '2026-03-15' }, { complete: days, before: days })).toBe(reason);
});

it('leaves out of the movers what may only have been cut off', () => {
  const row = (source: string, revenue: number, more = {}) => ({ source, revenue, installs: 1, ...more });
  const cut = row('other', 9, { is_other: true });
  const asked = { metric: 'revenue', also: 'installs' } as const;
  const names = (now: ReturnType<typeof row>[], before: ReturnType<typeof row>[]) =>
    findMovers('source', now, before, asked).map((mover) => [mover.row.source, mover.before, mover.now]);
  expect(names([row('a', 5), row('b', 1), row('c', 3)], [row('a', 1), row('c', 3)])).toEqual([
    ['a', 1, 5],
    ['b', 0, 1],
  ]);
  expect(names([row('a', 5), row('b', 1)], [row('a', 1), cut])).toEqual([['a', 1, 5]]);
  expect(names([row('a', 1), cut], [row('a', 2), row('b', 5)])).toEqual([['a', 2, 1]]);
});

it('draws what is not complete as a line of its own, and each series at its own height when others are hidden', () => {
  const chart = String(
    LineChart({
      title: 'Test',
      labels: ['a', 'b', 'c'],
      format: String,
      partial: [2],
      level: { value: 1, text: 'payback' },
      series: [
        { name: 'Large', values: [100, 80, 40] },
        { name: 'Small', values: [1, null, 3] },
      ],
    }),
  );
  expect(chart).toContain('points="0.00,0.00 50.00,20.00" class=""');
  expect(chart).toContain('points="50.00,20.00 100.00,60.00" class="partial"');
  expect(chart).toContain('Dotted: not complete yet. Horizontal line: payback.');
  const data = JSON.parse(/data-chart="([^"]*)"/.exec(chart)?.[1]?.replaceAll('&quot;', '"') ?? '');
  expect(data.labels).toEqual(['a', 'b', 'c, not complete']);
  expect(data.series.map(({ top, ticks }: { top: number; ticks: string[] }) => [top, ticks[0]])).toEqual([
    [100, '100'],
    [4, '4'],
  ]);
});
