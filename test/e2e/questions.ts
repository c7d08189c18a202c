import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn } from '../helpers/browser.ts';
import { type Service, simulate, startService } from '../helpers/service.ts';

// Follows docs/questions.md click by click, and reads each answer.

const MAX_CLICKS = 3;

const QUESTIONS = readFileSync(path.join(ROOT, 'docs/questions.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| question'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, question = '', clicks = '', address = '']) => ({
    question,
    clicks: clicks.split(' → '),
    address: address.replaceAll('`', ''),
  }));

/** A campaign that lost money last week, and a name that nothing has. */
const LOSING = { campaign: 'Video prospecting', adset: 'Broad 18-44', creative: 'Fail compilation' };
const UNMATCHED = 'Nowhere campaign';
const WEEK_MS = 7 * 86_400_000;

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;
let device: string;

before(async () => {
  service = await startService();
  ({ demo } = service);
  await simulate(service, { devices: 60, days: 20, seed: 5 });
  // A cost that states no country could be of each of them, and leaves what each returned unknown.
  const costs = [
    { ...LOSING, country: 'us' },
    { ...LOSING, country: 'de' },
    { campaign: UNMATCHED, country: 'us' },
  ].map((names) => ({
    ...{ date: new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10), currency: 'usd', amount: 900 },
    ...names,
  }));
  const stored = await fetch(`${demo.base_url}/v1/costs`, {
    method: 'PUT',
    headers: { [`${demo.service_name}-Token`]: demo.team_token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ application_id: demo.application.id, rows: costs }),
  });
  assert.equal(stored.status, 200);
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

/** The cells below a heading of a visible table, from the first row on. */
async function cellsBelow(heading: string): Promise<string[]> {
  const tables = page.locator('main table').filter({ visible: true });
  for (const table of await tables.all()) {
    const headings = await table.locator('thead th > span').allInnerTexts();
    const place = headings.findIndex((text) => text.replace(/ USD$/, '') === heading);
    if (place >= 0) return table.locator(`tbody tr > :nth-child(${place + 1})`).allInnerTexts();
  }
  return [];
}

const text = async (selector: string) =>
  (await page.locator(`main ${selector}`).filter({ visible: true }).first().innerText()).replaceAll(
    '\n',
    ' ',
  );
const first = async (heading: string) => (await cellsBelow(heading))[0] ?? '';
const any = async (heading: string) => (await cellsBelow(heading)).join(' | ');

/** What is read in answer to each question, and what it must be. */
const ANSWERS: Readonly<Record<string, readonly (readonly [read: () => Promise<string>, answer: RegExp])[]>> =
  {
    'What did we earn, and what did it cost?': [
      [() => text('[data-metric=revenue]'), /^\$\d/],
      [() => text('[data-metric=spend]'), /^\$\d/],
    ],
    'Did yesterday fall against the same weekday?': [
      [() => text('.figure:has([data-metric=revenue]) .pill'), /^([▲▼] [\d.,]+[%×]|\$[\d.]+ before)/],
    ],
    'Which creative should I scale?': [[() => any('ROAS day 7'), /\d%/]],
    'Which campaign lost money last week?': [
      [() => first('Campaign'), new RegExp(LOSING.campaign)],
      [() => first('Profit'), /^[-−]\$\d/],
    ],
    'Which campaign brings doubtful installs?': [[() => first('Doubtful share'), /^[\d.]+%$/]],
    'Which countries are worth their ads?': [
      [() => first('Country'), /^\w/],
      [() => any('ROAS'), /\d%/],
    ],
    'Which ad network pays most per impression?': [[() => first('eCPM'), /^\$\d/]],
    'How many people come back after a week?': [[() => any('Day 7'), /\d%/]],
    'When does an install pay for itself?': [[() => any('Paid back'), /Day \d|Not yet/]],
    'Where do people drop out?': [[() => any('Of previous step'), /^– \| [\d.]+% \| [\d.]+%$/]],
    'Is one creative better than another, or is it chance?': [
      [() => text('.verdict'), /is ahead in|No clear difference yet/],
    ],
    'What has this device spent?': [
      [() => text('.figure:has(dt:text-is("Ad revenue")) dd'), /^\$\d/],
      [() => text('.figure:has(dt:text-is("Net revenue")) dd'), /^[−-]?\$\d/],
    ],
    'Why is this device attributed as it is?': [
      [() => text('.card:has(h2:text-is("Attribution"))'), /confidence \d+(?:\.\d+)?%/],
    ],
    "Tell me when this campaign's ROAS falls below 50 %": [[() => text(''), /ROAS.* is below 50%/]],
    'Which costs match no campaign?': [[() => text('#names'), new RegExp(UNMATCHED)]],
    'Has the event that I sent arrived?': [[() => first('Status'), /^(Counted|Queued)$/]],
  };

test('has sixteen questions, each at most three clicks away', () => {
  assert.equal(QUESTIONS.length, 16);
  for (const { question, clicks } of QUESTIONS) assert.ok(clicks.length <= MAX_CLICKS, question);
  assert.deepEqual(
    QUESTIONS.map(({ question }) => question),
    Object.keys(ANSWERS),
  );
});

for (const { question, clicks, address } of QUESTIONS) {
  test(question, async () => {
    await page.goto(demo.base_url);
    for (const step of clicks) await click(step);
    const expected = new URL(address, demo.base_url);
    await page.waitForURL(
      (url) =>
        url.pathname === expected.pathname &&
        [...expected.searchParams].every(([name, value]) => url.searchParams.get(name) === value),
    );
    await page.waitForLoadState();
    for (const [read, answer] of ANSWERS[question] ?? []) assert.match(await read(), answer);
  });
}
