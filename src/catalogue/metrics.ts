import { fromNanos } from '#lib/money';

// Defines every figure of every report once: its texts, its source and its arithmetic. The documentation and the dashboard's labels are
// derived from it.

/**
 * What a metric can be computed from. `by: 'currency'` are sums of events with an amount, which reports can group by currency.
 */
const SUMS = {
  clicks: { is: 'count' },
  installs: { is: 'count' },
  /** Installs of attributed devices. */
  attributedInstalls: { is: 'count' },
  activeDevices: { is: 'count' },
  sessions: { is: 'count' },
  sessionSeconds: { is: 'count' },
  /** Sessions whose length was sent. */
  endedSessions: { is: 'count' },
  customEvents: { is: 'count' },
  adRequests: { is: 'count' },
  payers: { is: 'count' },
  impressions: { is: 'count', by: 'currency' },
  adRevenue: { is: 'amount', by: 'currency' },
  purchases: { is: 'count', by: 'currency' },
  failedPurchases: { is: 'count', by: 'currency' },
  purchaseRevenue: { is: 'amount', by: 'currency' },
  spend: { is: 'amount', by: 'currency' },
  /** The revenue so far of the devices acquired in the period, and of the attributed ones among them. */
  acquiredRevenue: { is: 'amount' },
  attributedRevenue: { is: 'amount' },
} as const satisfies Record<string, { is: 'count' | 'amount'; by?: 'currency' }>;

export type SumName = keyof typeof SUMS;
type Is<Wanted> = { [Name in SumName]: (typeof SUMS)[Name]['is'] extends Wanted ? Name : never }[SumName];
export type Count = Is<'count'>;
export type Amount = Is<'amount'>;

const namesOf = (wanted: 'count' | 'amount') =>
  (Object.keys(SUMS) as SumName[]).filter((name) => SUMS[name].is === wanted);
export const COUNTS = namesOf('count') as Count[];
export const AMOUNTS = namesOf('amount') as Amount[];

/**
 * The sums of a group. Amounts are nanos of the reporting currency. What cannot be converted is in none of them, and listed by its own
 * currency instead.
 */
export type Sums = Record<Count, number> &
  Record<Amount, bigint> & {
    /** What revenue and spend lack, by currency. */
    unconverted: ReadonlyMap<string, bigint>;
    /** What `acquiredRevenue` lacks, by currency. */
    unconvertedAcquired: ReadonlyMap<string, bigint>;
  };

/** Null if the divisor is 0 or either value is unknown. */
export const per = (amount: number | null, divisor: number | null): number | null =>
  amount === null || divisor === null || divisor === 0 ? null : amount / divisor;

const units = (nanos: bigint, times = 1n) => fromNanos(nanos * times);

const revenueOf = ({ adRevenue, purchaseRevenue }: Pick<Sums, 'adRevenue' | 'purchaseRevenue'>) =>
  adRevenue + purchaseRevenue;

const ADMOB = 'https://support.google.com/admob/table/9462111';
const ADJUST = 'https://www.adjust.com/glossary/';
const AMPLITUDE = 'https://amplitude.com/docs/faq/retention-analysis';
/** The source of metrics that this service defines itself. */
const OURS = 'this service';

type Unit = 'count' | 'money' | 'percent';

type Words = { definition: string; source: string };

export type MetricDefinition<Read extends SumName = SumName> = Words & {
  label: string;
  /**
   * Sums add up over groups and periods, and are 0 without data. Distinct devices are 0 without data, but do not add up over time. Ratios are
   * null without data.
   */
  kind: 'sum' | 'distinct' | 'ratio';
  unit: Unit;
  /** Shown on the dashboard if the label alone could be misread. */
  hint?: string;
  /** Whether more of it is good. By default it is. */
  more?: 'bad' | 'neutral';
  /** In terms of other metrics; absent for counts and sums. */
  formula?: string;
  /** When it is null, apart from dimensions that lack it. */
  missing?: string;
} & (
    | {
        /** `days` is the number of the group's calendar days that have begun. */
        value: (sums: Pick<Sums, Read>, days: number) => number | null;
      }
    /** A sum of amounts, exact however large it is. */
    | { nanos: (sums: Pick<Sums, Read>) => bigint }
  );

/** A metric that is computed from these sums, and cannot read others. */
const from = <Read extends SumName, Definition extends MetricDefinition<Read>>(
  reads: readonly Read[],
  definition: Definition,
) => ({ ...definition, reads });

