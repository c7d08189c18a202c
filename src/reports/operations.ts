import * as z from 'zod';
import { ALL_METRICS, HOURLY_METRICS, HOURS_KEPT_DAYS, METRICS } from '#catalogue';
import { EXAMPLE, missing, type Operation, withExamples } from '#http/operations';
import { ANSWERS } from './answers.ts';
import { REPORT_DIMENSIONS } from './dimensions.ts';
import { PerformanceQuery } from './performance.ts';
import { REPORTS, type Report, type ReportName } from './reports.ts';
import { columnsOfAnswer } from './table-columns.ts';

const period = {
  application_id: EXAMPLE.application,
  from: EXAMPLE.from,
  to: EXAMPLE.to,
  format: 'json' as const,
};

const rest =
  'A report has at most `limit` rows: the latest days, weeks or months, and within each the largest groups by revenue, impressions and other counts. The last row, with `is_other`, sums up all other groups, so that the rows add up to the totals.';

const cohortRest =
  'A report has at most `limit` cohorts: the latest, then the largest. The last row, with `is_other`, sums up all others.';

const money =
  'Amounts are in `currency` or, by default, in the reporting currency of the application, converted with the exchange rates of their days. Amounts that cannot be converted are left out of the figures and listed in `unconverted`: of a row what that row lacks, of the report all of them. If an amount is so large that a JSON number may round it, a field with the suffix `_exact` contains the exact amount as a decimal string.';

const hours = `With \`group_by=hour\`, each row is an hour of the clock in the application's time zone, such as \`2026-11-01T01:00:00-04:00\`. When clocks are set back, an hour comes twice, with different offsets. \`until_hour\` ends the last day of the report at this hour of the clock (1 to 23): with \`from\` and \`to\` the same day and \`until_hour=9\`, a report covers 00:00 to 09:00, to be compared with the same part of another day. Both are available for the last ${HOURS_KEPT_DAYS} days and today, and can be combined with creative, adset, campaign and currency and with the filters of creatives and attribution, but not with \`country\`, \`os\` or \`app_version\`. An event that arrives more than ${HOURS_KEPT_DAYS} days late counts in its day but in no hour. Devices count once a day, costs are daily and a refund changes the day of its purchase, so ${ALL_METRICS.filter((name) => !HOURLY_METRICS.includes(name)).join(', ')} are null.`;

type Documentation = {
  summary: string;
  description: string;
  /** An example of each parameter that not every report has. */
  examples: Record<string, unknown>;
  /** The parameters, if the schema that validates them cannot say what they are. */
  query?: z.ZodObject;
};

/** A list in one text, separated by commas, as the schema that validates it cannot say. */
const groupings = {
  override: {
    type: 'array',
    items: { type: 'string', enum: Object.keys(REPORT_DIMENSIONS) },
    minItems: 1,
    maxItems: 2,
    default: ['day'],
  },
  param: { style: 'form', explode: false },
} as const;

const names = {
  override: { type: 'array', items: { type: 'string', enum: ALL_METRICS }, minItems: 1 },
  param: { style: 'form', explode: false },
} as const;

const definitions = Object.entries(METRICS)
  .map(([name, { definition, source }]) => `- \`${name}\`: ${definition} (${source})`)
  .join('\n');

