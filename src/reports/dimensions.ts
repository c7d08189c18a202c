import { weekOf } from '#lib/calendar';
import { ALL_METRICS, type Metric, type Sums } from './metrics.ts';
import { COST_NAMES, CREATIVE_NAMES, type CreativeGroup, namedColumns } from './names.ts';

export type Rollup = {
  table: string;
  /** The column behind each sum. */
  counts: Partial<Record<Exclude<keyof Sums, 'spend' | 'acquiredRevenue'>, string>>;
  gives: ReadonlySet<Metric>;
};

const AD_COUNTS = { impressions: 'impressions', adRevenue: 'ad_revenue', adRequests: 'ad_requests' };
const PURCHASE_COUNTS = {
  purchases: 'purchases',
  failedPurchases: 'failed_purchases',
  purchaseRevenue: 'purchase_revenue',
};

/** Which rollup answers, what of it is added up, and which metrics that makes. */
export const ROLLUP = {
  daily: {
    table: 'rollup_daily',
    counts: {
      ...AD_COUNTS,
      ...PURCHASE_COUNTS,
      clicks: 'clicks',
      installs: 'installs',
      activeDevices: 'active_devices',
      sessions: 'sessions',
      sessionSeconds: 'session_seconds',
      customEvents: 'custom_events',
      payers: 'payers',
    },
    gives: new Set(ALL_METRICS),
  },
  ads: {
    table: 'rollup_ads',
    counts: AD_COUNTS,
    gives: new Set<Metric>(['impressions', 'ad_revenue', 'ecpm', 'ad_requests', 'fill_rate']),
  },
  items: {
    table: 'rollup_items',
    counts: PURCHASE_COUNTS,
    gives: new Set<Metric>(['purchases', 'failed_purchases', 'purchase_revenue']),
  },
  custom: {
    table: 'rollup_custom',
    counts: { customEvents: 'custom_events' },
    gives: new Set<Metric>(['events']),
  },
} as const satisfies Record<string, Rollup>;

export type RollupName = keyof typeof ROLLUP;

type DimensionShape = {
  /** SQL over the rollups for its value: one text for each group, whatever the source. Null or empty text for none. */
  column: string;
  /** The only rollups that have the column; absent: all of them. */
  rollups?: readonly RollupName[];
  /** The same over `costs`, empty text for a cost that is of no one group; absent where no cost can be told by it, so that spend, cpi and roas are null. */
  cost?: string;
  /** The same over `cohort_revenue`; absent where revenue of the acquired devices is not known by it: roas is null. */
  acquired?: string;
  /** Metrics that it cannot give, whatever the rollup. */
  lacks?: readonly Metric[];
  /** A span of days, or a creative and what it is in. */
  kind?: 'time' | 'named';
  /** The columns of the answer that a value becomes. */
  show: (value: string | null) => Shown;
};

/** The columns that name a group. */
export type Shown = Record<string, string | null>;

/** A span of days: what SQL makes of a day stands for it. */
const span = (ofDay: (day: string) => string, show: Dimension['show']) =>
  ({
    kind: 'time',
    column: ofDay('day'),
    cost: ofDay('day'),
    acquired: ofDay('acquired_day'),
    show,
  }) as const;

/** SQL for the Monday of a day's week. */
export const mondaySql = (day: string) => `date(${day}, 'weekday 0', '-6 days')`;
/** SQL for the month of a day, as `2026-11`. */
export const monthSql = (day: string) => `substr(${day}, 1, 7)`;

const named = (group: CreativeGroup) =>
  ({
    kind: 'named',
    column: CREATIVE_NAMES[group],
    acquired: CREATIVE_NAMES[group],
    cost: COST_NAMES[group],
    show: (value) => namedColumns(group, value),
  }) as const satisfies Dimension;

/** What has no currency has no row of its own by currency. */
const WITHOUT_CURRENCY: readonly Metric[] = [
  'clicks',
  'installs',
  'dau',
  'sessions',
  'session_seconds',
  'ad_requests',
  'fill_rate',
  'payers',
  'arpdau',
  'arppu',
  'cpi',
  'roas',
  'events',
];

/** The groupings of the performance report. */
export const DIMENSIONS = {
  day: span(String, (day) => ({ day })),
  week: span(mondaySql, (monday) => ({ week: monday && weekOf(monday) })),
  month: span(monthSql, (month) => ({ month })),
  creative: named('creative'),
  adset: named('adset'),
  campaign: named('campaign'),
  source: { column: 'source', rollups: ['ads'], show: (source) => ({ source }) },
  // Requests are made of a placement before any network is known, so no network can be held against them.
  media_source: {
    column: 'media_source',
    rollups: ['ads'],
    lacks: ['ad_requests', 'fill_rate'],
    show: (media_source) => ({ media_source }),
  },
  placement: { column: 'placement', rollups: ['ads'], show: (placement) => ({ placement }) },
  item: { column: 'item_id', rollups: ['items'], show: (item) => ({ item }) },
  event_name: { column: 'event_name', rollups: ['custom'], show: (event_name) => ({ event_name }) },
  currency: {
    column: 'currency',
    rollups: ['daily', 'ads', 'items'],
    cost: 'currency',
    lacks: WITHOUT_CURRENCY,
    show: (currency) => ({ currency }),
  },
} as const satisfies Record<string, DimensionShape>;

export type DimensionName = keyof typeof DIMENSIONS;
export type Dimension = DimensionShape;
export const isDimension = (name: string): name is DimensionName => Object.hasOwn(DIMENSIONS, name);

const kindOf = (name: DimensionName | undefined) => name && (DIMENSIONS[name] as Dimension).kind;
export const isTime = (name: DimensionName | undefined): boolean => kindOf(name) === 'time';
export const isNamed = (name: DimensionName | undefined): boolean => kindOf(name) === 'named';

const ORDER: readonly RollupName[] = ['daily', 'ads', 'items', 'custom'];

/** The rollup that has all of these groupings, the one with most metrics first; undefined where no event has them all. */
export function rollupOf(names: readonly DimensionName[]): RollupName | undefined {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  return ORDER.find((rollup) =>
    dimensions.every((dimension) => !dimension.rollups || dimension.rollups.includes(rollup)),
  );
}

/** The metrics that these groupings can give. */
export function givenBy(names: readonly DimensionName[], rollup: Rollup): ReadonlySet<Metric> {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const given = new Set(rollup.gives);
  const remove = (metrics: readonly Metric[]) => {
    for (const metric of metrics) given.delete(metric);
  };
  for (const { lacks, cost, acquired } of dimensions) {
    remove(lacks ?? []);
    if (!cost) remove(['spend', 'cpi', 'roas']);
    if (!acquired) remove(['roas']);
  }
  return given;
}
