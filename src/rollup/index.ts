export { appendStatement } from './append.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { type DeviceEvent, EventMessage, isOfDevice, LoggedEvent } from './event.ts';
export { foldLog, unpack } from './fold.ts';
export {
  type Arrivals,
  type LogState,
  readArrivals,
  readLogState,
  readTeamLog,
} from './health.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { pruneLog } from './prune.ts';
export { sendWithRetry } from './send.ts';
export { keysOf } from './tally.ts';
