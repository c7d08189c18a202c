import { Hono } from 'hono';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { renderPage } from './page.tsx';

export const homePages = new Hono<DashboardEnv>().get('/', requirePerson, (c) =>
  renderPage(c, { title: 'Overview', current: '/' }, <p class="empty">Nothing here yet.</p>),
);
