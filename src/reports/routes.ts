import type * as z from 'zod';
import {
  ALL_METRICS,
  HOURLY_METRICS,
  HOURS_KEPT_DAYS,
  METRICS,
  type Metric,
  PLAIN_METRICS,
} from '#catalogue';
import { settleCounters } from '#counting';
import { type Endpoint, EXAMPLE, endpoint, missing, requireReportSlot } from '#http';
import { type DayRange, isoOrNull } from '#lib/time';
import { ownApplication } from '#teams';
import { AdsQuery, reportAds } from './ads.ts';
import { answerCsv } from './answer-csv.ts';
import type { fresh } from './answer-fields.ts';
import {
  Ads,
  ClientTotals,
  Compare,
  Doubts,
  Funnel,
  Ltv,
  Performance,
  PredictedLtv,
  Retention,
} from './answers.ts';
import { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
import { LtvQuery, reportLtv } from './cohorts/cohort-ltv.ts';
import { PredictedLtvQuery, reportPredictedLtv } from './cohorts/predicted-ltv.ts';
import { RetentionQuery, reportRetention } from './cohorts/retention.ts';
import { CompareQuery, reportCompare } from './compare.ts';
import { columnsOf, type DimensionName } from './dimensions.ts';
import { DOUBT_RULE_COLUMNS, DOUBTED_GROUP_COLUMNS, DoubtsQuery, reportDoubts } from './doubts/doubts.ts';
import { earlierDays } from './earlier-days.ts';
import { FunnelQuery, reportFunnel } from './funnel.ts';
import { PerformanceQuery, reportPerformance } from './performance.ts';
import type { Reported } from './query.ts';
import { columnsInTable } from './table-columns.ts';

/** A query of any report. */
type AnyQuery = z.ZodObject &
  z.ZodType<{ application_id: string; from: string; to: string; format: 'json' | 'csv' }>;
type AnyAnswer = z.ZodObject<{ data: z.ZodArray<z.ZodObject> } & typeof fresh>;

/** What a report's endpoint, its documentation and its CSV are made of. */
export type Report<Query extends AnyQuery = AnyQuery, Answer extends AnyAnswer = AnyAnswer> = {
  summary: string;
  description: string;
  query: Query;
  /** An example of each parameter that not every report has. */
  example: Partial<Record<keyof z.input<Query>, unknown>>;
  answer: Answer;
  /** The columns that its rows have only if they are asked for, in their order. */
  columnsOf(query: z.output<Query>): readonly string[];
  /** Answers as documented. How fresh the answer is, the endpoint adds. */
  read(
    env: Env,
    application: Reported,
    query: z.output<Query>,
    now: number,
  ): Promise<Omit<z.input<Answer>, 'counted_through' | 'uncounted'>>;
};

const define = <Query extends AnyQuery, Answer extends AnyAnswer>(report: Report<Query, Answer>) => report;

type GroupedQuery = { group_by?: DimensionName | undefined };
const ofGroup = ({ group_by: group }: GroupedQuery) => columnsOf(group ? [group] : []);
/** Cohorts without a grouping have the columns of one by creative. */
const ofCohort = ({ group_by: group = 'creative' }: GroupedQuery) => columnsOf([group]);

/** A row or totals with these metrics only. */
function withOnly<Row extends object>(row: Row, metrics: readonly Metric[]): Partial<Row> {
  const dropped = new Set<string>(PLAIN_METRICS.filter((name) => !metrics.includes(name)));
  return Object.fromEntries(Object.entries(row).filter(([name]) => !dropped.has(name))) as Partial<Row>;
}

const rest =
  'A report has at most `limit` rows: the latest days, weeks or months, and within each the largest groups by revenue, impressions and other counts. The last row, with `is_other`, sums up all other groups, so that the rows add up to the totals.';

const cohortRest =
  'A report has at most `limit` cohorts: the latest, then the largest. The last row, with `is_other`, sums up all others.';

const money =
  'Amounts are in `currency` or, by default, in the reporting currency of the application, converted with the exchange rates of their days. Amounts that cannot be converted are left out of the figures and listed in `unconverted`: of a row what that row lacks, of the report all of them. If an amount is so large that a JSON number may round it, a field with the suffix `_exact` contains the exact amount as a decimal string.';

const hours = `With \`group_by=hour\`, each row is an hour of the clock in the application's time zone, such as \`2026-11-01T01:00:00-04:00\`. When clocks are set back, an hour comes twice, with different offsets. \`until_hour\` ends the last day of the report at this hour of the clock (1 to 23): with \`from\` and \`to\` the same day and \`until_hour=9\`, a report covers 00:00 to 09:00, to be compared with the same part of another day. Both are available for the last ${HOURS_KEPT_DAYS} days and today, and can be combined with creative, adset, campaign and currency and with the filters of creatives and attribution, but not with \`country\`, \`os\` or \`app_version\`. An event that arrives more than ${HOURS_KEPT_DAYS} days late counts in its day but in no hour. Devices count once a day, costs are daily and a refund changes the day of its purchase, so ${ALL_METRICS.filter((name) => !HOURLY_METRICS.includes(name)).join(', ')} are null.`;

const definitions = Object.entries(METRICS)
  .map(([name, { definition, source }]) => `- \`${name}\`: ${definition} (${source})`)
  .join('\n');

/** The reports by the last part of their path. */
export const REPORTS = {
  performance: define({
    summary: 'Performance by day, creative, country and other dimensions',
    description: `${money} Missing counts are 0. Metrics that a grouping cannot provide, and ratios with a zero denominator, are null. A cost that names no ad set or creative is in the totals but in no row by ad set or creative. One whose name the application does not have is in a row with that name, without an id. ${rest} With \`q\`, only groups with this text in one of their names have a row; \`Germany\` finds \`de\`, and \`Unity Ads\` finds \`unityads\`.\n\nWith \`metrics\`, only these are in the answer. Metrics by day since the install, such as \`roas_d7\`, are of the devices acquired in the days of the row, and in the answer only if they are named. Only devices for which the day is over count: \`incomplete_days\` of a row has the days that are not over for all of them, and a metric is null if the day is over for none.\n\n${hours}\n\n${definitions}\n\n`,
    query: PerformanceQuery,
    example: {
      group_by: ['day', 'source'],
      metrics: ['ad_revenue', 'ecpm'],
      currency: 'usd',
      limit: 1000,
      q: 'rewarded',
    },
    answer: Performance,
    columnsOf: ({ group_by, metrics = PLAIN_METRICS }) => [...columnsOf(group_by), ...metrics],
    async read(env, application, query, now) {
      const { metrics = PLAIN_METRICS } = query;
      const readDays = async (days: DayRange) => {
        const report = await reportPerformance(env, application, { ...query, ...days }, now);
        return {
          ...report,
          data: report.data.map((row) => withOnly(row, metrics)),
          totals: withOnly(report.totals, metrics),
        };
      };
      const report = await readDays(query);
      const days = query.compare && earlierDays(query, query.compare);
      if (!days) return report;
      const { data, total_rows, totals, unconverted } = await readDays(days);
      return { ...report, before: { ...days, data, total_rows, totals, unconverted } };
    },
  }),
  retention: define({
    summary: 'Retention by cohort',
    description: `How many of the devices acquired from \`from\` to \`to\` came back. Cohorts are days, weeks, months or the whole period. Only devices whose day N is over count for day N. ${cohortRest}`,
    query: RetentionQuery,
    example: { days: '0,1,7', cohort: 'week', group_by: 'campaign', limit: 1000 },
    answer: Retention,
    columnsOf: ofCohort,
    read: reportRetention,
  }),
  ltv: define({
    summary: 'Lifetime value and return on ad spend by cohort',
    description: `Revenue from day 0 to day N, per device and relative to spend, for the same cohorts as retention. Each day since the acquisition counts with the devices for which it is over, so no curve falls while a cohort is young. By campaign, ad set or creative, spend without such a name, or with one that the application does not have, is in no cohort. ${cohortRest} ${money}`,
    query: LtvQuery,
    example: { days: '0,7,30', cohort: 'all', group_by: 'creative', currency: 'usd', limit: 1000 },
    answer: Ltv,
    columnsOf: ofCohort,
    read: reportLtv,
  }),
  funnel: define({
    summary: 'Funnel',
    description:
      'How many of the devices acquired from `from` to `to` reach each step, and how long they take. A device reaches a step with its earliest event of that kind at or after the previous step, within `window_hours` of the first step. Events within one second of each other count as in order. A step may stand several times: `purchase,purchase` is the second purchase. Write a comma in an event name as `%2C`. With `group_by`, each group has its own funnel, largest group first; all groups beyond the largest are in one row.',
    query: FunnelQuery,
    example: { steps: 'install,event:level_up,ad,purchase', window_hours: 72, group_by: 'country' },
    answer: Funnel,
    columnsOf: ofGroup,
    read: reportFunnel,
  }),
  compare: define({
    summary: 'Compare two groups of devices',
    description:
      'Compares the retention, conversion and revenue per device of two creatives, ad sets, campaigns, countries, operating systems or app versions at acquisition (`a` and `b`, by id or value), or of two acquisition periods (`from` to `to`, and `b_from` to `b_to`). Only devices whose day N is over count for day N. Each difference is b - a, with a 95 % confidence interval and a p-value. With `net`, revenue is without refunds and the fee of stores. Choose the day and the metric before you look: on average, one in twenty comparisons has p < 0.05 by chance alone.',
    query: CompareQuery,
    example: { by: 'os', a: 'android', b: 'ios', days: '1,7,30', currency: 'usd' },
    answer: Compare,
    columnsOf: () => [],
    read: reportCompare,
  }),
  'predicted-ltv': define({
    summary: 'Predicted lifetime value by cohort',
    description: `The revenue of each cohort so far, and what the same devices are expected to bring in the next \`horizon_days\` days, from purchases, from ads and together, with 95 % intervals. Repeat purchases: the BG/NBD model (Fader, Hardie, Lee 2005) predicts how often devices that have purchased do so again, and the Gamma-Gamma model (Fader, Hardie 2013) how much they spend. First purchases: an exponential-gamma model (Hardie, Fader, Wisniewski 1998) predicts how many of the other devices begin. Purchases on the same day count as one. Ads: the share of devices that are active on a day, a power of their age fitted by quasi-Poisson regression, × the revenue per active day. All is fitted to each cohort alone. The intervals cover parameter uncertainty (delta method) and chance, but not changes to the app, its prices or its offers. With \`as_of\`, nothing after that day is used, so that a prediction can be compared with what came. With \`net\`, purchases are without the stores' fee and without the share of the cohort's purchases that has been refunded by now, so far and ahead. Without enough data, a prediction is null and \`reason\` or \`ads_reason\` says why. At most 500 groups of a counter are counted for themselves, those of the latest cohorts and the largest of each; all others are in \`other\`. ${cohortRest}`,
    query: PredictedLtvQuery,
    example: { cohort: 'month', group_by: 'os', horizon_days: 90, currency: 'usd', limit: 20 },
    answer: PredictedLtv,
    columnsOf: ofGroup,
    read: reportPredictedLtv,
  }),
  ads: define({
    summary: 'Ad revenue, eCPM and fill rate by day, format and network',
    description: `With \`group_by\`, each row is of one creative, ad set, campaign, country, operating system or app version too. The app version is the one that an event was sent by, the country and the operating system those of the device at its acquisition. ${money} ${rest} With \`q\`, only rows with this text in one of their names are shown.`,
    query: AdsQuery,
    example: { group_by: 'country', currency: 'usd', limit: 1000, q: 'banner' },
    answer: Ads,
    columnsOf: ofGroup,
    read: reportAds,
  }),
  doubts: define({
    summary: 'Doubtful installs by rule, gross and net',
    description:
      'Asks the rules of `fraud_rules` again about the attributed installs of devices acquired from `from` to `to`, with the settings of now. So a changed threshold tells at once what it would have meant. `doubted_installs` of the performance report stay what they were when the installs came, and so does what was excluded then. Erased devices are in no figure. With `group_by`, each row is of one creative, ad set, campaign, country, operating system or network instead of one rule: that which the install would count for if no rule excluded it.',
    query: DoubtsQuery,
    example: { creative_id: EXAMPLE.creative },
    answer: Doubts,
    columnsOf: ({ group_by: group }) => [
      ...ofGroup({ group_by: group }),
      ...(group ? DOUBTED_GROUP_COLUMNS : DOUBT_RULE_COLUMNS),
    ],
    read: reportDoubts,
  }),
  'client-totals': define({
    summary: 'Compare client totals with counted totals',
    description:
      'Compares the `total_ad_value` and `total_purchase_value` that clients report with the revenue counted for the same devices, acquired from `from` to `to`. A positive gap is revenue that never arrived. A negative gap is revenue sent twice without a key.',
    query: ClientTotalsQuery,
    example: {},
    answer: ClientTotals,
    columnsOf: () => [],
    read: reportClientTotals,
  }),
};
export type ReportName = keyof typeof REPORTS;

/** The columns of a report's CSV; `asked`: see `Report.columnsOf`. */
export const tableColumns = (name: ReportName, asked: readonly string[]): string[] =>
  columnsInTable(REPORTS[name].answer.shape.data.element.shape, asked);

const period = {
  application_id: EXAMPLE.application,
  from: EXAMPLE.from,
  to: EXAMPLE.to,
  format: 'json' as const,
};

/** The endpoints of `REPORTS`. */
export const reportEndpoints: Endpoint[] = (Object.keys(REPORTS) as ReportName[]).map((name) => {
  const report: Report = REPORTS[name];
  const { summary, description, answer } = report;
  const example = { ...period, ...report.example };
  const columns = tableColumns(name, report.columnsOf(example));
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
      const application = await ownApplication(c, query.application_id);
      const progress = await settleCounters(c.env, application);
      const read = await report.read(c.env, application, query, Date.now());
      if (query.format === 'csv') {
        return answerCsv(c, read, tableColumns(name, report.columnsOf(query)), {
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
