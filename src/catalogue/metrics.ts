import { camelCase } from '#lib/encoding/camel-case';
import { fromNanos } from '#lib/money';
import { OF_COHORT_DAYS } from './cohort-metrics.ts';
import { OF_DEVICE_STATE } from './device-metrics.ts';
import type { Basis } from './measures.ts';
import { ADJUST, ADMOB, amountOf, countOf, from, IAB } from './metric.ts';
import { type AmountName, type CountName, netOfFee, per, SUMS, type SumName, type Sums } from './sums.ts';

// Defines every figure of every report once: its texts, its source and its arithmetic. The documentation and the dashboard's labels are
// derived from it.

const units = (nanos: bigint, times = 1n) => fromNanos(nanos * times);

const revenueOf = ({ adRevenue, purchaseRevenue }: Pick<Sums, 'adRevenue' | 'purchaseRevenue'>) =>
  adRevenue + purchaseRevenue;

const boughtImpressionsOf = (sums: Pick<Sums, 'creativeImpressions' | 'statedImpressions'>) =>
  sums.creativeImpressions + sums.statedImpressions;

/** What one of `count` cost. Null without spend: nothing spent is no price of nothing. */
const costPer = (spend: bigint, count: number, times = 1n) =>
  spend === 0n ? null : per(units(spend, times), count);

type Payments = 'purchaseRevenue' | 'returnedRevenue';
const netPurchasesOf = (sums: Pick<Sums, Payments | 'storeFeeBasisPoints'>) =>
  netOfFee(sums.purchaseRevenue, sums.returnedRevenue, sums);
const netRevenueOf = (sums: Pick<Sums, Payments | 'adRevenue' | 'storeFeeBasisPoints'>) =>
  sums.adRevenue + netPurchasesOf(sums);

