import { env } from 'cloudflare:workers';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const rowsOf = (csv: string) => Papa.parse<Record<string, string>>(csv.trim(), { header: true }).data;

it.each(['/', '/breakdown?by=day&'])(
  'marks the figures of %s that lack an amount, and no others',
  async (path) => {
    const tenant = await createTenant();
    const browser = await signedIn(worker, tenant.team, 'viewer');
    const of = { creative_id: '', purchases: 1, installs: 3 };
    await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
      { ...of, day: '2026-03-02', currency: 'usd', purchase_revenue: 4_000_000_000 },
      { ...of, day: '2026-03-03', currency: 'usd', purchase_revenue: 5_000_000_000 },
      { ...of, day: '2026-03-03', currency: 'twd', purchase_revenue: 300_000_000_000 },
    ]);
    const query = `${path.includes('?') ? path : `${path}?`}app=${tenant.application.id}&from=2026-03-02&to=2026-03-03`;
    const text = await (await browser.get(query)).text();
    // Each marked number with the mark's explanation.
    const marked = [...text.matchAll(/([^>]*)<abbr class="lacking" title="([^"]*)"/g)].map(
      ([, figure = '', title]) => [figure.trim(), title],
    );
    const without = 'Without $300.00 (TWD): no exchange rate';
    if (path === '/') expect(marked).toContainEqual(['$9.00', without]);
    expect(marked).toContainEqual(['$5.00', without]);
    expect(marked).not.toContainEqual(['$4.00', without]);
    for (const [figure = ''] of marked) expect(figure).toMatch(/^(?:\$|–)/);
  },
);

it('marks the days of a cohort from which on an amount is missing', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const of = { creative_id: '', acquired_day: '2026-03-02' };
  const { id } = tenant.application;
  await addFigures(env.DB, id, 'cohort_activity', [
    { ...of, age: 0, active_devices: 2, last_active_devices: 2 },
  ]);
  await addFigures(env.DB, id, 'cohort_revenue', [
    { ...of, day: '2026-03-02', currency: 'usd', purchase_revenue: 4_000_000_000 },
    { ...of, day: '2026-03-05', currency: 'twd', purchase_revenue: 300_000_000_000 },
  ]);
  const page = await pageOf(await browser.get(`/ltv?app=${id}&from=2026-03-02&to=2026-03-02`));
  expect(
    page.cells('Lifetime value by cohort and day since acquisition', 'Day 1', 'Day 3', 'Day 90'),
  ).toEqual([['$2.00', '$2.00 *', '$2.00 *']]);
  expect(page.texts('abbr.lacking').length).toBeGreaterThan(0);
  const without = 'without $300.00 (TWD): no exchange rate';
  for (const query of ['', '&predict=90']) {
    const curves = await pageOf(await browser.get(`/ltv?app=${id}&from=2026-03-02&to=2026-03-02${query}`));
    const texts = curves.chart.series[0]?.texts ?? [];
    expect(texts.slice(0, 4)).toEqual(['$2.00', '$2.00', '$2.00', `$2.00 ${without}`]);
    expect(curves.texts('.chart .hint').join()).toContain('Without amounts that have no exchange rate: ');
  }
  expect(page.notices.join()).toContain('$300.00 (TWD)');
  const csv = await browser.get(`/ltv?app=${id}&from=2026-03-02&to=2026-03-02&format=csv`);
  expect((await csv.text()).match(/twd/g)).toHaveLength(7);
});

it('lists what the figures of a creative lack in its line of CSV', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  for (const creative of ['Cat', 'Dog']) {
    await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative });
  }
  await putCosts(worker, tenant, [
    { date: '2026-03-02', campaign: 'Spring', adset: 'Young', creative: 'Cat', currency: 'twd', amount: 300 },
    { date: '2026-03-02', campaign: 'Spring', adset: 'Young', creative: 'Dog', amount: 3 },
  ]);
  const query = `app=${tenant.application.id}&from=2026-03-02&to=2026-03-02&compare=none&format=csv`;
  const csv = await (await browser.get(`/creatives?${query}`)).text();
  const rows = rowsOf(csv);
  const lacking = JSON.stringify([{ currency: 'twd', amount: 300 }]);
  expect(rows.map(({ creative, spend, unconverted }) => [creative, spend, unconverted]).sort()).toEqual([
    ['Cat', '0', lacking],
    ['Dog', '3', ''],
  ]);
});

