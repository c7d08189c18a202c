export type { AppendedStatus, LogPage, NewDevice, PackedBatch, Settled, StoredDevice } from './api.ts';
export {
  countPayers,
  forgetMissingFiles,
  resumeCounting,
  settleCounters,
  sumClientTotals,
} from './application.ts';
export {
  type ApplicationHealth,
  type Arrivals,
  isStuck,
  readApplicationHealth,
  readArrivals,
} from './application-health.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { Counter } from './counter.ts';
export { counterNames, deleteCounters } from './delete-counters.ts';
export { queryFunnel, sumFunnel } from './funnel.ts';
export { batchOfNewDevices, newDevicesPrefix } from './new-devices.ts';
export { askOutcomes } from './outcomes.ts';
export { packEvents } from './pack.ts';
export { createDevices, type FoundDevice, findDevices, type PlacedDevice } from './place-devices.ts';
export { askPurchases } from './purchases.ts';
export type {
  DeviceFilter,
  DeviceGroup,
  FunnelAnswer,
  OutcomesAnswer,
  PayerGrouping,
  Payers,
  PayersQuery,
  PurchasesAnswer,
} from './questions.ts';
export { deliveredThrough, type QueueProgress, readQueues } from './queue-progress.ts';
export { retryCall } from './retry.ts';
export { readAllApplied } from './sequence-gap.ts';
export { counterName, counterOf, countersOf, homeShard, MAX_SHARDS, possibleShards } from './shards.ts';
export { countUndelivered, deleteUndelivered, parkUndelivered } from './undelivered.ts';
export { readRedeliveryLimit } from './upkeep.ts';
