import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn } from '../helpers/browser.ts';
import { type Service, simulate, startService } from '../helpers/service.ts';

// Follows docs/questions.md click by click.

const MAX_CLICKS = 3;

const QUESTIONS = readFileSync(path.join(ROOT, 'docs/questions.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| question'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, question = '', clicks = '', address = '', read = '']) => ({
    question,
    clicks: clicks.split(' → '),
    address: address.replaceAll('`', ''),
    read,
  }));

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;
let device: string;

before(async () => {
  service = await startService();
  ({ demo } = service);
  await simulate(service, { devices: 60, days: 20, seed: 5 });
  browser = await launchBrowser();
  page = await browser.newPage();
  await signIn(page, demo);
  await page.goto(`${demo.base_url}/debugger`);
  await page.locator('main tbody a[href^="/debugger/event?"]').first().click();
  const link = page.locator('main a[href^="/debugger/device?"]').first();
  const address = new URL((await link.getAttribute('href')) ?? '', demo.base_url);
  device = address.searchParams.get('device_id') ?? '';
  assert.notEqual(device, '');
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** The first visible link, button or summary with this text. */
async function press(name: string): Promise<void> {
  const named = page
    .getByRole('link', { name, exact: true })
    .or(page.getByRole('button', { name, exact: true }))
    .or(page.locator('summary').filter({ hasText: new RegExp(`^\\s*${name}\\s*$`) }));
  await named.filter({ visible: true }).first().click();
}

async function click(step: string): Promise<void> {
  const [label = '', option] = step.split(': ');
  if (step === 'device') {
    await page.locator('main').getByRole('link', { name: device }).first().click();
  } else if (step === 'campaign') {
    await page.locator('main a.group').first().click();
    await page.waitForURL(/campaign_id=/);
  } else if (label === 'Search') {
    await page.keyboard.press('/');
    await page.waitForURL(/\/search/);
    await page.getByLabel('Search', { exact: true }).first().fill(device);
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=/);
  } else if (option === undefined) {
    await press(label);
  } else {
    const before = page.url();
    await page.getByLabel(label, { exact: true }).first().selectOption({ label: option });
    await page.waitForURL((url) => url.href !== before);
  }
}

test('has sixteen questions, each at most three clicks away', () => {
  assert.equal(QUESTIONS.length, 16);
  for (const { question, clicks } of QUESTIONS) assert.ok(clicks.length <= MAX_CLICKS, question);
});

for (const { question, clicks, address, read } of QUESTIONS) {
  test(question, async () => {
    await page.goto(demo.base_url);
    for (const step of clicks) await click(step);
    const expected = new URL(address, demo.base_url);
    await page.waitForURL(
      (url) =>
        url.pathname === expected.pathname &&
        [...expected.searchParams].every(([name, value]) => url.searchParams.get(name) === value),
    );
    await page.locator('main').getByText(read).filter({ visible: true }).first().waitFor();
  });
}
