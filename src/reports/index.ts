export { AdsQuery, reportAds } from './ads.ts';
export { answerReport } from './answer.ts';
export { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
export { FunnelQuery, reportFunnel } from './funnel.ts';
export { LtvQuery, reportLtv } from './ltv.ts';
export { PerformanceQuery, type PerformanceReport, reportPerformance } from './performance.ts';
export { RetentionQuery, reportRetention } from './retention.ts';
export { reportRoutes } from './routes.ts';
