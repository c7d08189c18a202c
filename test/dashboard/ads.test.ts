import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { addFigures } from '../helpers/figures.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const PERIOD = 'from=2026-03-08&to=2026-03-14';
let tenant: Tenant;
let browser: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  const rows = [
    ['2026-03-09', 'banner', 'admob', 100, 4],
    ['2026-03-09', 'rewarded', 'applovin', 50, 9],
    ['2026-03-02', 'banner', 'admob', 100, 1],
  ] as const;
  const { id } = tenant.application;
  await addFigures(env.DB, id, 'rollup_daily', [
    { day: '2026-03-09', creative_id: '', currency: 'usd', impressions: 150, ad_revenue: 13_000_000_000 },
  ]);
  const networks = rows.map(([day, source, media_source, impressions, dollars]) => ({
    ...{ day, source, media_source, placement: 'main', creative_id: '', currency: 'usd' },
    impressions,
    ad_revenue: dollars * 1_000_000_000,
  }));
  await addFigures(env.DB, id, 'rollup_ads', networks);
});

const ads = async (query: string) =>
  pageOf(await browser.get(`/ads?app=${tenant.application.id}&${PERIOD}&${query}`));

it('shows the networks with their earlier revenue, the highest first', async () => {
  expect((await ads('')).cells('Ad figures by ad network', 'Ad network', 'Ad revenue')).toEqual([
    ['AppLovin', '$9.00 ▲ $9.00 more than $0.00'],
    ['AdMob', '$4.00 ▲ 300% more than $1.00'],
  ]);
});

it.each([
  [
    'source',
    'Ad format',
    [
      ['Rewarded', '$9.00 ▲ $9.00 more than $0.00'],
      ['Banner', '$4.00 ▲ 300% more than $1.00'],
    ],
  ],
  ['placement', 'Placement', [['main', '$13.00 ▲ 13× more than $1.00']]],
  ['creative', 'Creative', [['Organic', '$13.00 ▲ $13.00 more than $0.00']]],
  ['campaign', 'Campaign', [['Organic', '$13.00 ▲ $13.00 more than $0.00']]],
])('groups by %s', async (by, label, rows) => {
  const shown = await ads(`by=${by}`);
  expect(shown.cards[0]).toBe(`Ad revenue by ${label.toLowerCase()}`);
  expect(shown.cells(`Ad figures by ${label.toLowerCase()}`, label, 'Ad revenue')).toEqual(rows);
});

it('shows the days, formats and networks of each country, finds them by name, and has the same rows as CSV', async () => {
  const owner = await createTenant();
  const person = await signedIn(worker, owner.team, 'viewer');
  for (const [country, media_source, value] of [
    ['de', 'fyber', 9],
    ['fr', 'admob', 2],
  ] as const) {
    const created_at = '2026-03-09T10:00:00Z';
    const token = await fetchToken(worker, owner, { created_at, data: { country } });
    const ad = envelope.ad(token, { created_at }, { source: 'banner', media_source, value, currency: 'usd' });
    expect((await worker.post(owner, '/webhook', ad)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  const of = `/ads?app=${owner.application.id}&${PERIOD}&by=country`;
  const rows = async (query: string) => {
    const page = await pageOf(await person.get(of + query));
    expect(page.cards.at(-1)).toBe('By day, format, country and network');
    const { headings, rows: shown } = page.table('Ad figures by day, format, country and network');
    expect(headings).toEqual([
      'Day',
      'Ad format',
      'Country',
      'Network',
      'Ad revenue',
      'Impressions',
      'eCPM',
      'Ad requests',
      'Fill rate',
    ]);
    return { shown, summary: page.texts('summary').at(-1) };
  };
  const germany = ['Mon 9 Mar', 'Banner', 'Germany', 'DT Exchange', '$9.00', '1', '$9,000.00', '–', '–'];
  const france = ['Mon 9 Mar', 'Banner', 'France', 'AdMob', '$2.00', '1', '$2,000.00', '–', '–'];
  const rest = [...Array(4).fill('Everything else'), '$2.00', '1', '$2,000.00', '0', '–'];
  expect(await rows('')).toEqual({ shown: [germany, france], summary: 'Show 2 rows' });
  for (const q of ['DT%20Exchange', 'FYBER', 'germany']) {
    expect(await rows(`&q=${q}`)).toEqual({ shown: [germany, rest], summary: 'Show 1 row' });
  }
  const csv = await person.get(`${of}&format=csv`);
  expect((await csv.text()).trim().split('\r\n')).toEqual([
    'day,source,country,media_source,impressions,ad_revenue,ecpm,ad_requests,fill_rate,unconverted',
    '2026-03-09,banner,DE,fyber,1,9,9000,,,',
    '2026-03-09,banner,FR,admob,1,2,2000,,,',
  ]);
});

it('draws the chosen metric of each group', async () => {
  const page = await ads('by=source&metric=ecpm');
  expect(page.cards[0]).toBe('eCPM by ad format');
  const shown = page.chart.series.map(({ name, texts }) => [name, texts[1]]);
  expect(shown).toEqual([
    ['Rewarded', '$180.00'],
    ['Banner', '$40.00'],
  ]);
});