/** The metrics of the performance report, in column order. */
export const METRICS = {
  clicks: countOf('clicks', {
    label: 'Clicks',
    definition: 'Clicks on tracking links that were counted.',
  }),
  installs: countOf('installs', {
    label: 'Installs',
    definition: 'Devices seen for the first time, on the day of their acquisition.',
    source: `${ADJUST}install/`,
  }),
  doubted_installs: countOf('doubtedInstalls', {
    label: 'Doubtful installs',
    more: 'bad',
    hint: 'Installs that may be fraud, by the rules of the application',
    definition:
      'Installs that a rule of the application doubted when they came, such as a click after the installation began. Installs that a rule excludes are organic, and doubtful.',
  }),
  net_installs: from(['installs', 'doubtedInstalls'], {
    label: 'Net installs',
    kind: 'sum',
    unit: 'count',
    formula: 'installs - doubted_installs',
    hint: 'Installs that no rule doubted',
    definition: 'Installs less doubtful installs.',
    value: (sums) => sums.installs - sums.doubtedInstalls,
  }),
  ad_impressions_bought: from(['creativeImpressions', 'statedImpressions'], {
    label: 'Ad impressions bought',
    kind: 'sum',
    unit: 'count',
    hint: 'Times that your ads were shown, by costs or by what networks report',
    definition:
      "Times that your ads were shown in other apps: the impressions that costs state, and those that networks report to tracking links. Where costs state impressions of a creative's day, for itself, its ad set or its campaign, these count and what was reported to its link that day does not. Ads shown in your own app are impressions.",
    value: boughtImpressionsOf,
  }),
  ctr: from(['clicks', 'creativeImpressions', 'statedImpressions'], {
    label: 'CTR',
    kind: 'ratio',
    unit: 'percent',
    formula: 'clicks / ad_impressions_bought',
    hint: 'Clicks / ad impressions bought',
    definition: 'Click-through rate: clicks on tracking links / ad impressions bought.',
    source: `${ADJUST}click-through-rate-ctr/`,
    value: (sums) => per(sums.clicks, boughtImpressionsOf(sums)),
  }),
  cvr: from(['attributedInstalls', 'clicks'], {
    label: 'CVR',
    kind: 'ratio',
    unit: 'percent',
    formula: 'attributed installs / clicks',
    hint: 'Attributed installs / clicks',
    definition:
      'Conversion rate: installs of attributed devices, which are those with a creative, / clicks on tracking links.',
    value: (sums) => per(sums.attributedInstalls, sums.clicks),
  }),
  ipm: from(['attributedInstalls', 'creativeImpressions', 'statedImpressions'], {
    label: 'IPM',
    kind: 'ratio',
    unit: 'count',
    formula: 'attributed installs / ad_impressions_bought × 1000',
    hint: 'Attributed installs per 1000 ad impressions bought',
    definition:
      'Installs per mille: installs of attributed devices, which are those with a creative, / ad impressions bought × 1000.',
    source: 'https://www.applovin.com/glossary/ipm/',
    value: (sums) => per(sums.attributedInstalls * 1000, boughtImpressionsOf(sums)),
  }),
  dau: from(['activeDevices'], {
    label: 'DAU',
    kind: 'distinct',
    unit: 'count',
    formula: 'active devices of each day / days',
    hint: 'Active devices per day; the mean over several days',
    definition:
      "Devices with any event on a day, their acquisition included; over several days, the mean over all days since the application's first event. A device counts under the app version of its latest event of the day; an event that arrives when the device has been active on seven later days no longer changes that.",
    source: `${ADJUST}daily-active-users/`,
    value: (sums, days) => per(sums.activeDevices, days),
  }),
  sessions: countOf('sessions', {
    label: 'Sessions',
    definition:
      'Launches of the app. Repeats of a session_id by one device count as one session. A session start and a return without an id may tell the same launch, so a device has on a day as many of both together as the kind that was sent more often.',
    source: `${ADJUST}session/`,
  }),
  session_seconds: countOf('sessionSeconds', {
    label: 'Session time (s)',
    hint: 'Total length of the sessions whose end was sent, in seconds',
    definition: 'The total length of ended sessions, in seconds, as reported by clients.',
  }),
  average_session_seconds: from(['sessionSeconds', 'endedSessions'], {
    label: 'Average session (s)',
    kind: 'ratio',
    unit: 'count',
    formula: 'session_seconds / ended sessions',
    hint: 'Length of ended sessions / ended sessions, in seconds',
    definition:
      'Average session length in seconds: session_seconds / sessions whose end was sent with a length.',
    source: `${ADJUST}session/`,
    value: (sums) => per(sums.sessionSeconds, sums.endedSessions),
  }),
  impressions: countOf('impressions', {
    label: 'Impressions',
    definition: 'Ads shown, counted by ad events.',
    source: ADMOB,
  }),
  ad_revenue: amountOf('adRevenue', {
    label: 'Ad revenue',
    definition: 'The sum of the values of ad events.',
    source: ADMOB,
  }),
  ecpm: from(['adRevenue', 'impressions'], {
    label: 'eCPM',
    kind: 'ratio',
    unit: 'money',
    formula: 'ad_revenue / impressions × 1000',
    hint: 'Ad revenue per 1000 impressions',
    definition: 'Effective cost per mille: ad revenue / impressions × 1000.',
    source: `${ADJUST}ecpm/`,
    value: (sums) => per(units(sums.adRevenue, 1000n), sums.impressions),
  }),
  ad_requests: countOf('adRequests', {
    label: 'Ad requests',
    definition: 'Ad requests, as reported by custom events named ad_request.',
    source: ADMOB,
  }),
  fill_rate: from(['impressions', 'adRequests'], {
    label: 'Fill rate',
    kind: 'ratio',
    unit: 'percent',
    formula: 'impressions / ad_requests',
    hint: 'Impressions / ad requests',
    definition: 'Impressions / ad requests.',
    source: `${ADJUST}fill-rate/`,
    value: (sums) => per(sums.impressions, sums.adRequests),
  }),
  purchases: countOf('purchases', {
    label: 'Purchases',
    definition: 'Purchases with the status completed or success.',
  }),
  failed_purchases: countOf('failedPurchases', {
    label: 'Failed purchases',
    more: 'bad',
    definition: 'Purchases with the status failed.',
  }),
  payers: from(['payers'], {
    label: 'Payers',
    kind: 'distinct',
    unit: 'count',
    missing: 'by app_version without day; in the row other of a report by time',
    hint: 'Distinct devices that paid',
    definition:
      'Distinct devices with a successful purchase in the period of the row. On a day, a device counts under the app version of its latest purchase; a purchase that arrives when the device has paid on seven later days no longer changes that.',
    value: (sums) => sums.payers,
  }),
  purchase_revenue: amountOf('purchaseRevenue', {
    label: 'Purchase revenue',
    definition: 'The sum of the values of successful purchases.',
  }),
  revenue: from(['adRevenue', 'purchaseRevenue'], {
    label: 'Revenue',
    kind: 'sum',
    unit: 'money',
    formula: 'ad_revenue + purchase_revenue',
    hint: 'Purchases and ads',
    definition: 'Ad revenue + purchase revenue.',
    nanos: revenueOf,
  }),
  refunds: countOf('refunds', {
    label: 'Refunds',
    more: 'bad',
    missing: 'by hour',
    definition:
      'Refunds of known purchases, on the day of the refund, also where nothing was left to take back. One that a device and its store both tell counts once. A refund names the tr_id of its purchase, and waits for it if it is sent first.',
  }),
  refunded_revenue: amountOf('refundedRevenue', {
    label: 'Refunded',
    more: 'bad',
    missing: 'by hour',
    hint: 'What was refunded on these days, whenever it was purchased',
    definition:
      'What refunds took back, on the day of the refund, less what reversals of refunds put back. All refunds of a purchase together take back no more than its value.',
  }),
  net_revenue: from(['adRevenue', 'purchaseRevenue', 'returnedRevenue'], {
    label: 'Net revenue',
    kind: 'sum',
    unit: 'money',
    formula: 'ad_revenue + (purchase_revenue - what was refunded of it) × (1 - store fee)',
    missing: 'by hour',
    hint: 'Revenue without refunds and the fee of stores',
    definition:
      'Ad revenue, and purchase revenue without what has been refunded of the purchases of the period, whenever, and without the share that stores keep (`store_fee`). A refund changes the day of its purchase, at the exchange rate of that day.',
    nanos: netRevenueOf,
  }),
  trials: countOf('trials', {
    label: 'Trials',
    missing: 'by hour',
    definition: 'Free trials of subscriptions that stores told of. A trial is no purchase.',
  }),
  renewals: countOf('renewals', {
    label: 'Renewals',
    missing: 'by hour',
    definition: 'Payments of subscriptions after the first one that stores told of. They are purchases too.',
  }),
  arpdau: from(['adRevenue', 'purchaseRevenue', 'activeDevices'], {
    label: 'ARPDAU',
    kind: 'ratio',
    unit: 'money',
    formula: 'revenue / active devices of each day',
    hint: 'Revenue per active device and day',
    definition:
      'Average revenue per daily active user: revenue / dau; over several days, total revenue / the sum of daily dau.',
    source: `${ADJUST}arpdau/`,
    value: (sums) => per(units(revenueOf(sums)), sums.activeDevices),
  }),
  arpdau_net: from(['adRevenue', 'purchaseRevenue', 'returnedRevenue', 'activeDevices'], {
    label: 'Net ARPDAU',
    kind: 'ratio',
    unit: 'money',
    formula: 'net_revenue / active devices of each day',
    missing: 'by hour',
    hint: 'Like ARPDAU, without refunds and the fee of stores',
    definition: 'Net revenue per daily active user: `arpdau` of `net_revenue`.',
    value: (sums) => per(units(netRevenueOf(sums)), sums.activeDevices),
  }),
  arppu: from(['purchaseRevenue', 'payers'], {
    label: 'ARPPU',
    kind: 'ratio',
    unit: 'money',
    missing: 'by app_version without day; in the row other of a report by time',
    formula: 'purchase_revenue / payers',
    hint: 'Purchase revenue per payer',
    definition: 'Average revenue per paying user: purchase revenue / payers.',
    source: `${ADJUST}arppu/`,
    value: (sums) => per(units(sums.purchaseRevenue), sums.payers),
  }),
  arppu_net: from(['purchaseRevenue', 'returnedRevenue', 'payers'], {
    label: 'Net ARPPU',
    kind: 'ratio',
    unit: 'money',
    missing: 'by hour; by app_version without day; in the row other of a report by time',
    formula: '(purchase_revenue - what was refunded of it) × (1 - store fee) / payers',
    hint: 'Like ARPPU, without refunds and the fee of stores',
    definition:
      'Net purchase revenue per paying user: `arppu` without what was refunded of the purchases of the period, and without the share that stores keep. Who got everything back counts as a payer.',
    value: (sums) => per(units(netPurchasesOf(sums)), sums.payers),
  }),
  spend: amountOf('spend', {
    label: 'Spend',
    more: 'neutral',
    hint: 'Uploaded costs',
    definition: 'Uploaded costs.',
  }),
  profit: from(['adRevenue', 'purchaseRevenue', 'spend'], {
    label: 'Profit',
    kind: 'sum',
    unit: 'money',
    formula: 'revenue - spend',
    hint: 'Revenue minus spend; negative for a loss',
    definition:
      'Revenue - spend, both of the days of the period, whenever the devices came. Revenue is of all devices, unless the report is asked for paid ones. Negative for a loss. `profit_d7` and the like are of the devices acquired in the period.',
    nanos: (sums) => revenueOf(sums) - sums.spend,
  }),
  profit_net: from(['adRevenue', 'purchaseRevenue', 'returnedRevenue', 'spend'], {
    label: 'Net profit',
    kind: 'sum',
    unit: 'money',
    formula: 'net_revenue - spend',
    missing: 'by hour',
    hint: 'Net revenue minus spend; negative for a loss',
    definition: 'Net revenue - spend, both of the period. Negative for a loss.',
    nanos: (sums) => netRevenueOf(sums) - sums.spend,
  }),
  cpi: from(['spend', 'attributedInstalls'], {
    label: 'CPI',
    kind: 'ratio',
    unit: 'money',
    formula: 'spend / attributed installs',
    more: 'bad',
    hint: 'Spend per attributed install',
    missing: 'without spend',
    definition: 'Cost per install: spend / installs of attributed devices, which are those with a creative.',
    source: `${ADJUST}cost-per-install/`,
    value: (sums) => costPer(sums.spend, sums.attributedInstalls),
  }),
  cpc: from(['spend', 'clicks'], {
    label: 'CPC',
    kind: 'ratio',
    unit: 'money',
    formula: 'spend / clicks',
    more: 'bad',
    hint: 'Spend per click',
    missing: 'without spend',
    definition: 'Cost per click: spend / clicks on tracking links.',
    source: IAB,
    value: (sums) => costPer(sums.spend, sums.clicks),
  }),
  cpm: from(['spend', 'creativeImpressions', 'statedImpressions'], {
    label: 'CPM',
    kind: 'ratio',
    unit: 'money',
    formula: 'spend / ad_impressions_bought × 1000',
    more: 'bad',
    hint: 'Spend per 1000 ad impressions bought',
    missing: 'without spend',
    definition: 'Cost per mille: spend / ad impressions bought × 1000.',
    source: IAB,
    value: (sums) => costPer(sums.spend, boughtImpressionsOf(sums), 1000n),
  }),
  roas: from(['attributedRevenue', 'spend'], {
    label: 'ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'revenue so far of the attributed devices acquired in the period / spend',
    hint: 'Revenue so far of the attributed devices acquired in the period / spend',
    definition:
      'Return on ad spend: revenue so far of the attributed devices acquired in the period / spend. Attributed devices are those with a creative.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.attributedRevenue), units(sums.spend)),
  }),
  roas_blended: from(['acquiredRevenue', 'spend'], {
    label: 'Blended ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'revenue so far of all devices acquired in the period / spend',
    hint: 'Like ROAS, but including organic devices',
    definition:
      'Revenue so far of all devices acquired in the period, including organic ones and those of a network without a creative, / spend.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.acquiredRevenue), units(sums.spend)),
  }),
  roas_net: from(['attributedRevenue', 'attributedPurchaseRevenue', 'attributedReturnedRevenue', 'spend'], {
    label: 'Net ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'net revenue so far of the attributed devices acquired in the period / spend',
    hint: 'Like ROAS, without refunds and the fee of stores',
    definition:
      'Net return on ad spend: `roas` without what was refunded of the purchases of these devices, and without the share that stores keep.',
    value: (sums) => {
      const { attributedPurchaseRevenue: purchased, attributedReturnedRevenue: returned } = sums;
      const net = sums.attributedRevenue - purchased + netOfFee(purchased, returned, sums);
      return per(units(net), units(sums.spend));
    },
  }),
  roas_blended_net: from(['acquiredRevenue', 'acquiredPurchaseRevenue', 'acquiredReturnedRevenue', 'spend'], {
    label: 'Net blended ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'net revenue so far of all devices acquired in the period / spend',
    hint: 'Like net ROAS, but including organic devices',
    definition:
      '`roas_blended` without what was refunded of the purchases of these devices, and without the share that stores keep.',
    value: (sums) => {
      const { acquiredPurchaseRevenue: purchased, acquiredReturnedRevenue: returned } = sums;
      const net = sums.acquiredRevenue - purchased + netOfFee(purchased, returned, sums);
      return per(units(net), units(sums.spend));
    },
  }),
  events: countOf('customEvents', {
    label: 'Custom events',
    definition: 'Custom events, except ad requests, which `ad_requests` counts.',
  }),
  ...OF_DEVICE_STATE,
  ...OF_COHORT_DAYS,
} as const;

