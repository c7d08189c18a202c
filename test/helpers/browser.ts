import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { PAGES_OF_ONE } from './dashboard-pages.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Debian's Chromium, which can reach nothing but this machine. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
    ],
  });
}

const FOUND_WITHIN_MS = 30_000;

/** The address of each page of one thing, by its route. Waits for what is still being counted or sent; throws if nothing leads to a page. */
export async function findPagesOfOne(page: Page, baseUrl: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [route, { from, link }] of Object.entries(PAGES_OF_ONE)) {
    const links = page.locator('main').locator(link);
    await page.goto(baseUrl + (found.get(from) ?? from));
    for (const deadline = Date.now() + FOUND_WITHIN_MS; (await links.count()) === 0; ) {
      if (Date.now() > deadline) throw new Error(`${from} does not lead to ${route}`);
      await page.reload();
    }
    found.set(route, (await links.first().getAttribute('href')) ?? '');
  }
  return found;
}

/** The errors and warnings that a page logs from now on. */
export function watchFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  return faults;
}

/** Signs in with the form and waits for the overview. */
export async function signIn(page: Page, demo: Demo, password = demo.owner.password ?? ''): Promise<void> {
  await page.goto(demo.base_url);
  await page.getByLabel('Email').fill(demo.owner.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

type Violation = { id: string; nodes: { html: string }[] };

/** Axe's rules about colours, of those that it asks by itself. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** The faults of accessibility that axe finds in a page. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, 'utf8'));
  return runAxe(page, {});
}

/** The faults in the other colour scheme of a page that `violationsOf` has examined: of the rules about colours, since nothing else depends on it. */
export async function violationsIn(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  return runAxe(page, { runOnly: OF_COLOURS });
}

/** The document of the API describes some hundred endpoints by the same parts, which take axe ten seconds: it is shown a tenth of them. */
const ALIKE = '.operation:not(:nth-of-type(10n + 1))';

async function runAxe(page: Page, options: { runOnly?: string[] }): Promise<string[]> {
  const how = JSON.stringify({ ...options, resultTypes: ['violations'], selectors: false });
  const found = await page.evaluate<{ violations: Violation[] }>(
    `axe.run({ exclude: [${JSON.stringify(ALIKE)}] }, ${how})`,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
