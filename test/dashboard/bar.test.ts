import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { type Page, pageOf, queryOf, textOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const REPORTS = ['/breakdown', '/ads', '/retention', '/ltv', '/funnels'];

async function withPage() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { id: app } = tenant.application;
  const open = async (path: string) => pageOf(await browser.get(path));
  return { tenant, app, browser, open };
}

const datesOf = (page: Page) => ['period', 'from', 'to'].map((name) => page.value(name));

it.each(REPORTS)('keeps a relative period relative in the links of %s', async (path) => {
  const { app, open } = await withPage();
  const page = await open(`${path}?app=${app}&period=7d`);
  expect(page.value('period')).toBe('7d');
  for (const label of ['Overview', 'LTV and ROAS']) {
    expect(page.query(label)).toEqual({ app, period: '7d' });
  }
});

it('reads the days of a link without a period as custom dates', async () => {
  const { app, open } = await withPage();
  const page = await open(`/retention?app=${app}&from=2026-03-01&to=2026-03-07`);
  expect(datesOf(page)).toEqual(['custom', '2026-03-01', '2026-03-07']);
  const turned = await open(`/retention?app=${app}&period=custom&from=2026-03-07&to=2026-03-01`);
  expect(datesOf(turned)).toEqual(['custom', '2026-03-01', '2026-03-07']);
  expect(turned.query('Funnels')).toEqual({ app, period: 'custom', from: '2026-03-01', to: '2026-03-07' });
});

it('ignores the dates that a form sends along with a relative period', async () => {
  const { app, open } = await withPage();
  const yesterday = addDays(dayIn('UTC', Date.now()), -1);
  expect(datesOf(await open(`/retention?app=${app}&period=yesterday&from=2026-03-01&to=2026-03-07`))).toEqual(
    ['yesterday', yesterday, yesterday],
  );
});

it('starts all time on the first day with figures', async () => {
  const { tenant, app, open } = await withPage();
  const first = async () => (await open(`/retention?app=${app}&period=all`)).value('from');
  expect(await first()).toBe(dayIn('UTC', Date.now()));
  await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z' });
  await open(`/retention?app=${app}`);
  expect(await first()).toBe('2026-03-02');
});

it('uses the currency of each application until one is chosen', async () => {
  const { app, open } = await withPage();
  expect((await open(`/ltv?app=${app}`)).query('Ad monetization')).toEqual({ app });
  expect((await open(`/ltv?app=${app}&currency=EUR`)).query('Ad monetization')).toEqual({
    app,
    currency: 'eur',
  });
});

it('offers the currencies in use first, most frequent first', async () => {
  const { app, tenant, open } = await withPage();
  const day = { day: '2026-03-02', creative_id: '' };
  await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    { ...day, currency: 'jpy', purchases: 1 },
    { ...day, currency: 'eur', purchases: 1 },
    { ...day, day: '2026-03-03', currency: 'eur', purchases: 1 },
    { ...day, day: '2025-03-03', currency: 'chf', purchases: 1 },
  ]);
  const bar = await open(`/ltv?app=${app}&from=2026-03-01&to=2026-03-07`);
  expect(bar.texts('#bar-currency optgroup[label="In use"] option')).toEqual(['USD', 'EUR', 'JPY']);
  expect(bar.texts('#bar-currency optgroup[label="All currencies"] option')).toContain('CHF');
});

it('shows each filter by its name, with a link that removes it alone', async () => {
  const { tenant, app, open } = await withPage();
  const { id } = await createCreative(worker, tenant, { creative: 'Dragon & <Castle>', campaign: 'Summer' });
  const page = await open(`/ltv?app=${app}&creative_id=${id}&country=DE&country=fr&attribution=paid`);
  const chips = page.all('a.chip');
  expect(chips.map((chip) => chip.getAttribute('aria-label'))).toEqual([
    'Remove the filter Creative: Dragon & <Castle>',
    'Remove the filter Country: Germany',
    'Remove the filter Country: France',
    'Remove the filter Devices: Paid',
  ]);
  expect(queryOf(chips[1]?.getAttribute('href') ?? '')).toEqual({
    app,
    cohort: 'all',
    show: 'ltv',
    creative_id: id,
    country: 'fr',
    attribution: 'paid',
  });
  expect(page.link('Clear all')).toBe(`/ltv?app=${app}&cohort=all&show=ltv`);
});

