export { readCountedArrivals, readFirstDay } from './arrivals.ts';
export {
  ALL_CREATIVES,
  type BlockRow,
  bucketOf,
  CREATIVE_BUCKETS,
  sumRowsOf,
  UNSEGMENTED,
} from './breakdown.ts';
export { REVENUE_DAYS, readRevenue } from './device-revenue.ts';
export { type DeviceFacts, type DeviceHistory, RunningDevice } from './device-state.ts';
export type { Entries, EntryFilter, TakeEntries } from './entries.ts';
export { Journal } from './journal.ts';
export { keysOf, scopedKey } from './keys.ts';
export {
  type BlockPlace,
  type MergedBlocks,
  mergeBlocks,
  placesToMerge,
  replaceBlocks,
} from './merge-blocks.ts';
export { EventMessage, eventText, joinMessage, messageHead, readMessage } from './message.ts';
export { type OpenBlock, openBlock } from './open-block.ts';
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
export { pruneHours } from './prune-hours.ts';
export { type BlockBounds, readBlockPages, readBucketBytes } from './read-blocks.ts';
export { blockKeys } from './segment-blocks.ts';
export { sendWithRetry } from './send.ts';
export { firstTimes, walkSteps } from './step-walk.ts';
export { neutralSums, parkedSums, type SumRows, sumStatement } from './sum-rows.ts';
export { type Additions, highOf, NANOS_PER_HIGH, sumColumnsOf } from './tables.ts';

export { type IgnoredReason, reasonToIgnore, startTally, type Tally } from './tally.ts';
