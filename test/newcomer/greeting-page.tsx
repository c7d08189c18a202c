import { Hono } from 'hono';
import type { DashboardContext, DashboardEnv, PageRecord } from '../../src/dashboard/shell/page-record.ts';
import { renderReport } from '../../src/dashboard/shell/report.tsx';

/** A new page, which `changes.ts` adds to the list. */
export const greeting: PageRecord = {
  path: '/greeting',
  title: 'Greeting',
  opens: 'viewer',
  links: [{ group: 'Understand', icon: 'M2 2h12v12H2z', keepsView: true }],
  savable: true,
  routes: new Hono<DashboardEnv>().get('/', (c: DashboardContext) =>
    renderReport(c, {}, async ({ application }) => `Hello, ${application.name}`),
  ),
};