it('drops the filters of one application when another is chosen', async () => {
  const { app, open } = await withPage();
  const page = await open(`/ltv?app=${app}&of=app_other&campaign_id=cmp_1&country=de`);
  expect(page.texts('.chip-text')).toEqual(['Country Germany']);
  expect(page.query('Ad monetization')).toEqual({ app, country: 'de' });
});

it('refuses a filter that no report accepts, and names it', async () => {
  const { app, browser } = await withPage();
  const answer = await browser.get(`/ltv?app=${app}&attribution=bought`);
  expect(answer.status).toBe(400);
  expect((await pageOf(answer)).error).toBe('attribution must be paid, organic or all.');
});

it('lists and searches the values of a filter, each linked back to the report', async () => {
  const { tenant, app, open } = await withPage();
  await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer', adset: 'B' });
  const castle = await createCreative(worker, tenant, { creative: 'Castle', campaign: 'Winter', adset: 'A' });
  const back = encodeURIComponent(`/ltv?app=${app}&period=7d&country=de`);
  const list = (q: string) =>
    open(`/filters?app=${app}&period=7d&country=de&kind=creative_id&back=${back}&q=${q}`);
  expect((await list('')).texts('main li')).toEqual(['Castle Winter › A', 'Dragon Summer › B']);
  const found = await list('CASTL');
  expect(found.texts('main li')).toEqual(['Castle Winter › A']);
  expect(found.link('Castle Winter › A')).toBe(
    `/ltv?app=${app}&period=7d&country=de&creative_id=${castle.id}`,
  );
  await createCreative(worker, tenant, { creative: 'Löwe', campaign: 'Winter', adset: 'A' });
  expect((await list(encodeURIComponent('LÖW'))).texts('main li')).toEqual(['Löwe Winter › A']);
  expect((await list('nothing')).texts('main p')).toEqual(['Nothing contains “nothing”.']);
});

it('links back only to pages of this dashboard, and has no values for other filters', async () => {
  const { tenant, app, browser, open } = await withPage();
  const { id } = await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer', adset: 'B' });
  const page = await open(`/filters?app=${app}&kind=creative_id&back=https%3A%2F%2Fevil.test`);
  expect(page.link('Dragon Summer › B')).toBe(`/?creative_id=${id}`);
  for (const kind of ['attribution', 'secret']) {
    expect((await browser.get(`/filters?app=${app}&kind=${kind}&back=/`)).status).toBe(404);
  }
});

it("lists nothing of another team's application", async () => {
  const { browser } = await withPage();
  const other = await createTenant();
  expect((await browser.get(`/filters?app=${other.application.id}&kind=creative_id&back=/`)).status).toBe(
    404,
  );
});

it('compares all time with nothing, and forgets a comparison that was asked for', async () => {
  const { app, browser, open } = await withPage();
  const page = await open(`/breakdown?app=${app}&period=all&compare=year`);
  const [field] = page.all('#bar-compare');
  expect([field?.hasAttribute('disabled'), field && textOf(field)]).toEqual([true, 'No earlier period']);
  expect(page.query('LTV and ROAS')).toEqual({ app, period: 'all' });
  expect(page.query('Save or share').for).toBe(`/breakdown?app=${app}&period=all`);
  const other = await pageOf(await browser.get(`/breakdown?app=${app}&period=7d&compare=year`));
  expect(other.value('compare')).toBe('year');
  expect(other.query('LTV and ROAS')).toEqual({ app, period: '7d', compare: 'year' });
});
