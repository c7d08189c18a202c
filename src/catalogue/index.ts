export {
  DIMENSIONS,
  type DimensionDefinition,
  type DimensionName,
  metricsIn,
  rollupOf,
} from './dimensions.ts';
export {
  type Amounts,
  columnsOf,
  isMoney,
  MEASURES,
  type Measure,
  ROLLUP_KEYS,
  type RollupTable,
} from './measures.ts';
export {
  ALL_METRICS,
  COHORT_METRICS,
  isMoneyMetric,
  METRICS,
  type Metric,
  type MetricDefinition,
  type MoneyMetric,
  per,
  type Sums,
  type Unit,
} from './metrics.ts';
export {
  MAX_SEGMENTS,
  OTHER_SEGMENT,
  OTHER_VALUE,
  type Segment,
  SegmentBook,
  segmentId,
} from './segments.ts';
