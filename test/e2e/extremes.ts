import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, violationsOf, watchFaults } from '../helpers/browser.ts';
import { PLAIN_PAGES } from '../helpers/dashboard-pages.ts';
import { addLargeHistory } from '../helpers/large-history.ts';
import { type Service, startService } from '../helpers/service.ts';

// Every page of the dashboard in a real browser over data at its extremes: none, a single event, and two years of 2,000 creatives
// whose names are as long as they may be, right to left, or emoji. The month in between is in dashboard.ts.

const MAX_HTML_BYTES = 300 * 1024;
const CREATIVE = `crt_${'1'.padStart(32, '0')}`;

const PAGES = [
  ...PLAIN_PAGES,
  '/creatives?by=campaign&set=all',
  '/breakdown?by=campaign&and=creative',
  '/retention?group=creative',
  '/funnels?step=install&step=retention&step=ad&step=purchase',
  '/compare?by=creative',
];

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 860 }, colorScheme: 'light' };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };
/** What a window of 1280 × 860 holds at a zoom of 200 %. */
const ZOOMED: BrowserContextOptions = { viewport: { width: 640, height: 430 }, deviceScaleFactor: 2 };

let service: Service;
let demo: Demo;
let browser: Browser;
let session: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>;

before(async () => {
  service = await startService();
  demo = service.demo;
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function open(look: BrowserContextOptions): Promise<{ page: Page; faults: string[] }> {
  const page = await (await browser.newContext({ ...look, storageState: session })).newPage();
  return { page, faults: watchFaults(page) };
}

/** Opens every page and collects what is wrong, so that one run reports all of it. */
async function visitAll(look: BrowserContextOptions, pages: readonly string[], withAxe: boolean) {
  const { page, faults } = await open(look);
  const wrong: string[] = [];
  for (const where of pages) {
    const answer = await page.goto(demo.base_url + where);
    if (answer?.status() !== 200) wrong.push(`${where} answers ${answer?.status()}`);
    const bytes = (await answer?.body())?.length ?? 0;
    if (bytes > MAX_HTML_BYTES) wrong.push(`${where} has ${bytes} bytes`);
    const [content, screen] = (await page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )) as [number, number];
    if (content > screen) wrong.push(`${where} is ${content} wide on a screen of ${screen}`);
    if (withAxe) wrong.push(...(await violationsOf(page)).map((found) => `${where}: ${found}`));
    wrong.push(...faults.splice(0).map((fault) => `${where}: ${fault}`));
  }
  await page.context().close();
  return wrong;
}

const isFocused = (page: Page, selector: string) =>
  page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`);

/** Moves the focus with the Tab key until it is on what is wanted, as someone without a mouse does. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (await isFocused(page, selector)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`the Tab key does not reach ${selector}`);
}

test('signs in with the keyboard only', async () => {
  const page = await (await browser.newContext(WIDE)).newPage();
  await page.goto(demo.base_url);
  await tabTo(page, '[name=email]');
  await page.keyboard.type(demo.owner.email);
  await tabTo(page, '[name=password]');
  await page.keyboard.type(demo.owner.password ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  session = await page.context().storageState();
  await page.context().close();
});

test('shows every page without data', async () => {
  assert.deepEqual(await visitAll(PHONE, PAGES, true), []);
});

test('shows every page with one event', async () => {
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(demo.base_url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', [`${demo.service_name}-api-key`]: demo.api_key },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200);
    return (await answer.json()) as { token?: string };
  };
  const now = new Date().toISOString();
  const { token } = await post('/fetch-token', {
    type: 'device-metrics',
    created_at: now,
    data: {
      device_name: 'Pixel 9',
      device_model: 'Pixel 9',
      os_system: 'Android 16',
      timezone: 'Asia/Tokyo',
    },
  });
  const payload = { ad_id: 'main', source: 'banner', value: 0.01, currency: 'usd' };
  await post('/webhook', { type: 'custom.ad', created_at: now, creativeToken: token, payload });
  assert.deepEqual(await visitAll(WIDE, PAGES, true), []);
});

test('shows every page with two years of 2,000 creatives', async (suite) => {
  const size = { creatives: 2_000, days: 730, everyDays: 60, daysPerRun: 15 };
  // SQLite would answer the service and the history's many transactions by turns with SQLITE_BUSY.
  await service.stopWhile(() =>
    withLocalDatabase(service.stateDir, (db) => addLargeHistory(db, demo.application.id, size, Date.now())),
  );
  const pages = [...PAGES, `/creatives/${CREATIVE}`];
  const overTwoYears = pages.map((where) => `${where}${where.includes('?') ? '&' : '?'}period=all`);

  await suite.test('on a phone', async () => {
    assert.deepEqual(await visitAll(PHONE, overTwoYears, true), []);
  });

  await suite.test('at a zoom of 200 %', async () => {
    assert.deepEqual(await visitAll(ZOOMED, pages, false), []);
  });

  await suite.test('leads from the overview to a creative by keyboard only', async () => {
    const { page } = await open(WIDE);
    await page.goto(demo.base_url);
    await tabTo(page, '.side-nav a[href^="/creatives"]');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Creatives', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    assert.ok(await isFocused(page, '.skip'));
    await page.keyboard.press('Enter');
    assert.ok(await isFocused(page, '#main'));
    await tabTo(page, '[name=q]');
    await page.keyboard.type('Creative 1999');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=Creative\+1999/);
    await tabTo(page, 'a.cut');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Creative 1999' }).waitFor();
    await page.context().close();
  });
});
