import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { Server } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { count, money, percent } from '#lib/format';
import type { Demo } from '../../src/cli/seed-demo.ts';
import {
  findPagesOfOne,
  launchBrowser,
  signIn,
  violationsIn,
  violationsOf,
  watchFaults,
} from '../helpers/browser.ts';
import { PLAIN_PAGES } from '../helpers/dashboard-pages.ts';
import { addThings } from '../helpers/dashboard-things.ts';
import { type Service, simulate, startService } from '../helpers/service.ts';

// The dashboard in a real browser, from a fresh start: sending the first event, then every page over a simulated history.
// SCREENSHOTS=<folder> keeps a picture of every page, wide and narrow, light and dark.

const SCREENSHOTS = process.env.SCREENSHOTS;

/** Besides the font, which browsers keep for ever. */
const FIRST_PAGE_BYTES = 60 * 1024;
const A_MINUTE_MS = 60_000;

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 860 } },
  phone: { viewport: { width: 390, height: 844 } },
} satisfies Record<string, BrowserContextOptions>;

/** Besides those of one thing. */
const PAGES = [
  ...PLAIN_PAGES,
  '/creatives?by=campaign',
  '/retention?cohort=day&kind=rolling',
  '/retention?group=country',
  '/breakdown?by=country&and=os',
  '/funnels?step=install&step=retention&step=ad&step=purchase&group=os',
  '/compare?by=country',
  '/docs',
];

let service: Service;
let stateDir: string;
let demo: Demo;
let browser: Browser;
let receiver: Server | undefined;

before(async () => {
  service = await startService();
  ({ demo, stateDir } = service);
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await service?.stop();
  receiver?.close();
});

type Session = Awaited<ReturnType<typeof startSession>>;

/** A browser window that records its faults, and every request that leaves the deployment. */
async function open(
  look: BrowserContextOptions,
  storageState?: Session,
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ ...look, ...(storageState ? { storageState } : {}) });
  const page = await context.newPage();
  const faults = watchFaults(page);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== demo.base_url) faults.push(`requested ${request.url()}`);
  });
  return { page, faults };
}

async function startSession() {
  const { page } = await open({});
  await signIn(page, demo);
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

let started: ReturnType<typeof startSession> | undefined;

/** The session of the owner, who signs in once for all tests. */
const session = () => {
  started ??= startSession();
  return started;
};

test('leads from the sign-in to the first event in the debugger in less than a minute', async () => {
  const start = Date.now();
  const { page, faults } = await open({});
  await signIn(page, demo);
  await page.getByText('Device token: waiting').waitFor();
  await page.getByRole('button', { name: 'Show with the API key' }).click();
  await page.getByText(demo.api_key).waitFor();
  const calls = await page.locator('pre').first().innerText();
  await promisify(execFile)('bash', ['-c', calls]);
  await page.getByText('First event: arrived').waitFor({ timeout: 30_000 });
  await page.getByRole('link', { name: 'Watch it in the debugger' }).click();
  const row = page.getByRole('row', { name: /hello/ });
  await row.waitFor();
  await row.getByRole('link').first().click();
  await page.getByText('This event is counted').waitFor({ timeout: 20_000 });
  await page.getByRole('complementary', { name: 'Event' }).getByText('organic').first().waitFor();
  assert.ok(Date.now() - start < A_MINUTE_MS, `it took ${Date.now() - start} ms`);
  assert.deepEqual(faults, []);
});

test('shows a rejected request in the debugger with its reason', async () => {
  const { page } = await open({}, await session());
  await fetch(`${demo.base_url}/webhook`, {
    method: 'POST',
    headers: { [`${demo.service_name}-api-key`]: 'no-key-of-ours', 'Content-Type': 'application/json' },
    body: '{}',
  });
  await page.goto(`${demo.base_url}/debugger`);
  await page.getByRole('cell', { name: 'Unknown API key' }).waitFor();
});

test('opens an event beside the list, below its row on a phone, and as a page without scripts', async () => {
  const { page, faults } = await open({}, await session());
  const isOnLink = 'document.activeElement.matches("a[data-event]")';
  const address = `${demo.base_url}/debugger`;
  await page.goto(address);
  await page.locator('a[data-event]').first().press('Enter');
  const panel = page.getByRole('complementary', { name: 'Event' });
  await panel.getByText('This event is').waitFor();
  assert.equal(await page.evaluate('document.activeElement.closest("#event-panel") !== null'), true);
  assert.equal(page.url(), address);
  assert.deepEqual(await violationsOf(page), []);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(isOnLink), true);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('a[data-event]').first().click();
  await page.locator('.event-row #event-panel').getByText('This event is').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  );
  await page.getByRole('button', { name: 'Close' }).click();
  assert.equal(await page.evaluate(isOnLink), true);
  assert.deepEqual(faults, []);

  const { page: plain } = await open({ javaScriptEnabled: false }, await session());
  await plain.goto(address);
  await plain.locator('a[data-event]').first().click();
  await plain.waitForURL(/\/debugger\/event\?/);
  await plain.getByText('This event is').waitFor();
});

