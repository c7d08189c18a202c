import type { Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { PAGES_OF_ONE, PLAIN_PAGES } from '../helpers/dashboard-pages.ts';

export type Pictured = {
  /** Unique, and the picture's file name. */
  name: string;
  /** A path of the demo, or a whole URL. */
  address: string;
  /** What to do before the picture, which then shows the window instead of the whole page. */
  act?: (page: Page) => Promise<void>;
  /** Opened by someone who is not signed in. */
  isPublic?: boolean;
};

/** The addresses of the pages of one thing, by route. Leaves out those that nothing leads to. */
async function pagesOfOne(page: Page, baseUrl: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [route, { from, link }] of Object.entries(PAGES_OF_ONE)) {
    await page.goto(baseUrl + (found.get(from) ?? from));
    const links = page.locator('main').locator(link);
    const address = (await links.count()) > 0 ? await links.first().getAttribute('href') : null;
    if (address !== null) found.set(route, address);
  }
  return found;
}

/** `/creatives/:id` is `creatives-one`, `/ltv?group=creative&predict=90` is `ltv-creative`. */
function nameOf(route: string): string {
  const [path = '', query = ''] = route.split('?');
  const [first = ''] = new URLSearchParams(query).values();
  const parts = [...path.replaceAll(/:\w+/g, 'one').split('/'), ...first.split('/')];
  return parts.filter((part) => part !== '').join('-') || 'overview';
}

/** Opens the first visible one of some menus. */
const opens = (selector: string) => (page: Page) =>
  page.locator(selector).filter({ visible: true }).first().click();

/** The link that a form makes for people who are not signed in. */
async function newLink(page: Page, address: string, label: string): Promise<string> {
  await page.goto(address);
  if (label === 'Name or email') await page.getByText('Invite someone').click();
  await page.getByLabel(label).fill('Ann');
  await page.getByRole('button', { name: 'Create link' }).click();
  return page.locator('.notice code').innerText();
}

/** Every page, with the first of each thing that the lists lead to. */
export async function PAGES(page: Page, { base_url, application }: Demo): Promise<Pictured[]> {
  const found = await pagesOfOne(page, base_url);
  const shared = await newLink(
    page,
    `${base_url}/views?for=${encodeURIComponent('/breakdown?by=country')}`,
    'Recipient',
  );
  const invitation = await newLink(page, `${base_url}/settings/members`, 'Name or email');
  const nothing = 'from=2020-01-06&to=2020-01-12';
  return [
    ...PLAIN_PAGES.map((address) => ({ name: nameOf(address), address })),
    { name: 'campaigns', address: '/creatives?by=campaign' },
    { name: 'adsets', address: '/creatives?by=adset' },
    { name: 'creatives-returns', address: '/creatives?set=returns' },
    { name: 'creatives-filtered', address: '/creatives?country=DE&country=US&q=a' },
    { name: 'networks-shown', address: '/breakdown?by=network' },
    { name: 'breakdown-country', address: '/breakdown?by=country' },
    { name: 'retention-day', address: '/retention?cohort=day&group=country' },
    { name: 'steps', address: '/funnels?step=install&step=retention&step=ad&step=purchase&group=country' },
    { name: 'compare-country', address: '/compare?by=country' },
    {
      name: 'new-webhook',
      address: `/settings/destinations/new?app=${application.id}&kind=webhook`,
    },
    { name: 'not-found', address: '/nothing-here' },
    { name: 'docs', address: '/docs', isPublic: true },
    { name: 'sign-in', address: '/login', isPublic: true },
    { name: 'shared', address: shared, isPublic: true },
    { name: 'join', address: invitation, isPublic: true },
    { name: 'reset', address: '/reset-password/none', isPublic: true },
    { name: 'open-filters', address: '/', act: opens('.view-bar > summary, .add-filter > summary') },
    { name: 'open-columns', address: '/creatives', act: opens('.tabs-tools details summary') },
    { name: 'open-new-creative', address: '/creatives', act: opens('#new summary') },
    ...['overview', 'creatives', 'breakdown', 'ads', 'retention', 'ltv', 'funnels', 'costs', 'skan'].map(
      (name) => ({
        name: `${name}-empty`,
        address: `/${name === 'overview' ? '' : name}?${nothing}`,
      }),
    ),
    ...[...found].map(([route, address]) => ({ name: nameOf(route), address })),
  ];
}
