import type { Page } from 'playwright-core';

export type Pictured = {
  /** Unique, and the picture's file name. */
  name: string;
  address: string;
  /** What to do before the picture, which then shows the window instead of the whole page. */
  act?: (page: Page) => Promise<void>;
  /** Opened by someone who is not signed in. */
  isPublic?: boolean;
};

const linksOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((link) => link.getAttribute('href'))`,
  );

/** Every page, with the first creative and event that the lists lead to. */
export async function PAGES(page: Page, baseUrl: string): Promise<Pictured[]> {
  const firstOf = async (address: string, selector: string) => {
    await page.goto(baseUrl + address);
    return (await linksOf(page, selector))[0];
  };
  const creative = await firstOf('/creatives', 'main tbody a[href^="/creatives/crt_"]');
  const event = await firstOf('/debugger', 'main tbody a[href^="/debugger/event?"]');
  const application = await firstOf('/settings/applications', 'main a[href^="/settings/applications/app_"]');
  const device = event && (await firstOf(event, 'main a[href^="/debugger/device?"]'));
  const found: [string, string | undefined][] = [
    ['creative', creative],
    ['event', event],
    ['device', device],
    ['application', application],
  ];
  return [
    { name: 'overview', address: '/' },
    { name: 'creatives', address: '/creatives' },
    { name: 'campaigns', address: '/creatives?by=campaign' },
    { name: 'breakdown', address: '/breakdown?by=country' },
    { name: 'breakdown-day', address: '/breakdown?by=day' },
    { name: 'ads', address: '/ads' },
    { name: 'skan', address: '/skan' },
    { name: 'ad-revenue', address: '/ad-revenue' },
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
    { name: 'tokens', address: '/settings/tokens' },
    { name: 'members', address: '/settings/members' },
    { name: 'audit', address: '/settings/audit' },
    { name: 'account', address: '/settings/account' },
    { name: 'not-found', address: '/nothing-here' },
    { name: 'docs', address: '/docs' },
    { name: 'search', address: '/search?q=cat' },
    { name: 'parts', address: '/_styles' },
    { name: 'sign-in', address: '/login', isPublic: true },
    ...found.flatMap(([name, address]) => (address ? [{ name, address }] : [])),
  ];
}
