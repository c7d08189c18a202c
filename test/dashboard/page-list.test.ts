import { expect, it } from 'vitest';
import { dashboard, pageRoute } from '../../src/dashboard/app.tsx';
import { OTHER_ROUTES, PAGES_OF_ONE, PLAIN_PAGES } from '../helpers/dashboard-pages.ts';

it('has every route of the dashboard among the pages that browsers open, or says why not', () => {
  const routes = dashboard.routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
  const plain = PLAIN_PAGES.map((address) => pageRoute(new URL(address, 'https://dash.test').pathname));
  const listed = [...new Set(plain), ...Object.keys(PAGES_OF_ONE), ...Object.keys(OTHER_ROUTES)];
  expect(listed.sort()).toEqual([...new Set(routes)].sort());
});
