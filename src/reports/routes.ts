import { Hono } from 'hono';
import { ALL_METRICS, metricsIn, PLAIN_METRICS } from '#catalogue';
import { settleCounters } from '#counting';
import { database } from '#db';
import { type AppContext, type AppEnv, queryString, requireReportSlot, requireTeamToken } from '#http';
import { getApplication } from '#teams';
import { AdsQuery, reportAds } from './ads.ts';
import { answerReport } from './answer.ts';
import type {
  Ads,
  ClientTotals,
  Compare,
  Funnel,
  Ltv,
  Performance,
  PredictedLtv,
  Retention,
} from './answers.ts';
import { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
import { LtvQuery, reportLtv } from './cohorts/ltv.ts';
import { PREDICTED_LTV_COLUMNS, PredictedLtvQuery, reportPredictedLtv } from './cohorts/predicted-ltv.ts';
import { RetentionQuery, reportRetention } from './cohorts/retention.ts';
import { CompareQuery, reportCompare } from './compare.ts';
import { earlierDays } from './earlier-days.ts';
import { FunnelQuery, reportFunnel } from './funnel.ts';
import { PerformanceQuery, reportPerformance, withOnly } from './performance.ts';

/** The caller's application, after its counters have been settled. Nothing is settled if the application is another team's. */
async function readyToReport(c: AppContext, applicationId: string) {
  const application = await getApplication(database(c.env.DB), c.get('team').id, applicationId);
  return { application, ...(await settleCounters(c.env, application)) };
}

const COHORT = ['cohort_from', 'cohort_to', 'creative', 'creative_id', 'size'];
const CLIENT_TOTALS = ['device_id', 'kind', 'currency', 'client_total', 'counted_total', 'gap'];
const FUNNEL = ['step', 'devices', 'from_first', 'from_previous', 'median_seconds'];
const COMPARE = [
  ...['metric', 'day', 'a_devices', 'a_count', 'a', 'b_devices', 'b_count', 'b'],
  ...['difference', 'low', 'high', 'p_value', 'test', 'unconverted'],
];
const ADS = metricsIn('rollup_ads', ALL_METRICS);

export const reportRoutes = new Hono<AppEnv>()
  .get(
    '/v1/reports/performance',
    requireTeamToken,
    requireReportSlot,
    queryString(PerformanceQuery),
    async (c) => {
      const query = c.req.valid('query');
      const subject = await readyToReport(c, query.application_id);
      const { metrics = PLAIN_METRICS } = query;
      const read = async (days: { from: string; to: string }) => {
        const asked = { ...query, ...days };
        const report = await reportPerformance(c.env, subject.application, asked, Date.now());
        return {
          ...report,
          data: report.data.map((row) => withOnly(row, metrics)),
          totals: withOnly(report.totals, metrics),
        };
      };
      const report = await read(query);
      const days = query.compare && earlierDays(query, query.compare);
      const { data, total_rows, totals, unconverted } = days ? await read(days) : report;
      const before = days && { before: { ...days, data, total_rows, totals, unconverted } };
      const columns = [...query.group_by, ...metrics];
      return answerReport<Performance>(c, query.format, { ...report, ...before }, columns, {
        ...query,
        ...subject,
      });
    },
  )
  .get(
    '/v1/reports/retention',
    requireTeamToken,
    requireReportSlot,
    queryString(RetentionQuery),
    async (c) => {
      const query = c.req.valid('query');
      const subject = await readyToReport(c, query.application_id);
      const report = await reportRetention(c.env, subject.application, query, Date.now());
      return answerReport<Retention>(
        c,
        query.format,
        report,
        [...COHORT, 'day', 'eligible', 'complete', 'active', 'classic', 'rolling'],
        {
          ...query,
          ...subject,
        },
      );
    },
  )
  .get('/v1/reports/ltv', requireTeamToken, requireReportSlot, queryString(LtvQuery), async (c) => {
    const query = c.req.valid('query');
    const subject = await readyToReport(c, query.application_id);
    const report = await reportLtv(c.env, subject.application, query, Date.now());
    return answerReport<Ltv>(
      c,
      query.format,
      report,
      [...COHORT, 'payback_day', 'day', 'eligible', 'complete', 'revenue', 'ltv', 'roas'],
      {
        ...query,
        ...subject,
      },
    );
  })
  .get('/v1/reports/funnel', requireTeamToken, requireReportSlot, queryString(FunnelQuery), async (c) => {
    const query = c.req.valid('query');
    const subject = await readyToReport(c, query.application_id);
    const report = await reportFunnel(c.env, subject.application, query);
    return answerReport<Funnel>(c, query.format, report, FUNNEL, {
      ...query,
      ...subject,
    });
  })
  .get('/v1/reports/compare', requireTeamToken, requireReportSlot, queryString(CompareQuery), async (c) => {
    const query = c.req.valid('query');
    const subject = await readyToReport(c, query.application_id);
    const report = await reportCompare(c.env, subject.application, query, Date.now());
    return answerReport<Compare>(c, query.format, report, COMPARE, {
      ...query,
      ...subject,
    });
  })
  .get(
    '/v1/reports/predicted-ltv',
    requireTeamToken,
    requireReportSlot,
    queryString(PredictedLtvQuery),
    async (c) => {
      const query = c.req.valid('query');
      const subject = await readyToReport(c, query.application_id);
      const report = await reportPredictedLtv(c.env, subject.application, query, Date.now());
      return answerReport<PredictedLtv>(c, query.format, report, PREDICTED_LTV_COLUMNS, {
        ...query,
        ...subject,
      });
    },
  )
  .get('/v1/reports/ads', requireTeamToken, requireReportSlot, queryString(AdsQuery), async (c) => {
    const query = c.req.valid('query');
    const subject = await readyToReport(c, query.application_id);
    const report = await reportAds(c.env, subject.application, query);
    return answerReport<Ads>(c, query.format, report, ['day', 'source', 'media_source', ...ADS], {
      ...query,
      ...subject,
    });
  })
  .get(
    '/v1/reports/client-totals',
    requireTeamToken,
    requireReportSlot,
    queryString(ClientTotalsQuery),
    async (c) => {
      const query = c.req.valid('query');
      const subject = await readyToReport(c, query.application_id);
      const report = await reportClientTotals(c.env, subject.application, query);
      return answerReport<ClientTotals>(c, query.format, report, CLIENT_TOTALS, {
        ...query,
        ...subject,
      });
    },
  );
