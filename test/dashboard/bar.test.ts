import { expect, it } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { createCreative } from '../helpers/creatives.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const REPORTS = ['/breakdown', '/ads', '/retention', '/ltv', '/funnels'];

async function withPage() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { id: app } = tenant.application;
  const page = async (path: string) => {
    const answer = await browser.get(path);
    return { status: answer.status, html: (await answer.text()).replaceAll('&amp;', '&') };
  };
  return { tenant, app, page };
}

/** The links of a page, by what they say. */
const linksOf = (html: string) =>
  new Map(
    [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, href = '', text = '']) => [
      text.replaceAll(/<[^>]+>/g, '').trim(),
      href,
    ]),
  );

it.each(REPORTS)('keeps a relative period relative in the links of %s', async (path) => {
  const { app, page } = await withPage();
  const { html } = await page(`${path}?app=${app}&period=7d`);
  expect(html).toMatch(/<option value="7d" selected/);
  const ways = linksOf(html);
  for (const label of ['Overview', 'LTV and ROAS']) {
    const query = new URLSearchParams(ways.get(label)?.split('?')[1]);
    expect(Object.fromEntries(query)).toEqual({ app, period: '7d' });
  }
});

it('reads the days of a link without a period as custom dates', async () => {
  const { app, page } = await withPage();
  const { html } = await page(`/retention?app=${app}&from=2026-03-01&to=2026-03-07`);
  expect(html).toMatch(/<option value="custom" selected/);
  expect(html).toMatch(/name="from" value="2026-03-01"/);
  const turned = await page(`/retention?app=${app}&period=custom&from=2026-03-07&to=2026-03-01`);
  expect(turned.html).toMatch(/name="from" value="2026-03-01"/);
  expect(linksOf(turned.html).get('Funnels')).toContain('period=custom&from=2026-03-01&to=2026-03-07');
});

it('ignores the dates that a form sends along with a relative period', async () => {
  const { app, page } = await withPage();
  const { html } = await page(`/retention?app=${app}&period=yesterday&from=2026-03-01&to=2026-03-07`);
  const yesterday = addDays(dayIn('UTC', Date.now()), -1);
  expect(html).toContain(`name="from" value="${yesterday}"`);
});

it('begins all time with the first day that has figures', async () => {
  const { tenant, app, page } = await withPage();
  expect((await page(`/retention?app=${app}&period=all`)).html).toContain(
    `name="from" value="${dayIn('UTC', Date.now())}"`,
  );
  await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z' });
  await page(`/retention?app=${app}`);
  expect((await page(`/retention?app=${app}&period=all`)).html).toContain(`name="from" value="2026-03-02"`);
});

it('follows the currency of each application until one is chosen', async () => {
  const { app, page } = await withPage();
  expect(linksOf((await page(`/ltv?app=${app}`)).html).get('Ads')).not.toContain('currency');
  expect(linksOf((await page(`/ltv?app=${app}&currency=EUR`)).html).get('Ads')).toContain('currency=eur');
});

it('shows each filter by its name, with a link that removes it alone', async () => {
  const { tenant, app, page } = await withPage();
  const one = await createCreative(worker, tenant, { creative: 'Dragon & <Castle>', campaign: 'Summer' });
  const { html } = await page(`/ltv?app=${app}&creative_id=${one.id}&country=DE&country=fr&attribution=paid`);
  expect(html).toContain('Dragon & &lt;Castle>'.replace('>', '&gt;'));
  const chips = [...html.matchAll(/<a class="chip" href="([^"]*)" aria-label="([^"]*)"/g)];
  expect(chips.map(([, , label]) => label)).toEqual([
    'Remove the filter Creative: Dragon & &lt;Castle&gt;',
    'Remove the filter Country: Germany',
    'Remove the filter Country: France',
    'Remove the filter Paid or organic: Paid',
  ]);
  const query = new URLSearchParams(chips[1]?.[1]?.split('?')[1]);
  expect(query.getAll('country')).toEqual(['fr']);
  expect(query.get('creative_id')).toBe(one.id);
  const cleared = linksOf(html).get('Clear all');
  expect(cleared).toBe(`/ltv?app=${app}&cohort=all&show=ltv`);
});

it('drops the filters of one application when another is chosen', async () => {
  const { app, page } = await withPage();
  const { html } = await page(`/ltv?app=${app}&of=app_other&campaign_id=cmp_1&country=de`);
  expect(html).not.toContain('cmp_1');
  expect(html).toContain('Germany');
});

it('refuses a filter that no report takes, and says which', async () => {
  const { app, page } = await withPage();
  const { status, html } = await page(`/ltv?app=${app}&attribution=bought`);
  expect(status).toBe(400);
  expect(html).toContain('attribution must be paid or organic');
});

it('lists the values of a filter, searched, each with the way back', async () => {
  const { tenant, app, page } = await withPage();
  await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer' });
  const castle = await createCreative(worker, tenant, { creative: 'Castle', campaign: 'Winter', adset: 'A' });
  const back = encodeURIComponent(`/ltv?app=${app}&period=7d&country=de`);
  const list = (q: string) =>
    page(`/filters?app=${app}&period=7d&country=de&kind=creative_id&back=${back}&q=${q}`);
  const all = linksOf((await list('')).html);
  expect([...all.keys()].filter((name) => /Dragon|Castle/.test(name))).toEqual([
    'Castle Winter › A',
    expect.stringMatching(/^Dragon Summer › /),
  ]);
  const found = linksOf((await list('CASTL')).html);
  expect([...found.keys()].some((name) => name.includes('Dragon'))).toBe(false);
  expect(found.get('Castle Winter › A')).toBe(
    `/ltv?app=${app}&period=7d&country=de&creative_id=${castle.id}`,
  );
  expect((await list('nothing')).html).toContain('Nothing contains “nothing”.');
});

it('leads back only to a page of this dashboard, and knows no other filters', async () => {
  const { tenant, app, page } = await withPage();
  await createCreative(worker, tenant, { creative: 'Dragon' });
  const { html } = await page(`/filters?app=${app}&kind=creative_id&back=https%3A%2F%2Fevil.test`);
  expect(html).not.toMatch(/href="https:\/\/evil/);
  expect((await page(`/filters?app=${app}&kind=attribution&back=/`)).status).toBe(404);
  expect((await page(`/filters?app=${app}&kind=secret&back=/`)).status).toBe(404);
});

it("lists nothing of another team's application", async () => {
  const { page } = await withPage();
  const other = await createTenant();
  expect((await page(`/filters?app=${other.application.id}&kind=creative_id&back=/`)).status).toBe(404);
});
