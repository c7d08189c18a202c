export type {
  AppendedStatus,
  CountedAmount,
  ImplausibleAmount,
  LogPage,
  NewDevice,
  PackedBatch,
  StoredDevice,
} from './api.ts';
export type {
  DeviceFilter,
  DeviceGroup,
  DevicesOf,
  FunnelAnswer,
  NetTerms,
  OutcomesAnswer,
  PayerGrouping,
  Payers,
  PayersQuery,
  PurchasesAnswer,
} from './api-questions.ts';
export { Counter } from './counter.ts';
export { batchOfNewDevices, newDevicesPrefix } from './devices/new-devices.ts';
export { createDevices, type FoundDevice, findDevices, type PlacedDevice } from './devices/place-devices.ts';
export { packEvents } from './log.ts';
export { ObjectAlarm } from './object-alarm.ts';
export {
  deviceOf,
  type OutboundConsent,
  type OutboundItem,
  type OutboundPart,
  rewriteConsent,
  rewriteParts,
  withConsent,
  withoutDevice,
} from './outbound/parts.ts';
export { tellAllCounters, tellCounters, tellCountersSoon } from './outbound/tell-counters.ts';
export { readAllApplied } from './outbox/sequence-gap.ts';
export { queryCounters } from './query-counters.ts';
export {
  countPayers,
  deleteCounters,
  forgetMissingFiles,
  resumeCounting,
  settleCounters,
  sumClientTotals,
} from './questions/application.ts';
export {
  type ApplicationHealth,
  type Arrivals,
  isStuck,
  readApplicationHealth,
  readArrivals,
} from './questions/application-health.ts';
export { queryDoubts, sumDoubts } from './questions/doubts.ts';
export { queryFunnel, sumFunnel } from './questions/funnel.ts';
export { askOutcomes } from './questions/outcomes.ts';
export { askPurchases } from './questions/purchases.ts';
export { consumeDeadLetters, consumeEvents } from './queue/consume.ts';
export { deliveredThrough, type QueueProgress, readQueues } from './queue/queue-progress.ts';
export { eventDelaySeconds } from './queue/retry-schedule.ts';
export { countUndelivered, deleteUndelivered, parkUndelivered } from './queue/undelivered.ts';
export { backoffMs, retryCall } from './retry.ts';
export {
  type CounterBindings,
  counterName,
  counterNames,
  counterOf,
  countersOf,
  homeShard,
  MAX_SHARDS,
  possibleShards,
  type ShardedApplication,
  shardNumbers,
} from './shards.ts';
export { formatIn, type ObjectStore, openStore, toParameters } from './store.ts';
export { readRedeliveryLimit } from './upkeep.ts';
