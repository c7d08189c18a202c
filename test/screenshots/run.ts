import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser, signIn } from '../helpers/browser.ts';
import { addThings } from '../helpers/dashboard-things.ts';
import { simulate, startEmptyService, startService } from '../helpers/service.ts';
import { PAGES, type Pictured } from './pages.ts';

const USAGE = `Usage: npm run screenshots -- [--out FOLDER] [--only TEXT] [--looks NAME,…] [--state FOLDER] [--docs]

Takes a picture of every page of the dashboard with two months of simulated data: on a wide screen and a phone, light and dark. FOLDER
is .wrangler/screenshots by default. --only takes the pages whose name contains TEXT. --state uses a running \`npm start\` with this
STATE_DIR instead of starting one. --docs renews the README's pictures instead.`;

const LOOKS: Record<string, BrowserContextOptions> = {
  'wide-light': { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  'wide-dark': { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 2 },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark', deviceScaleFactor: 2 },
};
const DOCS_IMAGES = path.join(ROOT, 'docs/images');

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: path.join(ROOT, '.wrangler/screenshots') },
    only: { type: 'string', default: '' },
    looks: { type: 'string', default: Object.keys(LOOKS).join() },
    state: { type: 'string' },
    docs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Opens a page as someone who has not signed in, or as the owner, and waits until it has drawn everything. */
async function open(page: Page, address: string): Promise<void> {
  const answer = await page.goto(address, { waitUntil: 'networkidle' });
  if (answer && answer.status() >= 500) throw new Error(`${address} answers ${answer.status()}`);
  await page.evaluate('document.fonts.ready');
}

async function picturesOf(browser: Browser, demo: Demo): Promise<void> {
  const first = await browser.newPage();
  await signIn(first, demo);
  const storageState = await first.context().storageState();
  await mkdir(values.out, { recursive: true });
  const empty = await startEmptyService();
  const pages: Pictured[] = [
    ...(await PAGES(first, demo)),
    { name: 'setup', address: `${empty.baseUrl}/setup`, isPublic: true },
  ].filter(({ name }) => name.includes(values.only));
  for (const [look, options] of Object.entries(LOOKS)) {
    if (!values.looks.split(',').includes(look)) continue;
    const owner = await (await browser.newContext({ ...options, storageState })).newPage();
    const visitor = await (await browser.newContext(options)).newPage();
    for (const { name, address, act, isPublic } of pages) {
      const page = isPublic ? visitor : owner;
      await open(page, new URL(address, demo.base_url).href);
      await act?.(page);
      await page.screenshot({ path: path.join(values.out, `${name}-${look}.png`), fullPage: !act });
    }
    await owner.context().close();
    await visitor.context().close();
  }
  await empty.stop();
}

/** The pictures at the top of the README: the overview, at twice the size for sharp screens. */
async function picturesOfDocs(browser: Browser, demo: Demo): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      colorScheme,
      deviceScaleFactor: 2,
    });
    await signIn(page, demo);
    await open(page, `${demo.base_url}/`);
    await page.screenshot({ path: path.join(DOCS_IMAGES, `overview-${colorScheme}.png`) });
    await page.context().close();
  }
}

async function withService(use: (demo: Demo) => Promise<void>): Promise<void> {
  if (values.state !== undefined) {
    return use(JSON.parse(await readFile(path.join(values.state, 'demo.json'), 'utf8')));
  }
  const service = await startService();
  const receiver = await addThings(service.demo);
  try {
    await simulate(service, { devices: 1_500, days: 60 });
    await use(service.demo);
  } finally {
    await service.stop();
    receiver.close();
  }
}

if (values.help) {
  console.log(USAGE);
} else {
  await withService(async (demo) => {
    const browser = await launchBrowser();
    try {
      await (values.docs ? picturesOfDocs : picturesOf)(browser, demo);
    } finally {
      await browser.close();
    }
  });
}
