export { readCountedArrivals, readFirstDay } from './arrivals.ts';
export {
  type Compacted,
  compactParts,
  placesToCompact,
  replaceParts,
} from './compact.ts';
export { type PartRow, type SegmentOfId, sumRowsOf } from './cube.ts';
export { REVENUE_DAYS, readRevenue } from './device-revenue.ts';
export { type DeviceFacts, type DeviceHistory, RunningDevice } from './device-state.ts';
export type { Entries, TakeEntries } from './entries.ts';
export { type Grain, keyColumns } from './grains.ts';
export { Journal } from './journal.ts';
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
export { loadPartCodec, type NumberedColumn, type OpenPart, openPart } from './part-file.ts';
export { PartSegments } from './part-segments.ts';
export { pruneHours } from './prune-hours.ts';
export { type CubeStores, readParts } from './read-parts.ts';
export { sendWithRetry } from './send.ts';
export { firstTimes, walkSteps } from './step-walk.ts';
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
  type StoredTable,
  sumColumnsOf,
} from './tables.ts';

export { type IgnoredReason, reasonToIgnore, startTally, type Tally } from './tally.ts';
