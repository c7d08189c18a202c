import { settleCounters } from '#counting';
import { database } from '#db';
import { type Endpoint, EXAMPLE, endpoint, missing, requireReportSlot } from '#http';
import { isoOrNull } from '#lib/time';
import { getApplication } from '#teams';
import { answerCsv } from './answer-csv.ts';
import { REPORTS, type Report, type ReportName } from './reports.ts';
import { tableColumns } from './table-columns.ts';

const period = {
  application_id: EXAMPLE.application,
  from: EXAMPLE.from,
  to: EXAMPLE.to,
  format: 'json' as const,
};

/** The endpoints of `REPORTS`. */
export const reportEndpoints: Endpoint[] = (Object.keys(REPORTS) as ReportName[]).map((name) => {
  const report: Report = REPORTS[name];
  const { summary, description, answer, columnsOf } = report;
  const example = { ...period, ...report.example };
  const columns = tableColumns(name, columnsOf(example));
  return endpoint({
    method: 'get',
    path: `/v1/reports/${name}`,
    tag: 'Reports',
    summary,
    description: `${description} \`from\` and \`to\` are inclusive days in the application's time zone.`,
    credential: 'teamToken',
    query: { schema: report.query, example },
    answer: {
      description: 'The report. CSV has the same rows, and the other fields as headers.',
      schema: answer,
      more: { 'text/csv': `${columns.join(',')}\r\n` },
    },
    errors: missing('Application'),
    checks: [requireReportSlot],
    async handle(c, { query }) {
      // Nothing is settled if the application is another team's.
      const application = await getApplication(database(c.env.DB), c.get('team').id, query.application_id);
      const progress = await settleCounters(c.env, application);
      const read = await report.read(c.env, application, query, Date.now());
      if (query.format === 'csv') {
        return answerCsv(c, read, tableColumns(name, columnsOf(query)), {
          ...query,
          application,
          ...progress,
        });
      }
      const { countedThrough, uncounted } = progress;
      return { ...read, counted_through: isoOrNull(countedThrough), uncounted };
    },
  });
});
