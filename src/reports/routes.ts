import { Hono } from 'hono';
import { settleCounters } from '#counting';
import { database } from '#db';
import { type AppContext, type AppEnv, queryString, requireReportSlot, requireTeamToken } from '#http';
import { getApplication } from '#teams';
import { answerReport } from './answer.ts';
import { REPORTS, type Report, type ReportName } from './reports.ts';
import { tableColumns } from './table-columns.ts';

/** The caller's application, after its counters have been settled. Nothing is settled if the application is another team's. */
async function readyToReport(c: AppContext, applicationId: string) {
  const application = await getApplication(database(c.env.DB), c.get('team').id, applicationId);
  return { application, ...(await settleCounters(c.env, application)) };
}

export const reportRoutes = new Hono<AppEnv>();

for (const [name, report] of Object.entries(REPORTS) as [ReportName, Report][]) {
  const path = `/v1/reports/${name}`;
  reportRoutes.get(path, requireTeamToken, requireReportSlot, queryString(report.query), async (c) => {
    const query = c.req.valid('query');
    const subject = await readyToReport(c, query.application_id);
    const answer = await report.read(c.env, subject.application, query, Date.now());
    const columns = query.format === 'csv' ? await tableColumns(name, report.columnsOf(query)) : [];
    return answerReport(c, query.format, answer, columns, { ...query, ...subject });
  });
}
