export { appendStatement } from './append.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { type DeviceEvent, EventMessage, isOfDevice, LoggedEvent, type PackedEvent } from './event.ts';
export { foldLog, unpack } from './fold.ts';
export {
  type Arrivals,
  type LogState,
  readArrivals,
  readLogState,
  readTeamLog,
} from './health.ts';
export {
  applicationIdOf,
  type Parked,
  parkedBody,
  parkedId,
  parkStatement,
  toParkedEvent,
} from './park.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { pruneLog } from './prune.ts';
export { sendWithRetry } from './send.ts';
export { type Additions, additionSql, ROLLUPS, type RollupTable } from './tables.ts';
export {
  type Counted,
  type DeviceState,
  deviceKeyOf,
  keysOf,
  scopedKey,
  sessionKey,
  startTally,
} from './tally.ts';
