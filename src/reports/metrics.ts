import { amountField, fromMicros } from '#lib/money';
import { daysBetween } from '#lib/time';

// Every figure of every report is defined here, once: its words, its source and its arithmetic. The documentation is made from it.

/** What is added up over a group. Amounts are micros of the reporting currency. */
export type Sums = {
  clicks: number;
  installs: number;
  activeDevices: number;
  sessions: number;
  sessionSeconds: number;
  customEvents: number;
  adRequests: number;
  payers: number;
  impressions: number;
  adRevenue: bigint;
  purchases: number;
  failedPurchases: number;
  purchaseRevenue: bigint;
  spend: bigint;
  /** What the devices acquired in the period have earned so far; null where a part of it cannot be converted. */
  acquiredRevenue: bigint | null;
};

/** Null where there is nothing below the line. */
export const ratio = (above: number, below: number) => (below === 0 ? null : above / below);

const ADMOB = 'https://support.google.com/admob/table/9462111';
const ADJUST = 'https://www.adjust.com/glossary/';
const AMPLITUDE = 'https://amplitude.com/docs/faq/retention-analysis';
/** Counts that mean what this service says they do, in its own contract. */
const OURS = 'this service';

type MetricDefinition = { definition: string; source: string } & (
  | {
      /** `days` is the number of calendar days of the group that are over or have begun. */
      value: (sums: Sums, days: number) => number | null;
    }
  /** A sum of amounts, which stays exact however large it is. */
  | { micros: (sums: Sums) => bigint }
);

/** The metrics of the performance report, in the order of its columns. */
export const METRICS = {
  clicks: {
    definition: 'Clicks on tracking links that were counted.',
    source: OURS,
    value: (sums) => sums.clicks,
  },
  installs: {
    definition: 'Devices seen for the first time, on the day of their acquisition.',
    source: `${ADJUST}install/`,
    value: (sums) => sums.installs,
  },
  dau: {
    definition: 'Devices with any event on a day, their acquisition included; over several days the mean.',
    source: `${ADJUST}daily-active-users/`,
    value: (sums, days) => ratio(sums.activeDevices, days),
  },
  sessions: {
    definition: 'Retention events; repeats of one session_id by one device are one session.',
    source: `${ADJUST}session/`,
    value: (sums) => sums.sessions,
  },
  session_seconds: {
    definition: 'The lengths of the sessions that ended, in seconds, as clients report them.',
    source: OURS,
    value: (sums) => sums.sessionSeconds,
  },
  impressions: { definition: 'Ads shown: ad events.', source: ADMOB, value: (sums) => sums.impressions },
  ad_revenue: {
    definition: 'The sum of the values of ad events.',
    source: ADMOB,
    micros: (sums) => sums.adRevenue,
  },
  ecpm: {
    definition: 'Effective cost per mille: ad revenue / impressions × 1000.',
    source: `${ADJUST}ecpm/`,
    value: (sums) => ratio(fromMicros(sums.adRevenue * 1000n), sums.impressions),
  },
  ad_requests: {
    definition: 'Ad requests that were reported by custom events of the name ad_request.',
    source: ADMOB,
    value: (sums) => sums.adRequests,
  },
  fill_rate: {
    definition: 'Impressions / ad requests.',
    source: `${ADJUST}fill-rate/`,
    value: (sums) => ratio(sums.impressions, sums.adRequests),
  },
  purchases: {
    definition: 'Purchases of the status completed or success.',
    source: OURS,
    value: (sums) => sums.purchases,
  },
  failed_purchases: {
    definition: 'Purchases of the status failed.',
    source: OURS,
    value: (sums) => sums.failedPurchases,
  },
  payers: {
    definition:
      'Distinct devices with a successful purchase on a day; over several days the sum of the days.',
    source: OURS,
    value: (sums) => sums.payers,
  },
  purchase_revenue: {
    definition: 'The sum of the values of successful purchases.',
    source: OURS,
    micros: (sums) => sums.purchaseRevenue,
  },
  revenue: {
    definition: 'Ad revenue + purchase revenue.',
    source: OURS,
    micros: (sums) => sums.adRevenue + sums.purchaseRevenue,
  },
  arpdau: {
    definition:
      'Average revenue per daily active user: revenue / dau; over several days total revenue / summed dau.',
    source: `${ADJUST}arpdau/`,
    value: (sums) => ratio(fromMicros(sums.adRevenue + sums.purchaseRevenue), sums.activeDevices),
  },
  arppu: {
    definition: 'Average revenue per paying user: purchase revenue / payers.',
    source: `${ADJUST}arppu/`,
    value: (sums) => ratio(fromMicros(sums.purchaseRevenue), sums.payers),
  },
  spend: { definition: 'Uploaded costs.', source: OURS, micros: (sums) => sums.spend },
  cpi: {
    definition: 'Cost per install: spend / installs.',
    source: `${ADJUST}cost-per-install/`,
    value: (sums) => ratio(fromMicros(sums.spend), sums.installs),
  },
  roas: {
    definition:
      'Return on ad spend: what the devices acquired in the period have earned so far / spend. Null where a part of it cannot be converted.',
    source: `${ADJUST}roas-definition/`,
    value: ({ acquiredRevenue, spend }) =>
      acquiredRevenue === null ? null : ratio(fromMicros(acquiredRevenue), fromMicros(spend)),
  },
  events: { definition: 'Custom events.', source: OURS, value: (sums) => sums.customEvents },
} as const satisfies Record<string, MetricDefinition>;

