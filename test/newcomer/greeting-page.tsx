import { type DashboardContext, type PageRecord, pageRoutes } from '../../src/dashboard/shell/page-record.ts';
import { renderReport } from '../../src/dashboard/shell/report.tsx';

/** A new page, which `changes.ts` adds to the list. */
export const greeting: PageRecord = {
  path: '/greeting',
  title: 'Greeting',
  links: [{ group: 'Understand', icon: 'M2 2h12v12H2z' }],
  savable: true,
  routes: pageRoutes().get('/', (c: DashboardContext) =>
    renderReport(c, {}, async ({ application }) => `Hello, ${application.name}`),
  ),
};
