/** What is added up in each rollup table. */
export const MEASURES = {
  rollup_daily: [
    'clicks',
    'installs',
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
  ],
  rollup_ads: ['impressions', 'ad_revenue', 'ad_requests'],
  rollup_items: ['purchases', 'failed_purchases', 'purchase_revenue'],
  rollup_custom: ['custom_events'],
  cohort_activity: ['active_devices', 'last_active_devices'],
  cohort_revenue: ['ad_revenue', 'purchase_revenue'],
} as const;

export type RollupTable = keyof typeof MEASURES;

/** What is added to a row: counts, and money in micros. */
export type Amounts<Table extends RollupTable> = Readonly<
  Partial<Record<(typeof MEASURES)[Table][number], number>>
>;
