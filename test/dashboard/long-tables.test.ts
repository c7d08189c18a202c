import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// A page shows at most 200 rows of a table, says how many there are, and finds the others on the server.

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';
const PLACEMENTS = 450;
let tenant: Tenant;
let browser: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  const { id } = await createCreative(worker, tenant, {
    creative: 'Cat',
    adset: 'Young',
    campaign: 'Spring',
  });
  const { id: application } = tenant.application;
  const day = { day: '2026-03-02', creative_id: '', currency: 'usd' };
  const placements = Array.from({ length: PLACEMENTS }, (_, index) => ({
    ...day,
    ...{ source: 'banner', media_source: `net_${index + 1}`, placement: `place_${index + 1}` },
    impressions: 1,
    ad_revenue: (index + 1) * 1_000_000,
  }));
  await addFigures(env.DB, application, 'rollup_ads', placements);
  await addFigures(env.DB, application, 'rollup_daily', [
    { ...day, creative_id: id, impressions: 3, ad_revenue: 3_000_000 },
    { ...day, impressions: 5, ad_revenue: 5_000_000 },
  ]);
});

async function page(path: string, query: string) {
  const answer = await browser.get(`${path}?app=${tenant.application.id}&${PERIOD}&${query}`);
  expect(answer.status).toBe(200);
  const html = await answer.text();
  const names = [...html.matchAll(/<td class="">(?:<[^>]+>)?(place_\d+|Everything else)/g)].map(
    ([, name]) => name,
  );
  return { html, names };
}

it('the breakdown shows the 200 largest groups and one row for the others', async () => {
  const { html, names } = await page('/breakdown', 'by=placement&sort=-ad_revenue');
  expect(names).toEqual([
    ...Array.from({ length: 200 }, (_, index) => `place_${PLACEMENTS - index}`),
    'Everything else',
  ]);
  expect(html).toContain('The first 200 of 450 rows');
});

it('the row of the others stays last, whatever the table is sorted by', async () => {
  const { names } = await page('/breakdown', 'by=placement&sort=placement');
  expect(names).toHaveLength(201);
  expect(names.at(-1)).toBe('Everything else');
});

it('the search field of the breakdown finds what the page does not show', async () => {
  const { html, names } = await page('/breakdown', 'by=placement&sort=-ad_revenue&q=PLACE_17');
  expect(names).toEqual([
    ...['place_179', 'place_178', 'place_177', 'place_176', 'place_175', 'place_174', 'place_173'],
    ...['place_172', 'place_171', 'place_170', 'place_17', 'Everything else'],
  ]);
  expect(html).toContain('11 rows that contain “PLACE_17”');
  expect(html).toContain('name="q" type="search" value="PLACE_17"');
});

it('shows the search as the text that it is', async () => {
  const { html, names } = await page(
    '/breakdown',
    `by=placement&q=${encodeURIComponent('"><script>x</script>')}`,
  );
  expect(names).toEqual(['Everything else']);
  expect(html).not.toContain('<script>x');
});

it('the file has all rows that the API gives, narrowed by the same search', async () => {
  const lines = async (query: string) =>
    (await page('/breakdown', `by=placement&format=csv${query}`)).html.trimEnd().split('\r\n').length - 1;
  expect(await lines('')).toBe(PLACEMENTS);
  expect(await lines('&q=place_17')).toBe(12);
});

it('the ad page shows 200 rows by day, format and network', async () => {
  const { html } = await page('/ads', '');
  expect(html).toContain('<summary>Show 450 rows</summary>');
  expect(html).toContain('The first 200 of 450 rows');
  const found = await page('/ads', 'q=net_17');
  expect(found.html).toContain('11 rows that contain “net_17”');
});
