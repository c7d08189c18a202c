// Every page of the dashboard, for the tests in a browser and for pictures. A test compares the lists with the routes, so that a new page is
// in one of them.

/** The pages without parameters of their own. */
export const PLAIN_PAGES = [
  '/',
  '/creatives',
  '/breakdown?by=day&and=source',
  '/ads',
  '/skan',
  '/skan/schema',
  '/skan/apps',
  '/doubts',
  '/ad-revenue',
  '/networks',
  '/networks/tiktok',
  '/connectors',
  '/retention',
  '/ltv',
  '/ltv?group=creative&predict=90',
  '/funnels',
  '/compare',
  '/filters?kind=creative_id&back=/',
  '/search?q=cat',
  '/costs',
  '/costs/rates',
  '/alerts',
  '/alerts/new?metric=roas&condition=below&threshold=150&days=7&group_by=campaign&preview=30',
  '/notes',
  '/views?for=%2Fltv',
  '/debugger',
  '/status',
  '/get-started',
  '/settings/applications',
  '/settings/destinations',
  '/settings/destinations/new',
  '/settings/tokens',
  '/settings/members',
  '/settings/audit',
  '/settings/account',
  '/_styles',
];

/** The pages of one thing, by route: the route of a page that leads there, and its first link that does. */
export const PAGES_OF_ONE: Readonly<Record<string, { from: string; link: string }>> = {
  '/creatives/:id': { from: '/creatives', link: 'tbody a[href^="/creatives/crt_"]' },
  '/costs/row': { from: '/costs', link: 'a[href^="/costs/row?"]' },
  '/connectors/:id': { from: '/connectors', link: 'a[href^="/connectors/con_"]' },
  '/alerts/:id': { from: '/alerts', link: 'a[href^="/alerts/alr_"]' },
  '/alerts/:id/edit': { from: '/alerts/:id', link: 'a[href*="/edit?"]' },
  '/debugger/event': { from: '/debugger', link: 'tbody a[href^="/debugger/event?"]' },
  '/debugger/device': { from: '/debugger/event', link: 'a[href^="/debugger/device?"]' },
  '/settings/applications/:id': {
    from: '/settings/applications',
    link: 'a[href^="/settings/applications/app_"]',
  },
  '/settings/destinations/:id': {
    from: '/settings/destinations',
    link: 'a[href^="/settings/destinations/dst_"]',
  },
  '/settings/destinations/:id/deliveries/:event': {
    from: '/settings/destinations/:id',
    link: 'a[href*="/deliveries/evt_"]',
  },
};

/** The routes that the lists above leave out, and why. */
export const OTHER_ROUTES: Readonly<Record<string, string>> = {
  '/settings': 'leads to the applications',
  '/creatives/:id/clicks': 'a part of the page of a creative',
  '/get-started/steps': 'a part of the overview',
  '/get-started/status': 'a part of the first page',
  '/status/fresh': 'a part of every report',
  '/login': 'for people who are not signed in: access.ts',
  '/login/code': 'for people who are not signed in: access.ts',
  '/setup': 'for people who are not signed in: access.ts',
  '/join/:secret': 'for people who are not signed in: settings.ts',
  '/reset-password/:secret': 'for people who are not signed in: access.ts',
  '/shared/:secret': 'for people who are not signed in: settings.ts',
};