export type Metric = keyof typeof METRICS;
export type MoneyMetric = {
  [Name in Metric]: (typeof METRICS)[Name] extends { micros: unknown } ? Name : never;
}[Metric];
/** The exact amounts stand beside the numbers only where those may be rounded. */
export type MetricValues = Record<Metric, number | null> & Partial<Record<`${MoneyMetric}_exact`, string>>;

export const ALL_METRICS = Object.keys(METRICS) as Metric[];
export const isMoneyMetric = (metric: Metric): metric is MoneyMetric => 'micros' in METRICS[metric];

/** Every metric of a group; null for those that its grouping cannot give. */
export function metricsOf(sums: Sums, days: number, given: ReadonlySet<Metric>): MetricValues {
  const values = ALL_METRICS.map((name) => {
    const metric: MetricDefinition = METRICS[name];
    if (!given.has(name)) return { [name]: null };
    return 'micros' in metric ? amountField(name, metric.micros(sums)) : { [name]: metric.value(sums, days) };
  });
  return Object.assign({}, ...values);
}

/** Whether day N of a cohort is over: only then do its devices count for day N, above and below the line. */
export const isOver = (acquiredDay: string, day: number, today: string): boolean =>
  daysBetween(acquiredDay, today) > day;

/** Devices of one acquisition day: how many were active `age` days later, and of how many that was the last active day. */
export type ActivityRow = { acquiredDay: string; age: number; active: number; lastActive: number };

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
} as const;

/** Every device is active on day 0, the day of its acquisition. */
export const cohortSize = (rows: readonly ActivityRow[]): number =>
  rows.reduce((total, row) => total + (row.age === 0 ? row.active : 0), 0);

/** Classic and rolling retention on day N. `today` is a day in the application's time zone. */
export function retentionOf(rows: readonly ActivityRow[], day: number, today: string) {
  const over = rows.filter((row) => isOver(row.acquiredDay, day, today));
  const eligible = cohortSize(over);
  let [active, later] = [0, 0];
  for (const row of over) {
    if (row.age === day) active += row.active;
    if (row.age >= day) later += row.lastActive;
  }
  return { eligible, active, classic: ratio(active, eligible), rolling: ratio(later, eligible) };
}

/** Lifetime value and ROAS by day N, of the sums over the eligible devices; null revenue or spend: not all can be converted. */
export function lifetimeValueOf(sums: { eligible: number; revenue: bigint; spend: bigint; whole: boolean }) {
  const revenue = amountField('revenue', sums.revenue);
  return {
    eligible: sums.eligible,
    ...revenue,
    ltv: ratio(revenue.revenue, sums.eligible),
    roas: sums.whole ? ratio(revenue.revenue, fromMicros(sums.spend)) : null,
  };
}

/** A funnel's steps from how many devices reach each, and how fast. */
export function funnelOf(steps: readonly { step: string; devices: number; medianSeconds: number | null }[]) {
  return steps.map(({ step, devices, medianSeconds }, index) => ({
    step,
    devices,
    from_first: ratio(devices, steps[0]?.devices ?? 0),
    from_previous: index === 0 ? null : ratio(devices, steps[index - 1]?.devices ?? 0),
    median_seconds: medianSeconds,
  }));
}
