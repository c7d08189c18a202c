import { Hono } from 'hono';
import { database } from '#db';
import { type AppContext, type AppEnv, queryString, requireTeamToken } from '#http';
import { foldLog } from '#rollup';
import { getApplication } from '#teams';
import { PerformanceQuery, reportPerformance } from './performance.ts';
import { RetentionQuery, reportRetention } from './retention.ts';

/** The caller's application, with everything counted that the log holds: a report is never behind it. */
async function readyToReport(c: AppContext, applicationId: string) {
  const application = await getApplication(database(c.env.DB), c.get('team').id, applicationId);
  await foldLog(c.env.DB, Date.now());
  return application;
}

export const reportRoutes = new Hono<AppEnv>()
  .get('/v1/reports/performance', requireTeamToken, queryString(PerformanceQuery), async (c) => {
    const query = c.req.valid('query');
    const application = await readyToReport(c, query.application_id);
    return c.json(await reportPerformance(c.env.DB, application, query));
  })
  .get('/v1/reports/retention', requireTeamToken, queryString(RetentionQuery), async (c) => {
    const query = c.req.valid('query');
    const application = await readyToReport(c, query.application_id);
    return c.json(await reportRetention(c.env.DB, application, query, Date.now()));
  });
