export type {
  AppendedStatus,
  ClientTotals,
  Cohort,
  CounterApi,
  CounterHealth,
  CreatedDevice,
  DeviceDescription,
  DeviceIdentity,
  FilePage,
  IndexedFile,
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
export { type PlacedDevice, placeDevice, type WantedDevice } from './place-device.ts';
export { largestGaps } from './queries.ts';
export { counterName, counterOf, countersOf, homeShard, MAX_SHARDS, possibleShards } from './shards.ts';
