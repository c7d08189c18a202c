export { readCountedArrivals, readFirstDay } from './arrivals.ts';
export {
  type Compacted,
  compactParts,
  placesToCompact,
  replaceParts,
} from './cube/compact.ts';
export { type PartRow, type SegmentOfId, sumRowsOf } from './cube/cube.ts';
export { type Grain, keyColumns } from './cube/grains.ts';
export { type NumberedColumn, type OpenPart, openPart, type PartSelection } from './cube/open-part.ts';
export { PartSegments } from './cube/part-segments.ts';
export { pruneHours } from './cube/prune-hours.ts';
export { type CubeStores, readParts } from './cube/read-parts.ts';
export { REVENUE_DAYS, readRevenue } from './device/device-revenue.ts';
export { type DeviceFacts, type DeviceHistory, RunningDevice } from './device/device-state.ts';
export { Journal } from './device/journal.ts';
export { firstTimes, walkSteps } from './device/step-walk.ts';
export type { Entries, TakeEntries } from './entries.ts';
export { keysOf, scopedKey } from './keys.ts';
export { EventMessage, eventText, joinMessage, messageHead, readMessage } from './message.ts';
export { monthPrefixes } from './months/month-file.ts';
export {
  applicationIdOf,
  eraseParked,
  PARK_REASON,
  type Parked,
  parkedBody,
  parkedId,
  parkStatements,
  toParkedEvent,
  wholeBody,
} from './park.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { sendEvent, sendWithRetry } from './send.ts';
export {
  neutralSums,
  parkedSums,
  type SumRows,
  sumStatement,
} from './sum-rows.ts';
export {
  type Additions,
  additionColumns,
  highOf,
  NANOS_PER_HIGH,
  ROLLUP_TABLES,
  type StoredTable,
  sumColumnsOf,
} from './tables.ts';

export { type IgnoredReason, reasonToIgnore, startTally, type Tally } from './tally.ts';
export {
  hasStep,
  isStepBack,
  purchaseIn,
  type TransactionStep,
  type Transactions,
  transactionsInMemory,
} from './transactions.ts';
