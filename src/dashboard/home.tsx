import { Hono } from 'hono';
import { atLeast } from '#members';
import { foldLog, readArrivals } from '#rollup';
import { Filters } from './filters.tsx';
import { GetStarted, NeedsApplication } from './get-started.tsx';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { Overview } from './overview.tsx';
import { renderPage } from './page.tsx';
import { readView } from './view.ts';

/** The overview is one of three, by the data itself: no application yet, waiting for its first event, or the numbers. */
export const homePages = new Hono<DashboardEnv>().get('/', requirePerson, async (c) => {
  const now = Date.now();
  const page = { title: 'Overview', current: '/' };
  const view = await readView(c, now);
  if (!view) {
    return renderPage(c, page, <NeedsApplication mayCreate={atLeast(c.get('person').role, 'admin')} />);
  }
  const arrivals = await readArrivals(c.env.DB, view.application.id);
  if (!arrivals.device && !arrivals.event) {
    const filters = <Filters view={view} path="/" shown={['app']} />;
    return renderPage(c, { ...page, view, filters }, GetStarted(c, view, arrivals));
  }
  await foldLog(c.env.DB, now);
  const filters = <Filters view={view} path="/" />;
  return renderPage(c, { ...page, view, filters }, await Overview(c.env.DB, view, now));
});