export type Metric = keyof typeof METRICS;
export type MoneyMetric = {
  [Name in Metric]: (typeof METRICS)[Name] extends { nanos: unknown } ? Name : never;
}[Metric];

export const ALL_METRICS = Object.keys(METRICS) as Metric[];

/** Metrics of the devices acquired in the period, by day number. They are computed only if they are asked for. */
export type CohortMetric = keyof typeof OF_COHORT_DAYS;
export const isCohortMetric = (metric: Metric): metric is CohortMetric =>
  Object.hasOwn(OF_COHORT_DAYS, metric);
/** Metrics that only the state of devices tells. They are computed only if they are asked for, too. */
type DeviceMetric = keyof typeof OF_DEVICE_STATE;
export const OF_DEVICES = Object.keys(OF_DEVICE_STATE) as DeviceMetric[];
export type RequestedMetric = CohortMetric | DeviceMetric;
export const isRequested = (metric: Metric): metric is RequestedMetric =>
  isCohortMetric(metric) || Object.hasOwn(OF_DEVICE_STATE, metric);
export type PlainMetric = Exclude<Metric, RequestedMetric>;
/** All other metrics: those of a report that asks for none. */
export const PLAIN_METRICS = ALL_METRICS.filter((metric): metric is PlainMetric => !isRequested(metric));

