import type { Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { PAGES_OF_ONE } from '../helpers/dashboard-pages.ts';

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

/** `/creatives/:id` is `creatives-one`. */
const nameOf = (route: string) => route.slice(1).replaceAll(/:\w+/g, 'one').replaceAll('/', '-');

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
    { name: 'overview', address: '/' },
    { name: 'creatives', address: '/creatives' },
    { name: 'campaigns', address: '/creatives?by=campaign' },
    { name: 'breakdown', address: '/breakdown?by=country' },
    { name: 'breakdown-day', address: '/breakdown?by=day' },
    { name: 'ads', address: '/ads' },
    { name: 'skan', address: '/skan' },
    { name: 'skan-schema', address: '/skan/schema' },
    { name: 'doubts', address: '/doubts' },
    { name: 'ad-revenue', address: '/ad-revenue' },
    { name: 'connectors', address: '/connectors' },
    { name: 'retention', address: '/retention' },
    { name: 'ltv', address: '/ltv' },
    { name: 'ltv-predicted', address: '/ltv?group=creative&predict=90' },
    { name: 'funnels', address: '/funnels?step=install&step=retention&step=ad&step=purchase' },
    { name: 'compare', address: '/compare?by=creative' },
    { name: 'costs', address: '/costs' },
    { name: 'rates', address: '/costs/rates' },
    { name: 'alerts', address: '/alerts' },
    {
      name: 'new-alert',
      address: '/alerts/new?metric=roas&condition=below&threshold=150&days=7&group_by=campaign&preview=30',
    },
    { name: 'notes', address: '/notes' },
    { name: 'views', address: '/views' },
    { name: 'debugger', address: '/debugger' },
    { name: 'health', address: '/status' },
    { name: 'get-started', address: '/get-started' },
    { name: 'applications', address: '/settings/applications' },
    { name: 'destinations', address: '/settings/destinations' },
    { name: 'new-destination', address: '/settings/destinations/new' },
    {
      name: 'new-webhook',
      address: `/settings/destinations/new?app=${application.id}&kind=webhook`,
    },
    { name: 'filter-values', address: '/filters?kind=creative_id&back=/' },
    { name: 'tokens', address: '/settings/tokens' },
    { name: 'members', address: '/settings/members' },
    { name: 'audit', address: '/settings/audit' },
    { name: 'account', address: '/settings/account' },
    { name: 'not-found', address: '/nothing-here' },
    { name: 'docs', address: '/docs' },
    { name: 'search', address: '/search?q=cat' },
    { name: 'parts', address: '/_styles' },
    { name: 'sign-in', address: '/login', isPublic: true },
    { name: 'shared', address: shared, isPublic: true },
    { name: 'join', address: invitation, isPublic: true },
    ...['overview', 'creatives', 'breakdown', 'ads', 'retention', 'ltv', 'funnels', 'costs', 'skan'].map(
      (name) => ({
        name: `${name}-empty`,
        address: `/${name === 'overview' ? '' : name}?${nothing}`,
      }),
    ),
    ...[...found].map(([route, address]) => ({ name: nameOf(route), address })),
  ];
}
