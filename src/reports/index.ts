export { AdsQuery } from './ads.ts';
export { ClientTotalsQuery } from './client-totals.ts';
export { DIMENSIONS, type Dimension } from './dimensions.ts';
export { FunnelQuery } from './funnel.ts';
export { LtvQuery } from './ltv.ts';
export { ALL_METRICS, COHORT_METRICS, METRICS } from './metrics.ts';
export { PerformanceQuery } from './performance.ts';
export { RetentionQuery } from './retention.ts';
export { reportRoutes } from './routes.ts';
