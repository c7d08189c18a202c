import { fromMicros } from '#lib/money';

// Every figure of every report is defined here, once: its words, its source and its arithmetic. The documentation and the
// dashboard's labels are made from it.

/**
 * What is added up over a group. Amounts are micros of the reporting currency; null where a part of one cannot be converted,
 * because what is known of it would look like all of it.
 */
export type Sums = {
  clicks: number;
  installs: number;
  /** Installs of devices that a creative brought. */
  attributedInstalls: number;
  activeDevices: number;
  sessions: number;
  sessionSeconds: number;
  customEvents: number;
  adRequests: number;
  payers: number;
  impressions: number;
  adRevenue: bigint | null;
  purchases: number;
  failedPurchases: number;
  purchaseRevenue: bigint | null;
  spend: bigint | null;
  /** What the devices acquired in the period have earned so far, and those of them that a creative brought. */
  acquiredRevenue: bigint | null;
  attributedRevenue: bigint | null;
};

/** Null where the divisor is 0, or where one of the two is not known. */
export const per = (amount: number | null, divisor: number | null): number | null =>
  amount === null || divisor === null || divisor === 0 ? null : amount / divisor;

const units = (micros: bigint | null, times = 1n) => (micros === null ? null : fromMicros(micros * times));

const revenueOf = ({ adRevenue, purchaseRevenue }: Sums) =>
  adRevenue === null || purchaseRevenue === null ? null : adRevenue + purchaseRevenue;

const ADMOB = 'https://support.google.com/admob/table/9462111';
const ADJUST = 'https://www.adjust.com/glossary/';
const AMPLITUDE = 'https://amplitude.com/docs/faq/retention-analysis';
/** Counts that mean what this service says they do. */
const OURS = 'this service';

export type Unit = 'count' | 'money' | 'percent';

type Words = { definition: string; source: string };

export type MetricDefinition = Words & {
  label: string;
  unit: Unit;
  /** For the dashboard, where the label alone may be misread. */
  hint?: string;
  /** Of the other metrics; absent for what is counted or added up. */
  formula?: string;
  /** Where it is null, besides what the dimensions lack. */
  missing?: string;
} & (
    | {
        /** `days` is the number of calendar days of the group that are over or have begun. */
        value: (sums: Sums, days: number) => number | null;
      }
    /** A sum of amounts, which stays exact however large it is. */
    | { micros: (sums: Sums) => bigint | null }
  );

