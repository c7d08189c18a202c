export type {
  AppendedStatus,
  ClientTotals,
  Cohort,
  CounterApi,
  CounterHealth,
  CreatedDevice,
  DeviceDescription,
  DeviceIdentity,
  ExportRange,
  LogFilter,
  LogPage,
  NewDevice,
  Outcome,
  PackedBatch,
  PackedRow,
  Payers,
  Settled,
  StoredDevice,
} from './api.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { Counter } from './counter.ts';
export { packEvents } from './pack.ts';
export {
  createDevices,
  type FoundDevice,
  findDevices,
  type PlacedDevice,
  type WantedDevice,
} from './place-devices.ts';
export { largestGaps } from './queries.ts';
export { retried } from './retry.ts';
export { counterName, counterOf, countersOf, homeShard, MAX_SHARDS, possibleShards } from './shards.ts';