const DOCUMENTATION: Record<ReportName, Documentation> = {
  performance: {
    summary: 'Performance by day, creative, country and other dimensions',
    description: `${money} Missing counts are 0. Metrics that a grouping cannot provide, and ratios with a zero denominator, are null. A cost that names no ad set or creative is in the totals but in no row by ad set or creative. One whose name the application does not have is in a row with that name, without an id. ${rest} With \`q\`, only groups with this text in one of their names have a row; \`Germany\` finds \`de\`, and \`Unity Ads\` finds \`unityads\`.\n\nWith \`metrics\`, only these are in the answer. Metrics by day since the install, such as \`roas_d7\`, are of the devices acquired in the days of the row, and in the answer only if they are named. Only devices for which the day is over count: \`incomplete_days\` of a row has the days that are not over for all of them, and a metric is null if the day is over for none.\n\n${hours}\n\n${definitions}\n\n`,
    examples: {
      group_by: ['day', 'source'],
      metrics: ['ad_revenue', 'ecpm'],
      currency: 'usd',
      limit: 1000,
      q: 'rewarded',
    },
    query: z.object({
      ...PerformanceQuery.shape,
      group_by: PerformanceQuery.shape.group_by.meta(groupings),
      metrics: PerformanceQuery.shape.metrics.meta(names),
    }),
  },
  retention: {
    summary: 'Retention by cohort',
    description: `How many of the devices acquired from \`from\` to \`to\` came back. Cohorts are days, weeks, months or the whole period. Only devices whose day N is over count for day N. ${cohortRest}`,
    examples: { days: '0,1,7', cohort: 'week', group_by: 'campaign', limit: 1000 },
  },
  ltv: {
    summary: 'Lifetime value and return on ad spend by cohort',
    description: `Revenue from day 0 to day N, per device and relative to spend, for the same cohorts as retention. Each day since the acquisition counts with the devices for which it is over, so no curve falls while a cohort is young. By campaign, ad set or creative, spend without such a name, or with one that the application does not have, is in no cohort. ${cohortRest} ${money}`,
    examples: { days: '0,7,30', cohort: 'all', group_by: 'creative', currency: 'usd', limit: 1000 },
  },
  funnel: {
    summary: 'Funnel',
    description:
      'How many of the devices acquired from `from` to `to` reach each step, and how long they take. A device reaches a step with its earliest event of that kind at or after the previous step, within `window_hours` of the first step. Events within one second of each other count as in order. A step may stand several times: `purchase,purchase` is the second purchase, in another second than the first. Write a comma in an event name as `%2C`. With `group_by`, each group has its own funnel, largest group first; all groups beyond the largest are in one row.',
    examples: { steps: 'install,event:level_up,ad,purchase', window_hours: 72, group_by: 'country' },
  },
  compare: {
    summary: 'Compare two groups of devices',
    description:
      'Compares the retention, conversion and revenue per device of two creatives, ad sets, campaigns, countries, operating systems or app versions at acquisition (`a` and `b`, by id or value), or of two acquisition periods (`from` to `to`, and `b_from` to `b_to`). Only devices whose day N is over count for day N. Each difference is b - a, with a 95 % confidence interval and a p-value. With `net`, revenue is without refunds and the fee of stores. Choose the day and the metric before you look: on average, one in twenty comparisons has p < 0.05 by chance alone.',
    examples: { by: 'os', a: 'android', b: 'ios', days: '1,7,30', currency: 'usd' },
  },
  'predicted-ltv': {
    summary: 'Predicted lifetime value by cohort',
    description: `The revenue of each cohort so far, and what the same devices are expected to bring in the next \`horizon_days\` days, from purchases, from ads and together, with 95 % intervals. Repeat purchases: the BG/NBD model (Fader, Hardie, Lee 2005) predicts how often devices that have purchased do so again, and the Gamma-Gamma model (Fader, Hardie 2013) how much they spend. First purchases: an exponential-gamma model (Hardie, Fader, Wisniewski 1998) predicts how many of the other devices begin. Purchases on the same day count as one. Ads: the share of devices that are active on a day, a power of their age fitted by quasi-Poisson regression, × the revenue per active day. All is fitted to each cohort alone. The intervals cover parameter uncertainty (delta method) and chance, but not changes to the app, its prices or its offers. With \`as_of\`, nothing after that day is used, so that a prediction can be compared with what came. With \`net\`, purchases are without the stores' fee and without the share of the cohort's purchases that has been refunded by now, so far and ahead. Without enough data, a prediction is null and \`reason\` or \`ads_reason\` says why. At most 500 groups of a counter are counted for themselves, those of the latest cohorts and the largest of each; all others are in \`other\`. ${cohortRest}`,
    examples: { cohort: 'month', group_by: 'os', horizon_days: 90, currency: 'usd', limit: 20 },
  },
  ads: {
    summary: 'Ad revenue, eCPM and fill rate by day, format and network',
    description: `With \`group_by\`, each row is of one creative, ad set, campaign, country, operating system or app version too. The app version is the one that an event was sent by, the country and the operating system those of the device at its acquisition. ${money} ${rest} With \`q\`, only rows with this text in one of their names are shown.`,
    examples: { group_by: 'country', currency: 'usd', limit: 1000, q: 'banner' },
  },
  doubts: {
    summary: 'Doubtful installs by rule, gross and net',
    description:
      'Asks the rules of `fraud_rules` again about the attributed installs of devices acquired from `from` to `to`, with the settings of now. So a changed threshold tells at once what it would have meant. `doubted_installs` of the performance report stay what they were when the installs came, and so does what was excluded then. Erased devices are in no figure. With `group_by`, each row is of one creative, ad set, campaign, country, operating system or network instead of one rule: that which the install would count for if no rule excluded it.',
    examples: { creative_id: EXAMPLE.creative },
  },
  'client-totals': {
    summary: 'Compare client totals with counted totals',
    description:
      'Compares the `total_ad_value` and `total_purchase_value` that clients report with the revenue counted for the same devices, acquired from `from` to `to`. A positive gap is revenue that never arrived. A negative gap is revenue sent twice without a key.',
    examples: {},
  },
};

export const operations: Operation[] = (Object.keys(DOCUMENTATION) as ReportName[]).map((name) => {
  const { query, columnsOf }: Report = REPORTS[name];
  const { summary, description, examples, query: documented = query } = DOCUMENTATION[name];
  const columns = columnsOfAnswer(ANSWERS[name], columnsOf({ ...period, ...examples }));
  return {
    method: 'get',
    path: `/v1/reports/${name}`,
    tag: 'Reports',
    summary,
    description: `${description} \`from\` and \`to\` are inclusive days in the application's time zone.`,
    credential: 'teamToken',
    parameters: { query: withExamples(documented, { ...period, ...examples }) },
    answer: {
      status: 200,
      description: 'The report. CSV has the same rows, and the other fields as headers.',
      schema: ANSWERS[name],
      more: { 'text/csv': `${columns.join(',')}\r\n` },
    },
    errors: missing('Application'),
  };
});
