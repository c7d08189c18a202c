import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { addFigures } from '../helpers/figures.ts';
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
    { day: '2026-03-09', creative_id: '', currency: 'usd', impressions: 150, ad_revenue: 13_000_000 },
  ]);
  const networks = rows.map(([day, source, media_source, impressions, dollars]) => ({
    ...{ day, source, media_source, placement: 'main', creative_id: '', currency: 'usd' },
    impressions,
    ad_revenue: dollars * 1_000_000,
  }));
  await addFigures(env.DB, id, 'rollup_ads', networks);
});

async function ads(query: string) {
  const html = await (await browser.get(`/ads?app=${tenant.application.id}&${PERIOD}&${query}`)).text();
  return { html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
}

it('shows the networks with what they earned before, the highest first', async () => {
  const { text } = await ads('');
  expect(text).toMatch(/AppLovin \$9.00 \$0.00 .*AdMob \$4.00 \$1.00 \+ ?\$3.00 \(300%\)/);
});

it.each([
  ['source', 'Ad format', 'Rewarded'],
  ['placement', 'Placement', 'main'],
  ['creative', 'Creative', 'Organic'],
  ['campaign', 'Campaign', 'Organic'],
])('groups by %s', async (by, label, name) => {
  const { html, text } = await ads(`by=${by}`);
  expect(text).toContain(`Ad revenue by ${label.toLowerCase()}`);
  expect(html).toContain(`>${name}<`);
});

it('shows the days, formats and networks of each country, finds them by their names, and answers the same as CSV', async () => {
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
  const read = async (query: string) =>
    (await (await person.get(of + query)).text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  const whole = await read('');
  expect(whole).toContain('By day, format, country and network');
  expect(whole).toContain('2026-03-09 Banner Germany DT Exchange $9.00 1 $9,000.00');
  expect(whole).toContain('2026-03-09 Banner France AdMob $2.00');
  for (const q of ['DT%20Exchange', 'FYBER', 'germany']) {
    const found = await read(`&q=${q}`);
    expect(found).toContain('Show 1 rows');
    expect(found).toContain('2026-03-09 Banner Germany DT Exchange $9.00');
    expect(found).not.toContain('2026-03-09 Banner France');
  }
  const csv = await person.get(`${of}&format=csv`);
  expect((await csv.text()).trim().split('\r\n')).toEqual([
    'day,source,country,media_source,impressions,ad_revenue,ecpm,ad_requests,fill_rate',
    '2026-03-09,banner,de,fyber,1,9,9000,,',
    '2026-03-09,banner,fr,admob,1,2,2000,,',
  ]);
});

it('draws the chosen metric of each group', async () => {
  const { html, text } = await ads('by=source&metric=ecpm');
  expect(text).toContain('eCPM by ad format');
  const data = JSON.parse(/data-chart="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '');
  const shown = data.series.map(({ name, texts }: { name: string; texts: string[] }) => [name, texts[1]]);
  expect(shown).toEqual([
    ['Rewarded', '$180.00'],
    ['Banner', '$40.00'],
  ]);
});

it('says where ads come from when there are none', async () => {
  expect((await ads('period=yesterday')).text).toContain('They arrive as custom.ad events.');
});
