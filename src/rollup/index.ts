export { appendStatement } from './append.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { type DeviceEvent, EventMessage, isOfDevice, LoggedEvent } from './event.ts';
export { foldLog } from './fold.ts';
export {
  type Arrivals,
  type LogState,
  readArrivals,
  readLogState,
  readTeamLog,
} from './health.ts';
export { keysOf, sessionKeyPrefixes } from './keys.ts';
export { unpack } from './log.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { pruneLog } from './prune.ts';
export { sendWithRetry } from './send.ts';
export { type IgnoredReason, reasonToIgnore } from './tally.ts';