test('shows every page over a simulated history', { concurrency: true }, async (suite) => {
  receiver = await addThings(demo);
  await simulate({ stateDir }, { devices: 80, days: 25, seed: 5 });
  const { page: first } = await open({}, await session());
  const newHook = `/settings/destinations/new?app=${demo.application.id}&kind=webhook`;
  const pages = [...PAGES, newHook, ...(await findPagesOfOne(first, demo.base_url)).values()];
  if (SCREENSHOTS) await mkdir(SCREENSHOTS, { recursive: true });
  const walks = Object.entries(SCREENS).map(([screen, look]) =>
    suite.test(screen, async () => {
      const { page, faults } = await open(look, await session());
      const keepPicture = async (scheme: string, where: string) => {
        if (!SCREENSHOTS) return;
        const file = `${screen}-${scheme}-${where.replaceAll(/\W+/g, '_')}.png`;
        await page.screenshot({ path: path.join(SCREENSHOTS, file), fullPage: true });
      };
      for (const where of pages) {
        await page.emulateMedia({ colorScheme: 'light' });
        const answer = await page.goto(demo.base_url + where);
        assert.equal(answer?.status(), 200, where);
        await keepPicture('light', where);
        assert.deepEqual(await violationsOf(page), [], where);
        const tooWide = await page.evaluate(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        assert.equal(tooWide, false, `${where} is wider than the screen`);
        assert.deepEqual(await violationsIn(page, 'dark'), [], `${where}, dark`);
        await keepPicture('dark', where);
        assert.deepEqual(faults, [], where);
      }
      await page.context().close();
    }),
  );
  await Promise.all(walks);

  await suite.test('shows the figures of the API', async () => {
    const { page } = await open({}, await session());
    // Without a comparison, today is included.
    await page.goto(`${demo.base_url}/?compare=none`);
    const parameters = new URLSearchParams({
      application_id: demo.application.id,
      from: await page.getByLabel('From', { exact: true }).inputValue(),
      to: await page.getByLabel('To', { exact: true }).inputValue(),
      metrics: 'revenue,installs,dau,arpdau,spend,roas_d7',
    });
    const answer = await fetch(`${demo.base_url}/v1/reports/performance?${parameters}`, {
      headers: { [`${demo.service_name}-Token`]: demo.team_token },
    });
    const { totals, currency } = (await answer.json()) as {
      totals: Record<string, number | null>;
      currency: string;
    };
    const shown = {
      revenue: money(totals.revenue, currency),
      installs: count(totals.installs),
      dau: count(totals.dau),
      arpdau: money(totals.arpdau, currency),
      spend: money(totals.spend, currency),
      roas_d7: percent(totals.roas_d7),
    };
    for (const [metric, text] of Object.entries(shown)) {
      assert.equal(await page.locator(`[data-metric=${metric}]`).innerText(), text, metric);
    }
    assert.notEqual(totals.revenue, 0);
  });

  await suite.test('has a table and a CSV file beside every chart, and names its time zone', async () => {
    const { page } = await open({}, await session());
    for (const where of ['/', '/ads', '/retention', '/ltv', '/costs', '/funnels']) {
      await page.goto(demo.base_url + where);
      assert.ok((await page.locator('table').count()) > 0, `${where} has no table`);
      assert.match((await page.locator('main').textContent()) ?? '', /days in UTC/i, where);
      assert.match(await page.locator('.switch > summary').innerText(), /UTC/, where);
      const href = await page.getByRole('link', { name: 'CSV' }).first().getAttribute('href');
      const file = await page.context().request.get(demo.base_url + href);
      assert.match(file.headers()['content-type'] ?? '', /text\/csv/, where);
    }
  });

  await suite.test('prints a report without navigation, on white, with the names of its curves', async () => {
    const { page } = await open({ ...SCREENS.desktop, colorScheme: 'dark' }, await session());
    await page.emulateMedia({ media: 'print' });
    for (const path of ['/breakdown', '/funnels', '/creatives', '/retention']) {
      await page.goto(demo.base_url + path);
      for (const hidden of [
        ...['.side', '.tools', '.bar-fields', 'form', '.card-head a', '.asides a', 'details.pop'],
        ...['a.button', '.pages a', 'button:not(.legend button)'],
      ])
        assert.equal(await page.locator(hidden).filter({ visible: true }).count(), 0, path + hidden);
      // What is compared stands behind a mark on a screen.
      const compared = page.locator('.info .compared').filter({ visible: true });
      assert.match(await compared.first().innerText(), /compared with/, path);
    }
    await page.locator('.legend button').first().waitFor();
    assert.match(
      await page.locator('.view-bar > summary').innerText(),
      /^Demo game · Last 28 days, .+ – .+$/,
    );
    const ground = 'getComputedStyle(document.documentElement).colorScheme';
    assert.match(await page.evaluate<string>(ground), /^light/);
    await page.context().close();
  });

  await suite.test('works with the keyboard', async () => {
    const { page } = await open({}, await session());
    await page.goto(demo.base_url);
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').innerText(), 'Skip to the page');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator(':focus').getAttribute('id'), 'main');
    await page.locator('[data-chart]').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('.tip').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.tip').count(), 0);

    const { page: phone } = await open(SCREENS.phone, await session());
    await phone.goto(demo.base_url);
    await phone.locator('summary', { hasText: 'Menu' }).focus();
    await phone.keyboard.press('Enter');
    await phone.getByRole('link', { name: 'Retention' }).first().focus();
    await phone.keyboard.press('Enter');
    await phone.getByRole('heading', { name: 'Retention', exact: true }).waitFor();
  });

  await suite.test('keeps the view in the URL from page to page', async () => {
    const { page } = await open({}, await session());
    await page.goto(`${demo.base_url}/?currency=eur`);
    await page.getByLabel('Period').selectOption('7d');
    await page.waitForURL(/period=7d/);
    assert.equal(new URL(page.url()).searchParams.has('from'), false);
    await page.locator('.side-nav').getByRole('link', { name: 'Ad monetization', exact: true }).click();
    await page.waitForURL(/\/ads/);
    const { searchParams } = new URL(page.url());
    assert.deepEqual(
      ['period', 'currency', 'app', 'from'].map((name) => searchParams.get(name)),
      ['7d', 'eur', demo.application.id, null],
    );
  });

  await suite.test('drops the comparison from the URL where all time is chosen', async () => {
    const { page } = await open({}, await session());
    await page.goto(`${demo.base_url}/retention?compare=year`);
    assert.equal(await page.getByLabel('Comparison').inputValue(), 'year');
    await page.getByLabel('Period').selectOption('all');
    await page.waitForURL(/period=all/);
    assert.equal(new URL(page.url()).searchParams.has('compare'), false);
    assert.equal(await page.getByLabel('Comparison').isDisabled(), true);
    await page.getByLabel('Period').selectOption('7d');
    await page.waitForURL(/period=7d/);
    assert.equal(await page.getByLabel('Comparison').inputValue(), 'previous');
  });

  await suite.test('filters by a value searched in the bar, until its chip is removed', async () => {
    const { page, faults } = await open({}, await session());
    await page.goto(`${demo.base_url}/retention`);
    await page.getByText('Add filter').click();
    await page.getByRole('link', { name: 'Creative…' }).click();
    await page.getByLabel('Search Creative').fill('cat');
    const values = page.locator('#filter-values li');
    await page.locator('#filter-values:not(:has(li + li)) li').waitFor();
    const name = await values.first().innerText();
    await values.first().getByRole('link').click();
    await page.waitForURL(/creative_id=/);
    const chip = page.getByRole('link', { name: /^Remove the filter Creative/ });
    assert.ok(name.startsWith((await chip.getAttribute('title'))?.replace('Creative: ', '') ?? 'none'));
    await chip.click();
    await page.waitForURL((url) => !url.searchParams.has('creative_id'));
    assert.deepEqual(faults, []);
  });

  await suite.test('waits for both dates of a custom period', async () => {
    const { page } = await open({}, await session());
    await page.goto(`${demo.base_url}/retention`);
    assert.equal(await page.getByLabel('From', { exact: true }).isVisible(), false);
    await page.getByLabel('Period').selectOption('custom');
    await page.getByLabel('From', { exact: true }).fill('2026-01-01');
    await page.getByLabel('To', { exact: true }).fill('2026-01-31');
    await page.getByRole('button', { name: 'Apply' }).first().click();
    await page.waitForURL(/period=custom&from=2026-01-01&to=2026-01-31/);
  });

  await suite.test('hides a series by its legend, but never the last', async () => {
    const { page } = await open({}, await session());
    await page.goto(`${demo.base_url}/ads?by=source`);
    const chart = page.locator('.chart').first();
    const entry = (series: number) => chart.locator(`button[data-series="${series}"]`);
    const [larger, smaller] = [entry(0), entry(1)];
    await larger.waitFor();
    const others = await chart.getByRole('button').count();
    for (let series = 2; series < others; series++) await entry(series).click();
    const axis = () => chart.locator('.ticks span').allInnerTexts();
    const plot = (await chart.locator('[data-chart]').getAttribute('data-chart')) ?? '';
    const { series }: { series: { top: number; ticks: string[] }[] } = JSON.parse(plot);
    const largest = [...series].sort((left, right) => right.top - left.top)[0];
    assert.deepEqual(await axis(), largest?.ticks);
    await larger.click();
    assert.equal(await larger.getAttribute('aria-pressed'), 'false');
    assert.equal(await chart.locator('[data-line="0"]').isVisible(), false);
    assert.deepEqual(await axis(), series[1]?.ticks);
    await smaller.click();
    assert.equal(await smaller.getAttribute('aria-pressed'), 'true');
  });
});

test('loads the first page in less than 60 KB', async () => {
  const { page } = await open({}, await session());
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'font') bodies.push(response.body());
  });
  await page.goto(demo.base_url, { waitUntil: 'networkidle' });
  const weights = (await Promise.all(bodies)).map((body) => gzipSync(body).length);
  const weight = weights.reduce((total, bytes) => total + bytes, 0);
  assert.ok(weights.length >= 3);
  assert.ok(weight < FIRST_PAGE_BYTES, `${weight} bytes`);
});
