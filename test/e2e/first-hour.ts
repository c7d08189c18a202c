import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// A newcomer's first hour, in a real browser from a fresh start, by following what the pages say: sign-in → store URL → creative →
// test click → attributed install → its revenue on the overview. And the way back in after a forgotten password.

const PLAY = 'https://play.google.com/store/apps/details?id=com.example.game';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36';

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;

before(async () => {
  service = await startService();
  ({ demo } = service);
  browser = await launchBrowser();
  const context = await browser.newContext({
    timezoneId: 'Europe/Berlin',
    locale: 'de-DE',
    viewport: { width: 1280, height: 860 },
  });
  page = await context.newPage();
  page.on('dialog', (dialog) => void dialog.accept());
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Opens all set-up steps, of which the overview shows one once it has figures. */
async function openSteps(): Promise<void> {
  await page.locator('.checklist').waitFor({ state: 'attached' });
  const all = page.getByText('All steps');
  if ((await all.count()) > 0) await all.click();
}

const step = (name: string) => page.locator('.checklist').getByRole('link', { name });
const isDone = (name: string) =>
  page
    .locator('.checklist .done', { hasText: name })
    .waitFor({ timeout: 10_000 })
    .then(() => true);

test('explains the product at the sign-in', async () => {
  await page.goto(demo.base_url);
  await page.getByText('See which ads bring players who stay and pay').waitFor();
  await signIn(page, demo);
});

test('suggests the time zone and currency of the browser for a new application', async () => {
  await page.goto(`${demo.base_url}/settings/applications`);
  assert.equal(await page.getByLabel('Time zone').inputValue(), 'Europe/Berlin');
  assert.equal(await page.getByLabel('Currency').inputValue(), 'EUR');
});

test('leads from the checklist to a store URL, a creative, a test click, its install and the revenue on the overview', async () => {
  await page.goto(demo.base_url);
  await openSteps();
  await step('Add the store URL').click();
  await page.getByLabel('Google Play URL').fill(PLAY);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();

  await page.goto(demo.base_url);
  await openSteps();
  assert.ok(await isDone('Add the store URL'));
  await step('Create a creative').click();
  await page.getByLabel('Creative', { exact: true }).fill('First ad');
  await page.getByLabel('Campaign', { exact: true }).fill('Launch');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Test this link' }).waitFor();
  await page.getByText('Waiting for your click').waitFor();
  const link = await page.locator('.lead-line [data-copy]').first().getAttribute('data-copy');
  // A phone that scanned the code. It is redirected to the store, which is not on this machine.
  const answer = await fetch(link ?? '', { redirect: 'manual', headers: { 'User-Agent': ANDROID } });
  assert.equal(answer.status, 302);
  await page.getByText(/The click arrived at .* on Android/).waitFor({ timeout: 30_000 });

  // The app on the phone and its backend, as commands to paste into a terminal.
  await page.getByRole('heading', { name: 'Then test an install' }).waitFor();
  await page.getByRole('button', { name: 'Show with the API key' }).click();
  const calls = page.locator('#test-install [data-copy]');
  await page.locator('#test-install', { hasText: demo.api_key }).waitFor();
  await promisify(execFile)('bash', ['-c', (await calls.getAttribute('data-copy')) ?? '']);
  await page.locator('#test-install').getByRole('link', { name: 'overview' }).click();
  const revenue = page.locator('[data-metric=revenue]');
  const deadline = Date.now() + 30_000;
  while ((await revenue.count()) === 0 || !(await revenue.first().innerText()).includes('4.99')) {
    assert.ok(Date.now() < deadline, 'the revenue did not reach the overview');
    await page.reload();
  }
  assert.equal(await page.locator('[data-metric=installs]').first().innerText(), '1');
  await openSteps();
  assert.ok(await isDone('Test its link'));

  assert.ok(await isDone('Send the first event'));

  await page.getByRole('link', { name: 'Debugger' }).first().click();
  const row = page.getByRole('row', { name: /Purchase/ });
  await row.waitFor();
  await row.getByRole('cell').nth(4).getByRole('link').click();
  await page.getByText('Clicked the ad').waitFor();
  await page.getByText('Acquired, by First ad').waitFor();
});

test('leads from the checklist to costs and an invitation, after which it disappears', async () => {
  await page.goto(demo.base_url);
  await openSteps();
  await step('Upload costs').click();
  const today = new Date().toISOString().slice(0, 10);
  await page.locator('input[type=file]').setInputFiles({
    name: 'meta.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      `Day,Campaign name,Amount spent (USD),Impressions,Link clicks\n${today},Launch,"2,50",1000,1\n`,
    ),
  });
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('1 row stored, read as an export of Meta Ads. All names match.').waitFor();
  await page.goto(demo.base_url);
  await openSteps();
  await step('Invite your team').click();
  await page.getByText('Invite someone').click();
  await page.getByLabel('Name or email').fill('a colleague');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('Copy this invitation link now').waitFor();
  await page.goto(demo.base_url);
  await page.locator('[data-metric=spend]').first().waitFor();
  assert.equal(await page.locator('.checklist').count(), 0);
});

test('resets a forgotten password from the command line while the service runs', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['src/cli/password-reset.ts', demo.owner.email],
    { cwd: ROOT, env: { ...process.env, STATE_DIR: service.stateDir } },
  );
  const [link = ''] = /http:\/\/localhost:\d+\/reset-password\/[\w-]{43}/.exec(stdout) ?? [];
  await page.context().clearCookies();
  await page.goto(link);
  await page.getByLabel('New password').fill('a brand new password');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.context().clearCookies();
  await signIn(page, demo, 'a brand new password');

  const wrong = promisify(execFile)(process.execPath, ['src/cli/password-reset.ts', 'nobody@x.test'], {
    cwd: ROOT,
    env: { ...process.env, STATE_DIR: service.stateDir },
  });
  await assert.rejects(wrong, /No member has the email nobody@x\.test/);
});