const readsOf = (metric: Metric): readonly SumName[] => METRICS[metric].reads;

/** The metrics that are computed from any of these sums. */
export const metricsFrom = (...sums: readonly SumName[]): readonly Metric[] =>
  ALL_METRICS.filter((metric) => readsOf(metric).some((sum) => sums.includes(sum)));

/** The metrics that are computed from nothing but these sums. */
export const metricsWithin = (sums: readonly string[]): readonly Metric[] =>
  ALL_METRICS.filter((metric) => readsOf(metric).every((sum) => sums.includes(sum)));

/** The sum of a measure: `adRevenue` of `ad_revenue`. */
export const sumOf = (measure: string) => camelCase(measure) as AmountName | CountName;

export const OF_SPEND = metricsFrom('spend');
/** Metrics of the devices acquired in the period, whenever they earned, and not of what happened in it. */
const OF_COHORTS: readonly Metric[] = [...metricsFrom('cohort', 'acquiredRevenue', 'attributedRevenue')];

/** Metrics that compare spend with attributed devices or, in a blended report, with all: prices of them, and what they return. */
const WITH_BASIS: readonly Metric[] = OF_SPEND.filter((name) =>
  readsOf(name).some((sum) => sum === 'cohort' || sum === 'acquiredPayers' || sum.startsWith('attributed')),
);

