import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { type Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// A page shows at most 190 rows of a table, says how many there are, and finds the others on the server.

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
    ad_revenue: (index + 1) * 1_000_000_000,
  }));
  await addFigures(env.DB, application, 'rollup_ads', placements);
  const ofPlacements = placements.reduce((sum, { ad_revenue }) => sum + ad_revenue, 0);
  await addFigures(env.DB, application, 'rollup_daily', [
    { ...day, creative_id: id, impressions: 3, ad_revenue: 3_000_000_000 },
    { ...day, impressions: PLACEMENTS - 3, ad_revenue: ofPlacements - 3_000_000_000 },
  ]);
});

async function page(path: string, query: string) {
  const answer = await browser.get(`${path}?app=${tenant.application.id}&${PERIOD}&${query}`);
  expect(answer.status).toBe(200);
  return pageOf(answer);
}

const NO_COSTS =
  'Costs are uploaded by campaign, ad set and creative, and may tell countries, operating systems and networks apart, so spend, CPI and ROAS are known by these only.';

const names = (shown: Page) => shown.table('Figures by placement').rows.map(([name]) => name);

it('shows in a breakdown the 190 largest groups and one row for the others', async () => {
  const shown = await page('/breakdown', 'by=placement&sort=-ad_revenue');
  expect(names(shown)).toEqual([
    ...Array.from({ length: 190 }, (_, index) => `place_${PLACEMENTS - index}`),
    'Everything else',
  ]);
  expect(shown.texts('.hint')).toEqual([
    'The first 190 of 450 rows: the latest, then those with the highest revenue. The last row sums up everything else.',
    NO_COSTS,
  ]);
});

it('keeps the row for the others last, however the table is sorted', async () => {
  const shown = await page('/breakdown', 'by=placement&sort=placement');
  expect(names(shown)).toHaveLength(191);
  expect(names(shown).at(-1)).toBe('Everything else');
});

it('finds in a breakdown what the page does not show', async () => {
  const shown = await page('/breakdown', 'by=placement&sort=-ad_revenue&q=PLACE_17');
  expect(names(shown)).toEqual([
    ...['place_179', 'place_178', 'place_177', 'place_176', 'place_175', 'place_174', 'place_173'],
    ...['place_172', 'place_171', 'place_170', 'place_17', 'Everything else'],
  ]);
  expect(shown.texts('.hint')).toEqual(['11 rows that contain “PLACE_17”.', NO_COSTS]);
  expect(shown.value('q')).toBe('PLACE_17');
});

it('shows a search for HTML as text', async () => {
  const shown = await page('/breakdown', `by=placement&q=${encodeURIComponent('"><script>x</script>')}`);
  expect(names(shown)).toEqual(['Everything else']);
  expect(shown.value('q')).toBe('"><script>x</script>');
});

it('writes all rows of the API to the file, narrowed by the same search', async () => {
  const lines = async (query: string) => {
    const path = `/breakdown?app=${tenant.application.id}&${PERIOD}&by=placement&format=csv${query}`;
    return (await (await browser.get(path)).text()).trimEnd().split('\r\n').length - 1;
  };
  expect(await lines('')).toBe(PLACEMENTS);
  expect(await lines('&q=place_17')).toBe(12);
});

it('shows 190 rows of ads by day, format and network', async () => {
  const card = async (query: string) => (await page('/ads', query)).card('By day, format and network');
  const whole = await card('');
  expect(whole.table('Ad figures by day, format and network').rows).toHaveLength(191);
  expect([whole.texts('summary'), whole.texts('.hint')]).toEqual([
    ['Show 450 rows'],
    [
      'The first 190 of 450 rows: the latest, then those with the highest revenue. The last row sums up everything else.',
    ],
  ]);
  const found = await card('q=net_17');
  expect([found.texts('summary'), found.texts('.hint')]).toEqual([
    ['Show 11 rows'],
    ['11 rows that contain “net_17”.'],
  ]);
});
