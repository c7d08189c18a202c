import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn, violationsOf } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// Alerts, share links, invitations and mistyped addresses, in a real browser on a dark phone.

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;
/** Someone who is not signed in. */
let stranger: Page;

const newPage = async (): Promise<Page> => {
  const context: BrowserContext = await browser.newContext(PHONE);
  return context.newPage();
};

before(async () => {
  service = await startService();
  ({ demo } = service);
  browser = await launchBrowser();
  [page, stranger] = [await newPage(), await newPage()];
  await signIn(page, demo);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function assertFits(shown: Page): Promise<void> {
  assert.deepEqual(await violationsOf(shown), [], shown.url());
  const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  assert.equal(await shown.evaluate(tooWide), false, `${shown.url()} is wider than the screen`);
}

test('shows a mistyped address in the frame, and its way home', async () => {
  const answer = await page.goto(`${demo.base_url}/dashboard/nope`);
  assert.equal(answer?.status(), 404);
  await page.getByText('Page not found.').waitFor();
  await page.getByText('Menu').waitFor();
  await assertFits(page);
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  assert.equal((await stranger.goto(`${demo.base_url}/dashboard/nope`))?.status(), 404);
  await assertFits(stranger);
  await stranger.getByRole('link', { name: 'Go to the sign-in' }).click();
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('adds an alert that shows only the fields of its condition, and a channel with a digest', async () => {
  await page.goto(`${demo.base_url}/alerts`);
  await page.getByRole('link', { name: 'New alert' }).click();
  await page.getByLabel('Compared with').waitFor({ state: 'hidden' });
  await page.getByLabel('Condition').selectOption({ label: 'Falls by more than' });
  await page.getByLabel('Compared with').waitFor();
  await page.getByLabel('What').selectOption({ label: 'No events arrive for …' });
  for (const hidden of ['Condition', 'Compared with', 'Over full days', 'For each'])
    await page.getByLabel(hidden).waitFor({ state: 'hidden' });
  await page.getByLabel('What').selectOption({ label: 'CPI' });
  await page.getByLabel('Condition').selectOption({ label: 'Is above' });
  await page.getByLabel('Threshold').fill('3.5');
  await assertFits(page);
  await page.getByRole('button', { name: 'Create alert' }).click();
  await page.getByRole('link', { name: 'CPI over the last 7 days is above $3.50' }).click();
  await page.getByText('It has not fired yet.').waitFor();
  await assertFits(page);
  await page.getByRole('link', { name: 'Alerts', exact: true }).first().click();
  await page.getByText('New channel').click();
  await page.getByLabel('Address').fill('https://hooks.example.com/services/T/B/x');
  await page.getByLabel('Digest').selectOption({ label: 'Weekly' });
  await page.getByRole('button', { name: 'Add channel' }).click();
  await page.getByRole('cell', { name: /^Weekly\s+Next/ }).waitFor();
  await assertFits(page);
});

test('shares a view with someone who has no account', async () => {
  await page.goto(`${demo.base_url}/ltv?period=7d&country=de`);
  await page.getByRole('link', { name: 'Save or share' }).click();
  await page.getByLabel('Recipient').fill('The board');
  await page.getByLabel('Expires after').selectOption({ label: '1 day' });
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('Copy this link now.').waitFor();
  await assertFits(page);
  await stranger.goto(await page.locator('.notice code').innerText());
  await stranger.getByText(/^Demo game · Last 7 days, .+ – .+ · 1 filter$/).waitFor();
  await stranger.getByText('Read-only view.').waitFor();
  assert.equal(await stranger.getByRole('link').count(), 0);
  await assertFits(stranger);
});

test('lets an invited colleague join, and keeps the form when the email is taken', async () => {
  await page.goto(`${demo.base_url}/settings/members`);
  await page.getByText('Invite someone').click();
  await page.getByLabel('Name or email').fill('Ann');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('Copy this invitation link now').waitFor();
  await stranger.goto(await page.locator('.notice code').innerText());
  await stranger.getByText('You are invited to join as Viewer.').waitFor();
  await stranger.getByLabel('Your name').fill('Ann');
  await stranger.getByLabel('Email').fill(demo.owner.email);
  await stranger.getByLabel('Password').fill('a long enough password');
  await stranger.getByRole('button', { name: 'Join' }).click();
  await stranger.getByText('Email has an account already').waitFor();
  await assertFits(stranger);
  await stranger.getByLabel('Email').fill('ann@team.test');
  await stranger.getByLabel('Password').fill('a long enough password');
  await stranger.getByRole('button', { name: 'Join' }).click();
  await stranger.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await stranger.goto(`${demo.base_url}/settings/members`);
  await stranger.getByText('Only the role Admin or above may do this').waitFor();
  await assertFits(stranger);
});

test('offers the time zones and currencies that the browser knows', async () => {
  await page.goto(`${demo.base_url}/settings/applications`);
  await page.getByRole('link', { name: 'Demo game' }).click();
  await page.getByRole('heading', { name: 'Demo game', level: 1 }).waitFor();
  for (const [list, value] of [
    ['time-zones', 'Europe/Berlin'],
    ['currencies', 'EUR'],
  ]) {
    assert.equal(await page.locator(`#${list} option[value="${value}"]`).count(), 1, list);
  }
  await assertFits(page);
});
