import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn, violationsOf, watchFaults } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// Adding a passkey and signing in with it, with the virtual authenticator of Chromium.

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;
let faults: string[];

before(async () => {
  service = await startService();
  ({ demo } = service);
  browser = await launchBrowser();
  page = await browser.newPage();
  page.on('dialog', (dialog) => void dialog.accept());
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  faults = watchFaults(page);
  await signIn(page, demo);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Signs out from the person's menu. */
async function signOut(): Promise<void> {
  const menu = page.locator('details.who').filter({ visible: true }).first();
  await menu.locator('summary').click();
  await menu.getByRole('button', { name: 'Sign out' }).click();
}

test('adds a passkey with the password', async () => {
  await page.goto(`${demo.base_url}/settings/account`);
  await page.locator('#passkey > summary').click();
  await page.getByLabel('Name of the passkey').fill('Laptop');
  await page.getByLabel('Your password, to add it').fill('not the password');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Your password is incorrect.').waitFor();
  await page.getByLabel('Your password, to add it').fill(demo.owner.password ?? '');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Passkey added.').waitFor();
  await page.getByRole('cell', { name: 'Laptop' }).waitFor();
  assert.deepEqual(await violationsOf(page), []);
});

test('signs in with it, to where the person was going', async () => {
  await signOut();
  await page.goto(`${demo.base_url}/settings/account`);
  assert.deepEqual(await violationsOf(page), []);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('cell', { name: 'Laptop' }).waitFor();
});

test('does not sign in with a removed one, but still with the password', async () => {
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Passkey removed.').waitFor();
  await signOut();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('That passkey is not known here.').waitFor();
  await signIn(page, demo);
  // Answers with 400 are logged; nothing else is.
  assert.deepEqual(
    faults.filter((fault) => !fault.includes('400')),
    [],
  );
});

test('needs no JavaScript for the password', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(demo.base_url);
  assert.equal(await plain.getByRole('button', { name: 'Use a passkey' }).isVisible(), false);
  await signIn(plain, demo);
});