/** The metrics of the performance report, in column order. */
export const METRICS = {
  clicks: from(['clicks'], {
    label: 'Clicks',
    kind: 'sum',
    unit: 'count',
    definition: 'Clicks on tracking links that were counted.',
    source: OURS,
    value: (sums) => sums.clicks,
  }),
  installs: from(['installs'], {
    label: 'Installs',
    kind: 'sum',
    unit: 'count',
    definition: 'Devices seen for the first time, on the day of their acquisition.',
    source: `${ADJUST}install/`,
    value: (sums) => sums.installs,
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
  sessions: from(['sessions'], {
    label: 'Sessions',
    kind: 'sum',
    unit: 'count',
    definition:
      'Launches of the app. Repeats of a session_id by one device count as one session. A session start and a return without an id may tell the same launch, so a device has on a day as many of both together as the kind that was sent more often.',
    source: `${ADJUST}session/`,
    value: (sums) => sums.sessions,
  }),
  session_seconds: from(['sessionSeconds'], {
    label: 'Session time (s)',
    kind: 'sum',
    unit: 'count',
    hint: 'Total length of the sessions whose end was sent, in seconds',
    definition: 'The total length of ended sessions, in seconds, as reported by clients.',
    source: OURS,
    value: (sums) => sums.sessionSeconds,
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
  impressions: from(['impressions'], {
    label: 'Impressions',
    kind: 'sum',
    unit: 'count',
    definition: 'Ads shown, counted by ad events.',
    source: ADMOB,
    value: (sums) => sums.impressions,
  }),
  ad_revenue: from(['adRevenue'], {
    label: 'Ad revenue',
    kind: 'sum',
    unit: 'money',
    definition: 'The sum of the values of ad events.',
    source: ADMOB,
    nanos: (sums) => sums.adRevenue,
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
  ad_requests: from(['adRequests'], {
    label: 'Ad requests',
    kind: 'sum',
    unit: 'count',
    definition: 'Ad requests, as reported by custom events named ad_request.',
    source: ADMOB,
    value: (sums) => sums.adRequests,
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
  purchases: from(['purchases'], {
    label: 'Purchases',
    kind: 'sum',
    unit: 'count',
    definition: 'Purchases with the status completed or success.',
    source: OURS,
    value: (sums) => sums.purchases,
  }),
  failed_purchases: from(['failedPurchases'], {
    label: 'Failed purchases',
    kind: 'sum',
    unit: 'count',
    more: 'bad',
    definition: 'Purchases with the status failed.',
    source: OURS,
    value: (sums) => sums.failedPurchases,
  }),
  payers: from(['payers'], {
    label: 'Payers',
    kind: 'distinct',
    unit: 'count',
    missing: 'by app_version without day; in the row other of a report by time',
    hint: 'Distinct devices that paid',
    definition:
      'Distinct devices with a successful purchase in the period of the row. On a day, a device counts under the app version of its latest purchase; a purchase that arrives when the device has paid on seven later days no longer changes that.',
    source: OURS,
    value: (sums) => sums.payers,
  }),
  purchase_revenue: from(['purchaseRevenue'], {
    label: 'Purchase revenue',
    kind: 'sum',
    unit: 'money',
    definition: 'The sum of the values of successful purchases.',
    source: OURS,
    nanos: (sums) => sums.purchaseRevenue,
  }),
  revenue: from(['adRevenue', 'purchaseRevenue'], {
    label: 'Revenue',
    kind: 'sum',
    unit: 'money',
    formula: 'ad_revenue + purchase_revenue',
    hint: 'Purchases and ads',
    definition: 'Ad revenue + purchase revenue.',
    source: OURS,
    nanos: revenueOf,
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
  spend: from(['spend'], {
    label: 'Spend',
    kind: 'sum',
    unit: 'money',
    more: 'neutral',
    hint: 'Uploaded costs',
    definition: 'Uploaded costs.',
    source: OURS,
    nanos: (sums) => sums.spend,
  }),
  cpi: from(['spend', 'attributedInstalls'], {
    label: 'CPI',
    kind: 'ratio',
    unit: 'money',
    formula: 'spend / attributed installs',
    more: 'bad',
    hint: 'Spend per attributed install',
    missing: 'without spend',
    definition: 'Cost per install: spend / installs of attributed devices.',
    source: `${ADJUST}cost-per-install/`,
    value: (sums) => (sums.spend === 0n ? null : per(units(sums.spend), sums.attributedInstalls)),
  }),
  roas: from(['attributedRevenue', 'spend'], {
    label: 'ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'revenue so far of the attributed devices acquired in the period / spend',
    hint: 'Revenue so far of the attributed devices acquired in the period / spend',
    definition:
      'Return on ad spend: revenue so far of the attributed devices acquired in the period / spend.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.attributedRevenue), units(sums.spend)),
  }),
  roas_blended: from(['acquiredRevenue', 'spend'], {
    label: 'Blended ROAS',
    kind: 'ratio',
    unit: 'percent',
    formula: 'revenue so far of all devices acquired in the period / spend',
    hint: 'Like ROAS, but including organic devices',
    definition: 'Revenue so far of all devices acquired in the period, including organic ones, / spend.',
    source: `${ADJUST}roas-definition/`,
    value: (sums) => per(units(sums.acquiredRevenue), units(sums.spend)),
  }),
  events: from(['customEvents'], {
    label: 'Custom events',
    kind: 'sum',
    unit: 'count',
    definition: 'Custom events, except ad requests, which `ad_requests` counts.',
    source: OURS,
    value: (sums) => sums.customEvents,
  }),
} as const;

export type Metric = keyof typeof METRICS;
export type MoneyMetric = {
  [Name in Metric]: (typeof METRICS)[Name] extends { nanos: unknown } ? Name : never;
}[Metric];

export const ALL_METRICS = Object.keys(METRICS) as Metric[];

const readsOf = (metric: Metric): readonly SumName[] => METRICS[metric].reads;

/** The metrics that are computed from any of these sums. */
export const metricsFrom = (...sums: readonly SumName[]): readonly Metric[] =>
  ALL_METRICS.filter((metric) => readsOf(metric).some((sum) => sums.includes(sum)));

/** The metrics that are computed from nothing but these sums. */
export const metricsWithin = (sums: readonly string[]): readonly Metric[] =>
  ALL_METRICS.filter((metric) => readsOf(metric).every((sum) => sums.includes(sum)));

/** The sum of a measure: `adRevenue` of `ad_revenue`. */
export const sumOf = (measure: string) =>
  measure.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as Amount | Count;

/** Metrics that need costs. Costs name only campaigns, ad sets and creatives, so no other dimension has spend. */
export const OF_SPEND = metricsFrom('spend');
/** Metrics based on what devices have earned since their acquisition. */
export const OF_ACQUIRED = metricsFrom('acquiredRevenue', 'attributedRevenue');
/** Metrics of distinct payers. */
export const OF_PAYERS = metricsFrom('payers');
/** Metrics that can be grouped by currency. */
export const WITH_CURRENCY = metricsWithin(
  Object.entries(SUMS).flatMap(([name, sum]) => ('by' in sum ? [name] : [])),
);
export const isMoneyMetric = (metric: Metric): metric is MoneyMetric => 'nanos' in METRICS[metric];

/** The metrics of the retention, lifetime-value and funnel reports. */
export const COHORT_METRICS = {
  size: { definition: 'Devices acquired in the cohort.', source: `${ADJUST}cohort/` },
  eligible: {
    definition: "Devices whose day N is over in the application's time zone.",
    source: AMPLITUDE,
  },
  classic: { definition: 'Devices active exactly on day N / eligible devices.', source: AMPLITUDE },
  rolling: { definition: 'Devices active on day N or later / eligible devices.', source: AMPLITUDE },
  revenue: {
    definition: 'Revenue of the eligible devices from day 0 to day N.',
    source: OURS,
  },
  ltv: {
    definition:
      'Lifetime value by day N: for each day d from 0 to N, the revenue on day d of the devices whose day d is over / these devices, added up. If day N is over for the whole cohort, this is its revenue / its devices. A young cohort uses what is known of each day, so the value never falls from one day to the next.',
    source: `${ADJUST}lifetime-value-ltv/`,
  },
  roas: {
    definition:
      'Return on ad spend by day N: for each day d from 0 to N, the revenue on day d of the devices whose day d is over / the spend on these devices, added up. The spend on devices is what was spent on the days on which they were acquired, including days that brought none. Null if nothing was spent on devices whose day N is over.',
    source: `${ADJUST}roas-definition/`,
  },
  payback_day: {
    definition:
      'The first day N, up to the last requested one, by which ROAS is at least 1 and day N is over for at least half of the devices. Null if there is none.',
    source: OURS,
  },
  complete: {
    definition:
      'Whether every device of the cohort is eligible: day N is over for all of them. Only such days can be compared with each other.',
    source: OURS,
  },
  from_first: {
    definition: 'Devices that reach the step / devices that reach the first step.',
    source: OURS,
  },
  from_previous: {
    definition: 'Devices that reach the step / devices that reach the previous step.',
    source: OURS,
  },
  median_seconds: {
    definition:
      'The median time in seconds from the previous step, for the devices that reach this step. Null for the first step. Exact unless there are more than a million different durations; long ones are then rounded to a thousandth.',
    source: OURS,
  },
} as const satisfies Record<string, Words>;