/** The metrics of the performance report, in the order of its columns. */
export const METRICS = {
  clicks: {
    label: 'Clicks',
    unit: 'count',
    definition: 'Clicks on tracking links that were counted.',
    source: OURS,
    value: (sums) => sums.clicks,
  },
  installs: {
    label: 'Installs',
    unit: 'count',
    definition: 'Devices seen for the first time, on the day of their acquisition.',
    source: `${ADJUST}install/`,
    value: (sums) => sums.installs,
  },
  dau: {
    label: 'DAU',
    unit: 'count',
    formula: 'active devices of each day / days',
    hint: 'Devices active a day; over several days the mean',
    definition:
      "Devices with any event on a day, their acquisition included; over several days the mean over the days since the application's first event.",
    source: `${ADJUST}daily-active-users/`,
    value: (sums, days) => per(sums.activeDevices, days),
  },
  sessions: {
    label: 'Sessions',
    unit: 'count',
    definition: 'Retention events; repeats of one session_id by one device are one session.',
    source: `${ADJUST}session/`,
    value: (sums) => sums.sessions,
  },
  session_seconds: {
    label: 'Session time (s)',
    unit: 'count',
    hint: 'Seconds of sessions whose end was sent',
    definition: 'The lengths of the sessions that ended, in seconds, as clients report them.',
    source: OURS,
    value: (sums) => sums.sessionSeconds,
  },
  impressions: {
    label: 'Impressions',
    unit: 'count',
    definition: 'Ads shown: ad events.',
    source: ADMOB,
    value: (sums) => sums.impressions,
  },
  ad_revenue: {
    label: 'Ad revenue',
    unit: 'money',
    definition: 'The sum of the values of ad events.',
    source: ADMOB,
    micros: (sums) => sums.adRevenue,
  },
  ecpm: {
    label: 'eCPM',
    unit: 'money',
    formula: 'ad_revenue / impressions × 1000',
    hint: 'Ad revenue per 1000 impressions',
    definition: 'Effective cost per mille: ad revenue / impressions × 1000.',
    source: `${ADJUST}ecpm/`,
    value: (sums) => per(units(sums.adRevenue, 1000n), sums.impressions),
  },
  ad_requests: {
    label: 'Ad requests',
    unit: 'count',
    definition: 'Ad requests that were reported by custom events of the name ad_request.',
    source: ADMOB,
    value: (sums) => sums.adRequests,
  },
  fill_rate: {
    label: 'Fill rate',
    unit: 'percent',
    formula: 'impressions / ad_requests',
    hint: 'Impressions / ad requests',
    definition: 'Impressions / ad requests.',
    source: `${ADJUST}fill-rate/`,
    value: (sums) => per(sums.impressions, sums.adRequests),
  },
  purchases: {
    label: 'Purchases',
    unit: 'count',
    definition: 'Purchases of the status completed or success.',
    source: OURS,
    value: (sums) => sums.purchases,
  },
  failed_purchases: {
    label: 'Failed purchases',
    unit: 'count',
    definition: 'Purchases of the status failed.',
    source: OURS,
    value: (sums) => sums.failedPurchases,
  },
  payers: {
    label: 'Payers',
    unit: 'count',
    missing: 'by app_version unless also by day; in the row other of a report by time',
    hint: 'Distinct devices that paid',
    definition: 'Distinct devices with a successful purchase in the period of the row.',
    source: OURS,
    value: (sums) => sums.payers,
  },
  purchase_revenue: {
    label: 'Purchase revenue',
    unit: 'money',
    definition: 'The sum of the values of successful purchases.',
    source: OURS,
    micros: (sums) => sums.purchaseRevenue,
  },
  revenue: {
    label: 'Revenue',
    unit: 'money',
    formula: 'ad_revenue + purchase_revenue',
    hint: 'Purchases and ads',
    definition: 'Ad revenue + purchase revenue.',
    source: OURS,
    micros: revenueOf,
  },
  arpdau: {
    label: 'ARPDAU',
    unit: 'money',
    formula: 'revenue / active devices of each day',
    hint: 'Revenue per active device and day',
    definition:
      'Average revenue per daily active user: revenue / dau; over several days total revenue / summed dau.',
    source: `${ADJUST}arpdau/`,
    value: (sums) => per(units(revenueOf(sums)), sums.activeDevices),
  },
  arppu: {
    label: 'ARPPU',
    unit: 'money',
    missing: 'by app_version unless also by day; in the row other of a report by time',
    formula: 'purchase_revenue / payers',
    hint: 'Purchase revenue per payer',
    definition: 'Average revenue per paying user: purchase revenue / payers.',
    source: `${ADJUST}arppu/`,
    value: (sums) => per(units(sums.purchaseRevenue), sums.payers),
  },
  spend: {
    label: 'Spend',
    unit: 'money',
    hint: 'Uploaded costs',
    definition: 'Uploaded costs.',
    source: OURS,
    micros: (sums) => sums.spend,
  },
  cpi: {
    label: 'CPI',
    unit: 'money',
    formula: 'spend / attributed installs',
    hint: 'Spend per attributed install',
    definition: 'Cost per install: spend / installs of devices that a creative brought.',
    source: `${ADJUST}cost-per-install/`,
    value: (sums) => per(units(sums.spend), sums.attributedInstalls),
  },
  roas: {
    label: 'ROAS',
    unit: 'percent',
    formula: 'revenue so far of the attributed devices acquired in the period / spend',
    hint: 'Revenue so far of the attributed devices acquired in the period / spend',
    definition:
      'Return on ad spend: what the devices that a creative brought in the period have earned so far / spend.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.attributedRevenue), units(sums.spend)),
  },
  roas_blended: {
    label: 'Blended ROAS',
    unit: 'percent',
    formula: 'revenue so far of all devices acquired in the period / spend',
    hint: 'The same with the organic devices',
    definition: 'What all devices acquired in the period, organic ones included, have earned so far / spend.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.acquiredRevenue), units(sums.spend)),
  },
  events: {
    label: 'Custom events',
    unit: 'count',
    definition: 'Custom events.',
    source: OURS,
    value: (sums) => sums.customEvents,
  },
} as const satisfies Record<string, MetricDefinition>;

export type Metric = keyof typeof METRICS;
export type MoneyMetric = {
  [Name in Metric]: (typeof METRICS)[Name] extends { micros: unknown } ? Name : never;
}[Metric];

export const ALL_METRICS = Object.keys(METRICS) as Metric[];
export const isMoneyMetric = (metric: Metric): metric is MoneyMetric => 'micros' in METRICS[metric];

/** The metrics of the retention, lifetime-value and funnel reports. */
export const COHORT_METRICS = {
  size: { definition: 'Devices acquired in the cohort.', source: `${ADJUST}cohort/` },
  eligible: {
    definition: "Devices whose day N is over in the application's time zone.",
    source: AMPLITUDE,
  },
  classic: { definition: 'Devices active on day N exactly / eligible devices.', source: AMPLITUDE },
  rolling: { definition: 'Devices active on day N or later / eligible devices.', source: AMPLITUDE },
  ltv: {
    definition:
      'Lifetime value by day N: revenue of the eligible devices from day 0 to day N / eligible devices.',
    source: `${ADJUST}lifetime-value-ltv/`,
  },
  roas: {
    definition:
      'Return on ad spend by day N: that revenue / costs of the days on which the eligible devices were acquired.',
    source: `${ADJUST}roas-definition/`,
  },
  complete: {
    definition:
      'Whether every device of the cohort is eligible: day N is over for all of them. Only such days compare with each other.',
    source: OURS,
  },
  from_first: { definition: 'Devices that reach the step / devices that reach the first.', source: OURS },
  from_previous: {
    definition: 'Devices that reach the step / devices that reach the one before.',
    source: OURS,
  },
  median_seconds: {
    definition:
      'The median time in seconds from the step before, of the devices that reach the step. Null for the first step. Exact unless there are more than a million different durations; long ones are then rounded by a thousandth.',
    source: OURS,
  },
} as const satisfies Record<string, Words>;