it('marks the figures of predicted LTV that lack an amount', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  for (const [day, currency] of [
    ['2026-03-02', 'usd'],
    ['2026-03-09', 'usd'],
    ['2026-03-09', 'twd'],
  ]) {
    const creativeToken = await fetchToken(worker, tenant, { created_at: `${day}T10:00:00.000Z` });
    const payload = { item_id: 'gems', value: 3, currency, status: 'completed', tr_id: `${day} ${currency}` };
    const event = { created_at: `${day} 11:00:00`, creativeToken, type: 'custom.purchase', payload };
    await worker.post(tenant, '/webhook', event);
  }
  await worker.deliver(worker.queue.take());
  const query = `app=${tenant.application.id}&from=2026-03-02&to=2026-03-15&cohort=week&predict=90`;
  const page = await pageOf(await browser.get(`/ltv?${query}`));
  const card = page.card('Predicted LTV after another 90 days');
  const [caption = ''] = card.tables;
  expect(card.cells(caption, 'Devices', 'Revenue per device so far', 'From purchases', 'From ads')).toEqual([
    ['1', '$3.00', '–', '$0.00'],
    ['2', '$1.50 *', '–', '$0.00 *'],
  ]);
  expect(card.all('abbr.lacking').map((mark) => mark.getAttribute('title'))).toEqual(
    Array.from({ length: 2 }, () => 'Without $3.00 (TWD): no exchange rate'),
  );
  const csv = await browser.get(`/ltv?${query}&table=predicted&format=csv`);
  expect((await csv.text()).match(/twd/g)).toHaveLength(1);
});

describe('an earlier period that lacks an amount', () => {
  const without = 'Without $300.00 (TWD): no exchange rate';

  const open = async (path: string) => pageOf(await opened(path));

  async function opened(path: string) {
    const tenant = await createTenant();
    const browser = await signedIn(worker, tenant.team, 'viewer');
    const of = { creative_id: '', country: 'de', purchases: 1, installs: 3 };
    const rows = [
      { ...of, day: '2026-03-03', currency: 'usd', purchase_revenue: 5_000_000_000 },
      { ...of, day: '2026-03-03', currency: 'twd', purchase_revenue: 300_000_000_000 },
      { ...of, day: '2026-03-04', currency: 'usd', purchase_revenue: 4_000_000_000 },
    ];
    await addFigures(env.DB, tenant.application.id, 'rollup_daily', rows);
    const query = `app=${tenant.application.id}&from=2026-03-04&to=2026-03-04&compare=previous`;
    return browser.get(`${path}${query}`);
  }

  it.each(['/?', '/breakdown?by=day&'])('is marked on %s', async (path) => {
    const page = await open(path);
    expect(page.texts('abbr.lacking').length).toBeGreaterThan(0);
    for (const mark of page.all('abbr.lacking')) expect(mark.getAttribute('title')).toBe(without);
  });

  it.each(['/breakdown?by=day&', '/breakdown?by=country&'])('is listed in the CSV of %s', async (path) => {
    const [row = {}] = rowsOf(await (await opened(`${path}format=csv&`)).text());
    expect(row).toMatchObject({ revenue: '4', revenue_before: '5', revenue_change: '-1', unconverted: '' });
    expect(row.before_unconverted).toBe(JSON.stringify([{ currency: 'twd', amount: 300 }]));
    expect(Object.keys(row).filter((name) => name.includes('lacks'))).toEqual([]);
  });

  it.each(['/breakdown?by=day&'])('is named in the readout and below the chart of %s', async (path) => {
    const page = await open(path);
    const before = page.chart.series.find(({ name }) => name === 'Revenue, before');
    expect(before?.texts).toEqual(['$5.00 without $300.00 (TWD): no exchange rate']);
    expect(page.chart.series[0]?.texts).toEqual(['$4.00']);
    expect(page.texts('.chart .hint').join()).toContain('Without amounts that have no exchange rate: ');
  });
});
