import { MEASURES, ROLLUP_KEYS, type RollupTable } from './measures.ts';
import {
  ALL_METRICS,
  type Metric,
  metricsFrom,
  metricsWithin,
  OF_COSTS,
  OF_DEVICES,
  sumOf,
  WITH_CURRENCY,
} from './metrics.ts';
import { EVENT_DIMENSIONS, ofDimensions, SEGMENT, SEGMENT_DIMENSIONS } from './segments.ts';

/** A dimension that reports can group by. */
export type DimensionDefinition = {
  label: string;
  /** A span of time; a creative, ad set or campaign; a part of the segment; or else a column of some rollups. */
  kind: 'time' | 'named' | 'segment' | 'column';
  /** The column of the rollups or of the segment. */
  column: string;
  /** Metrics that are null in reports grouped by it. */
  lacks?: readonly Metric[];
};

const WITHOUT_CURRENCY = ALL_METRICS.filter((metric) => !WITH_CURRENCY.includes(metric));

/** See `SEGMENT`, which has all that is known of them. */
const SEGMENT_GROUPINGS = ofDimensions(SEGMENT_DIMENSIONS, (name) => ({
  label: SEGMENT[name].label,
  kind: 'segment' as const,
  column: name,
  lacks: [
    ...(SEGMENT[name].ofCosts ? [] : OF_COSTS),
    ...(EVENT_DIMENSIONS.some((own) => own === name) ? OF_DEVICES : []),
  ],
}));

/** The groupings of the performance report, in the order in which they are offered. */
export const DIMENSIONS = {
  hour: { label: 'Hour', kind: 'time', column: 'hour' },
  day: { label: 'Day', kind: 'time', column: 'day' },
  week: { label: 'Week', kind: 'time', column: 'day' },
  month: { label: 'Month', kind: 'time', column: 'day' },
  creative: { label: 'Creative', kind: 'named', column: 'creative_id' },
  adset: { label: 'Ad set', kind: 'named', column: 'creative_id' },
  campaign: { label: 'Campaign', kind: 'named', column: 'creative_id' },
  ...SEGMENT_GROUPINGS,
  source: { label: 'Ad format', kind: 'column', column: 'source', lacks: OF_COSTS },
  // Ad requests are made before any network is known, so they cannot be attributed to one.
  media_source: {
    label: 'Ad network',
    kind: 'column',
    column: 'media_source',
    lacks: [...OF_COSTS, ...metricsFrom('adRequests')],
  },
  placement: { label: 'Placement', kind: 'column', column: 'placement', lacks: OF_COSTS },
  item: { label: 'Item', kind: 'column', column: 'item_id', lacks: OF_COSTS },
  event_name: { label: 'Event', kind: 'column', column: 'event_name', lacks: OF_COSTS },
  currency: { label: 'Currency', kind: 'column', column: 'currency', lacks: WITHOUT_CURRENCY },
} as const satisfies Record<string, DimensionDefinition>;

export type DimensionName = keyof typeof DIMENSIONS;

/** The rollups that the performance report reads, the one with the most metrics first. */
const REPORTED: readonly RollupTable[] = [
  'rollup_daily',
  'rollup_ads',
  'rollup_items',
  'rollup_custom',
  'rollup_hours',
];

/** The rollup with all of these dimensions, preferring the one with the most metrics; undefined if no event has them all. */
export function rollupOf(names: readonly DimensionName[]): RollupTable | undefined {
  return REPORTED.find((table) => names.every((name) => hasDimension(table, name)));
}

/** Figures by hour have no segments. */
function hasDimension(table: RollupTable, name: DimensionName): boolean {
  const { kind, column }: DimensionDefinition = DIMENSIONS[name];
  const keys: readonly string[] = ROLLUP_KEYS[table];
  return kind === 'segment' ? table !== 'rollup_hours' : keys.includes(column);
}

/** The metrics whose sums a rollup has. `all` are those of the daily rollup, which has every measure. */
export function metricsIn(table: RollupTable, all: readonly Metric[]): Metric[] {
  if (table === 'rollup_daily') return [...all];
  const own = metricsWithin(MEASURES[table].map(sumOf));
  return all.filter((metric) => own.includes(metric));
}

/** The metrics that exist for a part of a day. The others count a device once per day, or exist only for whole days. */
export const HOURLY_METRICS: readonly Metric[] = metricsIn('rollup_hours', ALL_METRICS);
