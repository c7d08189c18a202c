import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn } from '../helpers/browser.ts';
import { type Service, simulate, startService } from '../helpers/service.ts';

// What a person's hands expect of the dashboard: keys, the back button, focus, and what was typed before the session ended.

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;

before(async () => {
  service = await startService();
  ({ demo } = service);
  await simulate(service, { devices: 60, days: 20, seed: 5 });
  browser = await launchBrowser();
  page = await browser.newPage();
  await signIn(page, demo);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

const periodOf = () => new URL(page.url()).searchParams.get('period');

test('moves through a list with the arrow keys without loading, until Enter chooses', async () => {
  await page.goto(`${demo.base_url}/retention`);
  const period = page.getByLabel('Period');
  await period.focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  const chosen = await period.inputValue();
  assert.notEqual(chosen, '28d');
  assert.equal(periodOf(), null);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('period') === chosen);
});

test('keeps the focus on the control that changed the page', async () => {
  await page.goto(`${demo.base_url}/retention`);
  await page.getByLabel('Period').focus();
  await page.getByLabel('Period').selectOption('7d');
  await page.waitForURL(/period=7d/);
  await page.locator('#bar-period:focus').waitFor();
});

test('restores controls and figures together with back and forward', async () => {
  await page.goto(`${demo.base_url}/`);
  const shown = async () => [
    await page.getByLabel('Period').inputValue(),
    await page.locator('.bar-form .dates').innerText(),
    await page.locator('[data-metric=revenue]').innerText(),
  ];
  const first = await shown();
  await page.getByLabel('Period').selectOption('7d');
  await page.waitForURL(/period=7d/);
  const second = await shown();
  assert.notDeepEqual(second, first);
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has('period'));
  assert.deepEqual(await shown(), first);
  await page.goForward();
  await page.waitForURL(/period=7d/);
  assert.deepEqual(await shown(), second);
});

test('opens menus within the screen of a phone', async () => {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    storageState: await page.context().storageState(),
  });
  const phone = await context.newPage();
  for (const [path, name] of [
    ['/creatives', 'Columns'],
    ['/creatives', 'New creative'],
    ['/breakdown', 'Columns'],
    ['/funnels', '+ Add a step'],
  ] as const) {
    await phone.goto(demo.base_url + path);
    const menu = phone.locator('details.pop', { has: phone.locator('summary', { hasText: name }) });
    await menu.locator('summary').click();
    const box = await menu.locator('.sheet').boundingBox();
    assert.ok(
      box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844,
      `${name}: ${box?.x}`,
    );
  }
  await context.close();
});

test('adds a step at the end of a funnel', async () => {
  await page.goto(`${demo.base_url}/funnels?steps=install,ad`);
  await page.locator('summary', { hasText: 'Add a step' }).click();
  await page.getByLabel('Next step').selectOption({ label: 'Purchase' });
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL(/next=purchase/);
  const steps = await page.locator('.funnel tbody td:first-child').allInnerTexts();
  assert.deepEqual(steps, ['Install', 'Ad impression', 'Purchase']);
});

test('reads all charts of a page at the same place', async () => {
  await page.goto(`${demo.base_url}/ltv`);
  const plots = page.locator('[data-chart]');
  assert.equal(await plots.count(), 2);
  await plots.first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await page.locator('.tip b').allInnerTexts(), ['Day 1', 'Day 1']);
  // Only the chart that is read speaks.
  assert.equal(await page.locator('.tip[role=status]').count(), 1);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.tip').count(), 0);
});

test('returns after an ended session to the same page, with what was typed', async () => {
  await page.goto(`${demo.base_url}/settings/applications`);
  await page.locator('summary', { hasText: 'New application' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Second game');
  await page.getByLabel('Currency', { exact: true }).fill('EUR');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'Go to the sign-in' }).click();
  await page.getByLabel('Email').fill(demo.owner.email);
  await page.getByLabel('Password').fill(demo.owner.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/settings\/applications/);
  await page.locator('details[open]', { hasText: 'New application' }).waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Second game');
  assert.equal(await page.getByLabel('Currency', { exact: true }).inputValue(), 'EUR');
});

test('shows the reference of the API without scripts, at the operation that an error names', async () => {
  const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await plain.goto(`${demo.base_url}/docs#post-webhook`);
  await plain.getByRole('heading', { name: 'Send an event', exact: true }).waitFor();
  await plain.getByRole('navigation').getByRole('link', { name: 'List creatives', exact: true }).click();
  assert.match(plain.url(), /#get-v1-creatives$/);
  await plain.context().close();
});
