const DAILY = [
  'clicks',
  'creative_impressions',
  'installs',
  'doubted_installs',
  'active_devices',
  'sessions',
  'session_seconds',
  'custom_events',
  'ad_requests',
  'payers',
  'impressions',
  'ad_revenue',
  'purchases',
  'failed_purchases',
  'purchase_revenue',
  'ended_sessions',
  // What was refunded on this day, and what was refunded of the purchases of this day.
  'refunds',
  'refunded_revenue',
  'returned_revenue',
  // What stores tell of subscriptions.
  'trials',
  'renewals',
] as const;

/**
 * Measures that do not exist by hour. Devices count once per day, so those of its hours would not add up to its total. A refund changes the day of
 * its purchase, whose hour is not kept, and a client's purchase that of a store's payment.
 */
const BY_DAY_ONLY = [
  'active_devices',
  'payers',
  'refunds',
  'refunded_revenue',
  'returned_revenue',
  'trials',
  'renewals',
] as const satisfies readonly (typeof DAILY)[number][];

type DailyMeasure = (typeof DAILY)[number];
type ByDayOnly = (typeof BY_DAY_ONLY)[number];
const isHourly = (measure: DailyMeasure): measure is Exclude<DailyMeasure, ByDayOnly> =>
  !BY_DAY_ONLY.some((name) => name === measure);

/** The sums in each rollup table. What is stored names them: a measure can be added anywhere in its list, and its name never changes. */
export const MEASURES = {
  rollup_daily: DAILY,
  rollup_hours: DAILY.filter(isHourly),
  rollup_ads: ['impressions', 'ad_revenue', 'ad_requests'],
  rollup_items: ['purchases', 'failed_purchases', 'purchase_revenue'],
  rollup_custom: ['custom_events'],
  // Devices active on exactly this day, and those whose last active day (so far) it is: their sum from N on is rolling retention.
  cohort_activity: ['active_devices', 'last_active_devices'],
  cohort_revenue: ['ad_revenue', 'purchase_revenue', 'returned_revenue'],
} as const;

export type RollupTable = keyof typeof MEASURES;
type Measure = (typeof MEASURES)[RollupTable][number];

/** The amounts to add to a row: counts, and money in nanos. */
export type MeasureAmounts<Table extends RollupTable> = Readonly<
  Partial<Record<(typeof MEASURES)[Table][number], number>>
>;

/** What the devices and clicks behind a sum came from: `paid` if from a creative. */
export const ATTRIBUTIONS = ['paid', 'organic'] as const;
export type AttributionKind = (typeof ATTRIBUTIONS)[number];

/** What reports can be asked for: `all` are all devices, and what is computed from spend is of all of them too, not of the paid ones. */
export const ATTRIBUTION_CHOICES = [...ATTRIBUTIONS, 'all'] as const;
export type AttributionChoice = (typeof ATTRIBUTION_CHOICES)[number];

/** Whose revenue and installs are set against spend: those of attributed devices, or of all. */
export type Basis = 'paid' | 'blended';
export const basisOf = (attribution: AttributionChoice | undefined): Basis =>
  attribution === 'all' ? 'blended' : 'paid';

/** `creativeId` is empty for an organic device. */
export const attributionOf = (creativeId: string): AttributionKind =>
  creativeId === '' ? 'organic' : 'paid';

/** The key of each rollup's sums by creative. Organic devices have an empty `creative_id`. */
export const ROLLUP_KEYS = {
  rollup_daily: ['application_id', 'day', 'creative_id', 'currency'],
  rollup_hours: ['application_id', 'day', 'hour', 'creative_id', 'currency'],
  rollup_ads: ['application_id', 'day', 'source', 'media_source', 'placement', 'creative_id', 'currency'],
  rollup_items: ['application_id', 'day', 'item_id', 'creative_id', 'currency'],
  rollup_custom: ['application_id', 'day', 'event_name', 'creative_id'],
  cohort_activity: ['application_id', 'acquired_day', 'creative_id', 'age'],
  cohort_revenue: ['application_id', 'acquired_day', 'creative_id', 'day', 'currency'],
} as const satisfies Record<RollupTable, readonly string[]>;

/** The key of a rollup's sums of all creatives together: the attribution in place of the creative. */
export const keysTogether = (table: RollupTable): string[] =>
  ROLLUP_KEYS[table].map((name) => (name === 'creative_id' ? 'attribution' : name));

const MONEY_MEASURES = [
  'ad_revenue',
  'purchase_revenue',
  'refunded_revenue',
  'returned_revenue',
] as const satisfies readonly Measure[];
export type MoneyMeasure = (typeof MONEY_MEASURES)[number];
const MONEY = new Set<string>(MONEY_MEASURES);

/** Whether a measure is an amount of money in its row's currency; otherwise it is a count. */
export const isMoney = (measure: string): boolean => MONEY.has(measure);

/**
 * The columns of a measure. An amount has two, so that no sum overflows 64 bits: nanos below 10^12 in the column with its name, whole
 * thousands of units (10^12 nanos) in `<name>_high`.
 */
export const columnsOf = (measure: string): string[] =>
  isMoney(measure) ? [measure, `${measure}_high`] : [measure];
