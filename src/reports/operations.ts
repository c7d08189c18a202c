import type * as z from 'zod';
import { METRICS } from '#catalogue';
import { EXAMPLE, type Operation, withExamples } from '#http/operations';
import { AdsQuery } from './ads.ts';
import { Ads, ClientTotals, Compare, Funnel, Ltv, Performance, PredictedLtv, Retention } from './answers.ts';
import { ClientTotalsQuery } from './client-totals.ts';
import { CompareQuery } from './compare.ts';
import { DIMENSIONS } from './dimensions.ts';
import { FunnelQuery } from './funnel.ts';
import { LtvQuery } from './ltv.ts';
import { PerformanceQuery } from './performance.ts';
import { PredictedLtvQuery } from './predicted-ltv.ts';
import { RetentionQuery } from './retention.ts';

const period = {
  application_id: EXAMPLE.application,
  from: EXAMPLE.from,
  to: EXAMPLE.to,
  format: 'json',
};

const rest =
  'An answer has at most `limit` rows: the latest days, weeks or months, and of each the largest by revenue, impressions and other counts. The last row, with `is_other`, sums up everything else, so that the rows still add up to the totals.';

const money =
  'Amounts are in `currency`, else in the reporting currency of the application, converted with the rates of their days; what cannot be converted is in `unconverted`. Amounts are exact: one so large that a JSON number may round it has its decimal text beside it, in the field of its name with `_exact`.';

function report(
  name: string,
  summary: string,
  description: string,
  query: z.ZodObject,
  examples: Record<string, unknown>,
  schema: z.ZodType,
  csv: string,
): Operation {
  return {
    method: 'get',
    path: `/v1/reports/${name}`,
    tag: 'Reports',
    summary,
    description: `${description} Days are those of the application, \`from\` and \`to\` included. CSV has the same rows, and what stands beside them in headers.`,
    credential: 'teamToken',
    parameters: { query: withExamples(query, { ...period, ...examples }) },
    answer: { status: 200, description: 'The report.', schema, more: { 'text/csv': csv } },
    errors: { 404: "There is no such application, or it is another team's." },
  };
}

const definitions = Object.entries(METRICS)
  .map(([name, { definition, source }]) => `- \`${name}\`: ${definition} (${source})`)
  .join('\n');

export const operations: Operation[] = [
  report(
    'performance',
    'What each group of days, sources or items brought',
    `\`group_by\` is one or two of ${Object.keys(DIMENSIONS).join(', ')}. ${money} Counts that are merely nothing are 0; metrics that a grouping cannot give, and ratios with nothing below the line, are null. A cost that names no ad set or creative is in the totals, but in no row by ad set or creative. ${rest} With \`q\` only groups with this text in one of their names have a row.\n\n${definitions}\n\n`,
    PerformanceQuery,
    { group_by: 'day,source', currency: 'usd', limit: 1000, q: 'rewarded' },
    Performance,
    'day,clicks,installs\r\n2026-03-02,0,1\r\n',
  ),
  report(
    'retention',
    'How many devices came back',
    'Of the devices acquired from `from` to `to`, in cohorts by day, week, month or all together. Only devices whose day N is over count. At most `limit` cohorts have a row, the latest and then the largest; the last row, with `is_other`, sums up the others.',
    RetentionQuery,
    { days: '0,1,7', cohort: 'week', group_by: 'campaign', limit: 1000 },
    Retention,
    'cohort_from,cohort_to,creative,creative_id,size,day,eligible,active,classic,rolling\r\n',
  ),
  report(
    'ltv',
    'Lifetime value and return on ad spend',
    `Of the same cohorts as retention, revenue from day 0 to day N, each and against their costs. At most \`limit\` cohorts have a row, the latest and then the largest; the last row, with \`is_other\`, sums up the others. ${money}`,
    LtvQuery,
    { days: '0,7,30', cohort: 'all', group_by: 'creative', currency: 'usd', limit: 1000 },
    Ltv,
    'cohort_from,cohort_to,creative,creative_id,size,day,eligible,revenue,ltv,roas\r\n',
  ),
  report(
    'funnel',
    'How many devices reach each step',
    'Of the devices acquired from `from` to `to`, those that reach each step, and how long they take. A step is the earliest event of its kind at or after the one of the step before, within the window after the first step. Events within one second of each other are in order. A comma within an event name is written `%2C`. With `group_by` each group has its own funnel, the largest group first.',
    FunnelQuery,
    { steps: 'install,event:level_up,ad,purchase', window_hours: 72, group_by: 'country' },
    Funnel,
    'step,devices,from_first,from_previous,median_seconds\r\ninstall,10,1,,\r\n',
  ),
  report(
    'compare',
    'Whether two groups of devices differ, or chance explains it',
    'Compares retention, conversion and revenue per device of two creatives, ad sets, campaigns, countries or systems (`a` and `b`, by id or value), or of two periods of acquisition (`from` to `to`, and `b_from` to `b_to`). Only devices whose day N is over count for day N. Each difference is b - a, with a 95 % confidence interval and a p-value. Decide on the day and the metric before looking: of twenty comparisons one has p < 0.05 by chance alone.',
    CompareQuery,
    { by: 'os', a: 'android', b: 'ios', days: '1,7,30', currency: 'usd' },
    Compare,
    'metric,day,a_devices,a_count,a,b_devices,b_count,b,difference,low,high,p_value,test\r\n',
  ),
  report(
    'predicted-ltv',
    'What devices will purchase next',
    'For each cohort: purchase revenue so far, and what the same devices are expected to purchase in the next `horizon_days` days, with a 95 % interval. How often devices purchase is predicted by the BG/NBD model (Fader, Hardie, Lee 2005), for how much by Gamma-Gamma (Fader, Hardie 2013), both fitted to this cohort alone; the clock of a device starts at its acquisition and purchases of one day count as one, so that devices that have not paid yet are predicted too. The interval covers the uncertainty of the parameters (delta method) and chance. It does not cover that the game, its prices or its offers change. Ad revenue is not predicted. Where there is too little to go by the prediction is null and `reason` says why. At most `limit` cohorts have a row, the latest and then the largest; the last row, with `is_other`, puts the others together.',
    PredictedLtvQuery,
    { cohort: 'month', group_by: 'os', horizon_days: 90, currency: 'usd', limit: 20 },
    PredictedLtv,
    'cohort_from,cohort_to,size,payers,revenue,predicted_purchases,predicted_revenue,predicted_revenue_low,predicted_revenue_high,predicted_ltv,predicted_ltv_low,predicted_ltv_high,reason\r\n',
  ),
  report(
    'ads',
    'Ad revenue, eCPM and fill rate by day, format and network',
    `${money} ${rest} With \`q\` only formats and networks with this text in their names have a row.`,
    AdsQuery,
    { currency: 'usd', limit: 1000, q: 'banner' },
    Ads,
    'day,source,media_source,impressions,ad_revenue,ecpm,ad_requests,fill_rate\r\n',
  ),
  report(
    'client-totals',
    "Clients' running totals against ours",
    'Compares `total_ad_value` and `total_purchase_value` with what was counted of the same devices, acquired from `from` to `to`. A gap above 0 is revenue that never arrived; one below 0 was sent twice without a key.',
    ClientTotalsQuery,
    {},
    ClientTotals,
    'device_id,kind,currency,client_total,counted_total,gap\r\n',
  ),
];