/**
 * What a figure that involves spend is of, in words for the head of its column: the devices, and whether what they did in the period counts or
 * what became of those acquired in it. Empty for all others.
 */
export function basisText(name: Metric, basis: Basis): string {
  if (!OF_SPEND.includes(name) || name === 'spend') return '';
  const of = WITH_BASIS.includes(name) ? [basis] : name.startsWith('roas_blended') ? ['blended'] : [];
  const span = OF_COHORTS.includes(name) ? ['cohort'] : name.startsWith('profit') ? ['period'] : [];
  return [...of, ...span].join(', ');
}
/** Metrics that need the impressions of costs. */
export const OF_STATED_IMPRESSIONS = metricsFrom('statedImpressions');
/** Metrics that need costs. Costs name only campaigns, ad sets and creatives, so no other dimension has them. */
export const OF_COSTS: readonly Metric[] = [...OF_SPEND, ...OF_STATED_IMPRESSIONS];
/** What costs state themselves: known in part where some of them do not state what is asked for. */
export const KNOWN_IN_PART = metricsWithin(['spend', 'creativeImpressions', 'statedImpressions']).filter(
  (metric) => METRICS[metric].kind === 'sum',
);
/** Metrics based on what devices have earned since their acquisition. */
export const OF_ACQUIRED = metricsFrom('acquiredRevenue', 'attributedRevenue');
/** Metrics of distinct payers. */
export const OF_PAYERS = metricsFrom('payers');
/** Metrics that can be grouped by currency. */
export const WITH_CURRENCY = metricsWithin(
  Object.entries(SUMS).flatMap(([name, sum]) => ('by' in sum ? [name] : [])),
);
export const isMoneyMetric = (metric: Metric): metric is MoneyMetric => 'nanos' in METRICS[metric];
