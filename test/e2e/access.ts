import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../src/cli/local-state.ts';
import { launchBrowser, violationsOf } from '../helpers/browser.ts';
import { startEmptyService } from '../helpers/service.ts';
import { codeOf } from '../helpers/totp.ts';

// The pages of people who are not signed in, in a real browser: the first owner, the second step of signing in, and a forgotten password.

const EMAIL = 'ann@team.test';
const PASSWORD = 'a long enough password';
const SIZES = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

let service: Awaited<ReturnType<typeof startEmptyService>>;
let browser: Browser;
let page: Page;

before(async () => {
  service = await startEmptyService();
  browser = await launchBrowser();
  page = await browser.newPage();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Checks the page that is open, wide and on a phone, light and dark. */
async function assertAccessible(): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [name, size] of Object.entries(SIZES)) {
      await page.setViewportSize(size);
      const where = `${page.url()}, ${colorScheme}, ${name}`;
      assert.deepEqual(await violationsOf(page), [], where);
      const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      assert.equal(await page.evaluate(tooWide), false, `${where} is wider than the screen`);
    }
  }
}

const overview = () => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

async function enterPassword(): Promise<void> {
  await page.context().clearCookies();
  await page.goto(service.baseUrl);
  await page.getByLabel('Email').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('creates the team and its owner', async () => {
  await page.goto(service.baseUrl);
  await page.waitForURL(/\/setup$/);
  await assertAccessible();
  await page.getByLabel('Team').fill('My team');
  await page.getByLabel('Your name').fill('Ann');
  await page.getByLabel('Email').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create team' }).click();
  await overview();
  await assertAccessible();
});

test('asks for a code of the authenticator app', async () => {
  await page.goto(`${service.baseUrl}/settings/account`);
  await page.locator('#app > summary').click();
  await page.getByLabel('Your password', { exact: true }).fill(PASSWORD);
  await page.locator('#app').getByRole('button').click();
  const key = await page.locator('.notice code').first().innerText();
  await assertAccessible();
  await page.getByRole('textbox', { name: 'Code' }).fill(await codeOf(key));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('Signing in takes your password and a code').waitFor();
  await enterPassword();
  await page.waitForURL(/\/login\/code/);
  await assertAccessible();
});

test('sets a forgotten password with the link that the command line makes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/cli/password-reset.ts', EMAIL], {
    cwd: ROOT,
    env: { ...process.env, STATE_DIR: service.stateDir },
  });
  const [path = ''] = /\/reset-password\/[\w-]{43}/.exec(stdout) ?? [];
  await page.context().clearCookies();
  await page.goto(service.baseUrl + path);
  await page.getByLabel('New password').waitFor();
  await assertAccessible();
  await page.goto(`${service.baseUrl}/login`);
  await assertAccessible();
});
