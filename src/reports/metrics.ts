import { fromMicros } from '#lib/money';

/** What is added up over the rows of a group. Amounts are micros of the reporting currency. */
export type Sums = {
  clicks: number;
  installs: number;
  activeDevices: number;
  sessions: number;
  customEvents: number;
  adRequests: number;
  payers: number;
  impressions: number;
  adRevenue: bigint;
  purchases: number;
  failedPurchases: number;
  purchaseRevenue: bigint;
};

export const noSums = (): Sums => ({
  clicks: 0,
  installs: 0,
  activeDevices: 0,
  sessions: 0,
  customEvents: 0,
  adRequests: 0,
  payers: 0,
  impressions: 0,
  adRevenue: 0n,
  purchases: 0,
  failedPurchases: 0,
  purchaseRevenue: 0n,
});

const ratio = (above: number, below: number) => (below === 0 ? null : above / below);

/** Each metric's definition, in the order of the columns; `days` is the number of calendar days of the group. */
const METRICS = {
  clicks: (sums) => sums.clicks,
  installs: (sums) => sums.installs,
  dau: (sums, days) => ratio(sums.activeDevices, days),
  sessions: (sums) => sums.sessions,
  impressions: (sums) => sums.impressions,
  ad_revenue: (sums) => fromMicros(sums.adRevenue),
  ecpm: (sums) => ratio(fromMicros(sums.adRevenue * 1000n), sums.impressions),
  ad_requests: (sums) => sums.adRequests,
  fill_rate: (sums) => ratio(sums.impressions, sums.adRequests),
  purchases: (sums) => sums.purchases,
  failed_purchases: (sums) => sums.failedPurchases,
  payers: (sums) => sums.payers,
  purchase_revenue: (sums) => fromMicros(sums.purchaseRevenue),
  revenue: (sums) => fromMicros(sums.adRevenue + sums.purchaseRevenue),
  arpdau: (sums) => ratio(fromMicros(sums.adRevenue + sums.purchaseRevenue), sums.activeDevices),
  arppu: (sums) => ratio(fromMicros(sums.purchaseRevenue), sums.payers),
  spend: () => null,
  cpi: () => null,
  roas: () => null,
  events: (sums) => sums.customEvents,
} as const satisfies Record<string, (sums: Sums, days: number) => number | null>;

export type Metric = keyof typeof METRICS;
export type MetricValues = Record<Metric, number | null>;

export const ALL_METRICS = Object.keys(METRICS) as Metric[];

/** Every metric of a group; null for those that its grouping cannot give. */
export function metricsOf(sums: Sums, days: number, given: ReadonlySet<Metric>): MetricValues {
  const values = ALL_METRICS.map((metric) => [
    metric,
    given.has(metric) ? METRICS[metric](sums, days) : null,
  ]);
  return Object.fromEntries(values);
}
