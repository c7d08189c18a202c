import { getCookie } from 'hono/cookie';
import { readArrivals } from '#counting';
import { database } from '#db';
import { inReportSlot } from '#http';
import { readChosen } from '../../charts/figures-panel.tsx';
import { readProgress, SETUP_COOKIE, SetupBar } from '../../shell/checklist.tsx';
import { readChips } from '../../shell/filter-names.ts';
import { Filters } from '../../shell/filters.tsx';
import { isAdmin, isGuest } from '../../shell/guard.ts';
import { NeedsApplication } from '../../shell/needs-application.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { settleView } from '../../shell/report.tsx';
import { readView, viewQuery } from '../../shell/view.ts';
import { GetStarted } from '../operate/get-started.tsx';
import { FiringAlerts } from './firing-alerts.tsx';
import { FIGURES, Overview } from './overview.tsx';

/** Depending on the data, the overview asks for an application, waits for its first event, or shows the figures. */
async function homePage(c: DashboardContext) {
  const view = await readView(c);
  if (!view) {
    return renderPage(c, {}, <NeedsApplication mayCreate={isAdmin(c)} />);
  }
  const arrivals = await readArrivals(c.env, view.application);
  if (!arrivals.device && !arrivals.event) {
    const filters = <Filters view={view} path="/" shown={[]} />;
    return renderPage(c, { view, filters }, await GetStarted(c, view, arrivals));
  }
  const settled = await settleView(c, view);
  const filters = (
    <Filters
      view={settled}
      path="/"
      carry={readChosen(c.req.query(), FIGURES).carry}
      chips={await readChips(c.env.DB, view)}
    />
  );
  const person = c.get('person');
  // The team's own business: what is left to set up, and its alerts.
  const forTeam = !isGuest(person);
  const alerts = forTeam ? await FiringAlerts(c.env.DB, view) : null;
  const overview = await Overview(c.env, settled, c.req.query(), alerts);
  const progress = await readProgress(database(c.env.DB), view.application, arrivals.event);
  return renderPage(
    c,
    {
      view: settled,
      filters,
      tools: forTeam && isAdmin(c) && (
        <a class="button quiet" href={`/alerts/new${viewQuery(view)}`}>
          New alert
        </a>
      ),
    },
    <>
      {forTeam && (
        <SetupBar
          view={view}
          progress={progress}
          person={person}
          isClosed={getCookie(c, SETUP_COOKIE) === 'closed'}
        />
      )}
      {overview}
    </>,
  );
}

export const home: PageRecord = {
  path: '/',
  title: 'Overview',
  links: [{ group: '', icon: 'M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z' }],
  savable: true,
  routes: pageRoutes().get('/', (c) => inReportSlot(c.get('person').team.id, () => homePage(c))),
};
