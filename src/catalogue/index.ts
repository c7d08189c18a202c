export { type Change, changeOf } from './change.ts';
export { COHORT_METRICS } from './cohort-metrics.ts';
export { MAU_DAYS } from './device-metrics.ts';
export {
  DIMENSIONS,
  type DimensionDefinition,
  type DimensionName,
  HOURLY_METRICS,
  metricsIn,
  rollupOf,
} from './dimensions.ts';
export {
  clickFlooding,
  FLOODING,
  isFlooded,
  type JudgedSources,
  measureSourceDays,
} from './doubts/flooding.ts';
export { DOUBT_RULES, type Doubt, type DoubtSettings, doubtsOf, settingOf } from './doubts/list.ts';
export {
  DOUBT_ACTIONS,
  type DoubtAction,
  type DoubtFacts,
  type DoubtRule,
  type SourceDayFacts,
} from './doubts/rule.ts';
export { EventEnvelope, fieldsOf, keysOfEnvelope, sentKeyOf } from './envelope.ts';
export { ClickCountry, ClickParams, MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from './events/click.ts';
export type { StoreEvent } from './events/store.ts';
export { HOURS_KEPT_DAYS, hourIdOf, hourOfId } from './hours.ts';
export { groupedAs, storedAs } from './joined-networks.ts';
export type {
  ClientTotal,
  ColumnType,
  EventKind,
  JudgedAmount,
  NewTransactionStep,
  Rollups,
  ShownEvent,
  TransactionStepKind,
} from './kind.ts';
export {
  EVENT_COLUMNS,
  EVENT_EXAMPLES,
  EVENT_TYPES,
  eventLabel,
  FUNNEL_STEP_FORMS,
  FUNNEL_STEPS,
  isFunnelStep,
  SENT_KINDS,
  summarise,
} from './lists.ts';
export {
  type DeviceEvent,
  deviceIdIn,
  findKind,
  isOfDevice,
  isSent,
  keepsKeys,
  kindOf,
  LoggedEvent,
  shardOf,
} from './logged-event.ts';
export {
  ATTRIBUTION_CHOICES,
  ATTRIBUTIONS,
  type AttributionChoice,
  type AttributionKind,
  attributionOf,
  type Basis,
  basisOf,
  columnsOf,
  isMoney,
  keysTogether,
  MEASURES,
  type MeasureAmounts,
  type MoneyMeasure,
  ROLLUP_KEYS,
  type RollupTable,
} from './measures.ts';
export type { MetricDefinition } from './metric.ts';
export {
  ALL_METRICS,
  basisText,
  isCohortMetric,
  isMoneyMetric,
  isRequested,
  KNOWN_IN_PART,
  METRICS,
  type Metric,
  type MoneyMetric,
  OF_ACQUIRED,
  OF_COSTS,
  OF_DEVICES,
  OF_PAYERS,
  OF_SPEND,
  OF_STATED_IMPRESSIONS,
  PLAIN_METRICS,
  type PlainMetric,
  type RequestedMetric,
  sumOf,
} from './metrics.ts';
export { OS_FAMILIES, type OsFamily } from './os.ts';
export {
  isOutboundType,
  OUTBOUND_EVENTS,
  type OutboundFilter,
  type OutboundRule,
  outboundTypeOf,
  passesFilter,
} from './outbound.ts';
export { segmentFilters, storedValue, UNKNOWN_VALUE } from './segment-filters.ts';
export {
  COST_DIMENSIONS,
  type CostDimension,
  DEVICE_DIMENSIONS,
  type DeviceDimension,
  EVENT_DIMENSIONS,
  isCostDimension,
  isSegmentDimension,
  MAX_SEGMENTS,
  normalised,
  OTHER_VALUE,
  type OwnValues,
  ofDimensions,
  ownValues,
  ownValuesOf,
  SEGMENT,
  SEGMENT_DIMENSIONS,
  type Segment,
  SegmentBook,
  type SegmentDimension,
  segmentId,
  segmentOf,
  segmentWithoutDevice,
  shownCountry,
  shownValue,
  storedSegment,
  UNKNOWN_SEGMENT,
  valuesOfSegment,
  withOwnValues,
} from './segments.ts';
export {
  AMOUNTS,
  type AmountName,
  COUNTS,
  type CohortFigure,
  type CohortFigures,
  type CountName,
  netOfFee,
  per,
  type Sums,
} from './sums.ts';
export { findValuesByName, valueName } from './value-names.ts';
export { applicationProperties, devicePropertiesOf, sharingProperties } from './wire.ts';
