export { appendStatement } from './append.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { type DeviceState, deviceKey } from './device-state.ts';
export { type DeviceEvent, EventMessage, isOfDevice, LoggedEvent } from './event.ts';
export { foldLog } from './fold.ts';
export {
  type Arrivals,
  type LogState,
  readArrivals,
  readLogState,
  readTeamLog,
} from './health.ts';
export { keysOf, scopedKey, sessionEndKey, sessionKey, sessionKeyPrefixes } from './keys.ts';
export { unpack } from './log.ts';
export {
  applicationIdOf,
  PARK_REASON,
  type Parked,
  parkedBody,
  parkedId,
  parkStatements,
  toParkedEvent,
} from './park.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { pruneLog } from './prune.ts';
export { sendWithRetry } from './send.ts';
export { type Additions, additionSql, ROLLUPS, type RollupTable } from './tables.ts';
export {
  type Counted,
  deviceKeyOf,
  type IgnoredReason,
  reasonToIgnore,
  startTally,
  type Tally,
} from './tally.ts';
