import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
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
      purchase_revenue: dollars * 1_000_000,
    })),
    { day: '2026-03-08', creative_id: '', currency: '', clicks: 1 },
  ]);
});

async function breakdown(query: string) {
  const html = await (await browser.get(`/breakdown?app=${tenant.application.id}&${PERIOD}&${query}`)).text();
  return { html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
}

it('shows what each group had before, and sorts by the change', async () => {
  const { text } = await breakdown('by=campaign&sort=-change');
  expect(text).toMatch(
    /Summer \$25.00 \$10.00 \+ ?\$15.00 \(150%\) .* Winter \$5.00 \$20.00 − ?\$15.00 \(75%\)/,
  );
  const up = (await breakdown('by=campaign&sort=change')).text;
  expect(up.lastIndexOf('Winter $5.00')).toBeLessThan(up.lastIndexOf('Summer $25.00'));
});

it('compares each day with the day in its place, and weeks with none', async () => {
  expect((await breakdown('by=day')).text).toMatch(/2026-03-09 \$25.00 \$10.00 \+/);
  expect((await breakdown('by=week')).text).not.toContain('Change ');
});

it('has no column of before without a comparison', async () => {
  expect((await breakdown('by=campaign&compare=none')).text).not.toContain('Before');
});

it('leads from a campaign to its ad sets, and from a day to its campaigns', async () => {
  const { html } = await breakdown('by=campaign');
  const href = /<a class="group" href="([^"]*)"[^>]*>Summer</.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const query = new URLSearchParams(href.split('?')[1]);
  expect(query.get('by')).toBe('adset');
  expect(query.get('campaign_id')).toMatch(/^cmp_/);
  expect(query.get('from')).toBe('2026-03-08');
  const day = /<a class="group" href="([^"]*)"[^>]*>2026-03-09</.exec((await breakdown('by=day')).html)?.[1];
  expect(day).toContain('period=custom&amp;from=2026-03-09&amp;to=2026-03-09&amp;by=campaign');
});

it.each([
  ['week', '2026-W10', '2026-03-08', '2026-03-08'],
  ['week', '2026-W11', '2026-03-09', '2026-03-14'],
  ['month', '2026-03', '2026-03-08', '2026-03-14'],
])('leads from the %s %s to its days within the period', async (by, name, from, to) => {
  const { html } = await breakdown(`by=${by}`);
  expect(html).toMatch(new RegExp(`period=custom&amp;from=${from}&amp;to=${to}[^"]*"[^>]*>${name}<`));
});

it('draws bars of groups, and a curve for each group over time', async () => {
  expect((await breakdown('by=campaign')).text).toMatch(
    /Summer \$25.00 from \$10.00 Winter \$5.00 from \$20.00/,
  );
  const { html } = await breakdown('by=day&and=creative');
  const legend = [...html.matchAll(/class="legend-name"[^>]*>([^<]+)<\/span>/g)].map(([, name]) => name);
  expect(legend.slice(0, 2)).toEqual(['Dragon', 'Castle']);
});

it('charts another metric, and keeps it when the table is sorted', async () => {
  const { html, text } = await breakdown('by=campaign&metric=purchases');
  expect(text).toContain('Purchases by campaign');
  expect(html).toContain('metric=purchases&amp;sort=-change');
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
