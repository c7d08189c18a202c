import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn, watchFaults } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// Three months of 140 ads, which is more than one request takes, by the command and by the page. SCREENSHOTS=<folder> keeps pictures.

const SCREENSHOTS = process.env.SCREENSHOTS;
const ADS = 140;
const DAYS = 90;
const ROWS = ADS * DAYS;
const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 390, height: 844 };

let service: Service;
let demo: Demo;
let browser: Browser;
let page: Page;
let faults: string[];
let folder: string;

const dayOf = (index: number) => new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10);

/** A file that is sorted by ad, so that its days are mixed. `wrong`: the amount of its last row. */
async function writeMonths(name: string, heading: string, amount: string, wrong = amount): Promise<string> {
  // So long that the file has more bytes than one request takes.
  const long = 'Prospecting, lookalikes of payers '.repeat(7).trim();
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const day = dayOf(index % DAYS);
    const ad = Math.floor(index / DAYS);
    const last = index === ROWS - 1;
    return `${day},"Spring ${long}","${ad % 20} ${long}","Ad ${ad} ${long}",${last ? wrong : amount},1234,56`;
  });
  const file = path.join(folder, name);
  await writeFile(file, `${heading}\n${lines.join('\n')}\n`);
  return file;
}

const HEADING = 'date,campaign,adset,creative,amount,impressions,clicks';

const spend = async () => {
  const query = `application_id=${demo.application.id}&from=${dayOf(0)}&to=${dayOf(DAYS - 1)}`;
  const answer = await fetch(`${demo.base_url}/v1/reports/performance?${query}`, {
    headers: { [`${demo.service_name}-Token`]: demo.team_token ?? '' },
  });
  return ((await answer.json()) as { totals: { spend: number } }).totals.spend;
};

async function keepPicture(name: string, width = WIDE): Promise<void> {
  if (!SCREENSHOTS) return;
  await page.setViewportSize(width);
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
  await page.setViewportSize(WIDE);
}

async function choose(file: string): Promise<void> {
  await page.goto(`${demo.base_url}/costs`);
  await page.getByText('Upload costs', { exact: true }).first().click();
  await page.getByLabel('File').setInputFiles(file);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
}

const status = () => page.locator('[data-cost-upload] [role=status]');

before(async () => {
  service = await startService();
  ({ demo } = service);
  folder = await mkdtemp(path.join(tmpdir(), 'large-costs-'));
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: WIDE });
  faults = watchFaults(page);
  await signIn(page, demo);
});

after(async () => {
  await browser?.close();
  await service?.stop();
  await rm(folder, { recursive: true });
});

test('the command stores three months of 140 ads', async () => {
  const file = await writeMonths('months.csv', HEADING, '0.25');
  const { stdout } = await promisify(execFile)(process.execPath, ['src/cli/costs.ts', file], {
    env: { ...process.env, STATE_DIR: service.stateDir },
  });
  assert.match(stdout, new RegExp(`^${ROWS} rows stored;`, 'm'));
  assert.match(stdout, new RegExp(`^Spend: ${ROWS / 4} USD$`, 'm'));
  assert.equal(await spend(), ROWS / 4);
});

test('the page refuses a file with a wrong row as a whole', async () => {
  await choose(await writeMonths('wrong.csv', HEADING, '0.5', '99999999999'));
  await status().getByText('Nothing was stored.').waitFor({ timeout: 120_000 });
  assert.match((await status().textContent()) ?? '', new RegExp(`Line ${ROWS + 1}: amount `));
  assert.equal(await spend(), ROWS / 4);
  await keepPicture('costs-refused');
  await keepPicture('costs-refused-phone', NARROW);
});

test('the page says which days are stored when the service stops answering, and a repeat completes them', async () => {
  const file = await writeMonths('months.csv', HEADING, '0.5');
  let stored = 0;
  await page.route('**/costs/rows*', async (route) => {
    const isStored = route.request().postDataJSON().dry_run === false;
    if (isStored && ++stored > 3)
      return route.fulfill({ status: 400, json: { faults: [{ path: '', message: 'stopped' }] } });
    return route.continue();
  });
  await choose(file);
  await status()
    .getByText(/Storing/)
    .waitFor({ timeout: 120_000 });
  await keepPicture('costs-storing');
  await keepPicture('costs-storing-phone', NARROW);
  await status().getByText('Upload the file again to complete it.').waitFor({ timeout: 120_000 });
  const said = (await status().textContent()) ?? '';
  const [, rows = '', missing = ''] =
    /^Stored: 2025-01-01 to 2025-\S+ \(([\d,]+) rows\)\. Not stored: 2025-\S+ to 2025-03-31 \(([\d,]+) rows\)\.Reason: stopped/.exec(
      said,
    ) ?? [];
  const [done, left] = [rows, missing].map((text) => Number(text.replaceAll(',', '')));
  assert.equal((done ?? 0) + (left ?? 0), ROWS, said);
  await keepPicture('costs-broken');
  await keepPicture('costs-broken-phone', NARROW);
  assert.equal(await spend(), ROWS / 4 + (done ?? 0) * 0.25);
  faults.splice(0);
  await page.unroute('**/costs/rows*');
  await choose(file);
  await page.getByText(`${ROWS.toLocaleString('en')} rows stored`).waitFor({ timeout: 120_000 });
  assert.equal(await spend(), ROWS / 2);
});

test('the page asks once which column is which', async () => {
  const file = await writeMonths(
    'finnish.csv',
    'Päivä,Kampanja,Joukko,Mainos,Summa,Näytöt,Painallukset',
    '1',
  );
  await choose(file);
  await page.getByText('Which column is which?').waitFor({ timeout: 60_000 });
  for (const [label, heading] of Object.entries({
    Day: 'Päivä',
    Campaign: 'Kampanja',
    Amount: 'Summa',
    'Ad set': 'Joukko',
    Creative: 'Mainos',
  }))
    await page.getByLabel(label, { exact: true }).selectOption(heading);
  await keepPicture('costs-columns');
  await page.getByRole('button', { name: 'Remember' }).click();
  await page.getByText('Remembered. Upload the file again.').waitFor();
  faults.splice(0);
  await choose(file);
  // Its headings are known now.
  await status()
    .getByText(/Checking/)
    .waitFor({ timeout: 60_000 });
  assert.deepEqual(faults, []);
});
