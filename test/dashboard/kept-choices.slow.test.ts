import { expect, it } from 'vitest';
import { pageOf } from '../helpers/page.ts';
import { cookieOf, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

async function withBrowser() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  return { tenant, browser, app: tenant.application.id };
}

it('keeps the columns that were chosen, until a set is chosen', async () => {
  const { browser, app } = await withBrowser();
  await browser.post(`/creatives?app=${app}`, { creative: 'Cat', campaign: 'C', adset: 'A' });
  const metricsOf = async (answer: Response) =>
    (await pageOf(answer))
      .table('Creatives')
      .headings.filter((name) => ['Spend', 'DAU', 'CPI'].includes(name));
  const chosen = await browser.get(`/creatives?app=${app}&column=spend&column=dau&column=nonsense`);
  const cookie = cookieOf(chosen);
  expect(await metricsOf(chosen)).toEqual(['DAU', 'Spend']);
  expect(await metricsOf(await browser.get(`/creatives?app=${app}`, cookie))).toEqual(['DAU', 'Spend']);
  const set = await browser.get(`/creatives?app=${app}&set=acquisition`, cookie);
  expect(set.headers.getSetCookie().some((sent) => sent.startsWith('dashboard.columns=;'))).toBe(true);
  expect(await metricsOf(set)).toEqual(['Spend', 'CPI']);
});

it('keeps the columns of the breakdown, apart from those of creatives', async () => {
  const { tenant, browser, app } = await withBrowser();
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  const table = async (answer: Response) => (await pageOf(answer)).table('Figures by day');
  const path = `/breakdown?app=${app}`;
  const chosen = await browser.get(`${path}&column=installs&column=profit&column=retention_d0`);
  const [sent] = chosen.headers.getSetCookie().filter((one) => one.startsWith('dashboard.columns='));
  expect(sent).toContain('Path=/breakdown');
  const cookie = cookieOf(chosen);
  const shown = await table(chosen);
  // The charted metric comes first. What is known of no row has no column: day 0 is not over.
  expect(shown.headings.map((name) => name.replace(/ USD$/, ''))).toEqual([
    ...['Day', 'Revenue', 'Installs', 'Profit'],
  ]);
  expect((await table(await browser.get(path, cookie))).headings).toEqual(shown.headings);
  const all = await browser.get(`${path}&set=all`, cookie);
  expect((await table(all)).headings.length).toBeGreaterThan(10);
  expect(all.headers.getSetCookie().some((one) => one.startsWith('dashboard.columns=;'))).toBe(true);
});

it('saves and shares a view with the columns that it shows', async () => {
  const { tenant, browser, app } = await withBrowser();
  await browser.post(`/creatives?app=${app}`, { creative: 'Cat', campaign: 'C', adset: 'A' });
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  for (const [path, caption] of [
    ['/creatives', 'Creatives'],
    ['/breakdown', 'Figures by day'],
  ] as const) {
    const cookie = cookieOf(await browser.get(`${path}?app=${app}&column=dau&column=spend`));
    const own = await pageOf(await browser.get(`${path}?app=${app}`, cookie));
    const address = own.query('Save or share').for ?? '';
    expect(address).toBe(`${path}?app=${app}&column=dau&column=spend`);
    const made = await pageOf(await browser.submit('/views/links', { address, note: 'x', days: '7' }));
    const shared = await worker.request(new URL(made.one('.notice code').text).pathname);
    const metrics = (headings: string[]) => headings.filter((name) => name !== 'Link');
    expect(metrics((await pageOf(shared)).table(caption).headings)).toEqual(
      metrics(own.table(caption).headings),
    );
  }
});

it('says that a creative has the name of another', async () => {
  const { browser, app } = await withBrowser();
  const names = { creative: 'Cat', campaign: 'C', adset: 'A' };
  const noticeOf = async () =>
    (await pageOf(await browser.submit(`/creatives?app=${app}`, names))).notices[0];
  expect(await noticeOf()).toBe('Created. Use its tracking link as the destination of your ad.');
  expect(await noticeOf()).toBe(
    'Created. This ad set has another creative of the same name; their figures are apart, by their links.',
  );
});

it('shows the set-up steps as a line that can be closed, and renewed by a script', async () => {
  const { tenant, browser, app } = await withBrowser();
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  const bar = (await pageOf(await browser.get(`/?app=${app}`))).one('#setup');
  const steps = await pageOf(await browser.get(bar.getAttribute('data-from') ?? ''));
  expect(steps.one('#setup').text).toBe(bar.text);
  const closed = await browser.post(`/get-started/close?app=${app}`);
  expect([closed.status, closed.headers.get('Location')]).toEqual([303, `/?app=${app}`]);
  expect((await pageOf(await browser.get(`/?app=${app}`, cookieOf(closed)))).all('#setup')).toEqual([]);
});

it('opens the application last looked at where an address names none', async () => {
  const { browser } = await withBrowser();
  await browser.post('/settings/applications', {
    name: 'Second game',
    timezone: 'Asia/Tokyo',
    currency: 'JPY',
  });
  const shown = async (cookie = '') =>
    (await pageOf(await browser.get('/retention', cookie))).texts('.switch > summary b')[0];
  expect(await shown()).toBe('Test game');
  const second = (await pageOf(await browser.get('/retention'))).link('Second game Asia/Tokyo · JPY');
  expect(await shown(cookieOf(await browser.get(second)))).toBe('Second game');
});

it('chooses the metric of the overview’s chart by its card', async () => {
  const { tenant, browser, app } = await withBrowser();
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  const page = await pageOf(await browser.get(`/?app=${app}`));
  expect(page.cards).toContain('Revenue by day');
  expect(page.query('Installs')).toEqual({ app, metric: 'installs' });
  const installs = await pageOf(await browser.get(page.link('Installs')));
  expect(installs.card('Installs by day').chart.series[0]?.name).toBe('Installs');
  expect(installs.texts('.kpis [aria-current]')).toEqual(['Installs']);
  expect(installs.query('Week')).toEqual({ app, metric: 'installs', unit: 'week' });
});
