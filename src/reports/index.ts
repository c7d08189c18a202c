export { AdsQuery, reportAds } from './ads.ts';
export { answerReport } from './answer.ts';
export { type Change, findChanges } from './changes.ts';
export { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
export { CompareQuery, reportCompare } from './compare.ts';
export { GROUPS as DEVICE_GROUPS } from './device-groups.ts';
export {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  givenBy,
  isDimension,
  rollupOf,
} from './dimensions.ts';
export { findFirstDay } from './first-day.ts';
export { FunnelQuery, reportFunnel } from './funnel.ts';
export { firstDayOfHours, isKnownByHour } from './hours.ts';
export { LtvQuery, reportLtv } from './ltv.ts';
export { deviceFilterOf } from './payers.ts';
export { PerformanceQuery, type PerformanceReport, reportPerformance } from './performance.ts';
export { PREDICTED_LTV_COLUMNS, PredictedLtvQuery, REASONS, reportPredictedLtv } from './predicted-ltv.ts';
export { filterFields, filtersOf, MAX_ROWS, ReportFilters } from './query.ts';
export { RetentionQuery, reportRetention } from './retention.ts';
