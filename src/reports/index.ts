export { AdsQuery, reportAds } from './ads.ts';
export { answerCsv, LACKING } from './answer-csv.ts';
export { findChanges } from './changes.ts';
export { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
export { LtvQuery, reportLtv } from './cohorts/cohort-ltv.ts';
export { readDeviceRevenue } from './cohorts/device-revenue.ts';
export { REASONS } from './cohorts/predict-cohort.ts';
export { PredictedLtvQuery, reportPredictedLtv } from './cohorts/predicted-ltv.ts';
export { RetentionQuery, reportRetention } from './cohorts/retention.ts';
export { CompareQuery, reportCompare } from './compare.ts';
export { GROUPS as DEVICE_GROUPS } from './device-groups.ts';
export {
  type DimensionName,
  givenBy,
  isDimension,
  isOfGroup,
  REPORT_DIMENSIONS,
  rollupOf,
} from './dimensions.ts';
export { DOUBTS_GROUPS, DoubtsQuery, findDoubts } from './doubts/doubts.ts';
export { judgeSources } from './doubts/source-days.ts';
export { earlierDays } from './earlier-days.ts';
export { findFirstDay } from './first-day.ts';
export { FunnelQuery, reportFunnel } from './funnel.ts';
export { firstDayOfHours, isKnownByHour } from './hours.ts';
export {
  PerformanceQuery,
  type PerformanceReport,
  type PerformanceRow,
  reportPerformance,
} from './performance.ts';
export { askedFilters, MAX_ROWS, ReportFilters } from './query.ts';
export { REPORTS, type Report, type ReportName, tableColumns } from './routes.ts';
