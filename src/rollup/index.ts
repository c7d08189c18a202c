export { readCountedArrivals, readFirstDay } from './arrivals.ts';
export { type Compacted, compactParts, placesToCompact, replaceParts } from './cube/compact.ts';
export type { PartSource, SegmentOfId } from './cube/cube.ts';
export { type Grain, keyColumns } from './cube/grains.ts';
export { monthPrefixes } from './cube/month-file.ts';
export type { NumberedColumn } from './cube/part-segments.ts';
export { pruneHours } from './cube/prune-hours.ts';
export {
  type CubeStores,
  openPart,
  type PartQuery,
  type PartSelection,
  readParts,
} from './cube/read-parts.ts';
export { type Earned, REVENUE_DAYS, readRevenue, type StoredRevenue } from './device/device-revenue.ts';
export { type DeviceFacts, type DeviceHistory, RunningDevice } from './device/device-state.ts';
export { Journal } from './device/journal.ts';
export { MAX_FUNNEL_LENGTH, type StoredSteps } from './device/step-format.ts';
export { firstTimes, walkSteps } from './device/step-walk.ts';
export {
  type CheckedMessage,
  checkMessage,
  type EventLine,
  EventMessage,
  type EventWithText,
  eventLine,
  eventText,
  MAX_EVENT_BYTES,
  messageHead,
  parkedWhole,
  readMessage,
} from './message.ts';
export { writeEmptyMonths } from './months/empty-months.ts';
export {
  neutralSums,
  type OutboxPart,
  parkSums,
  partStatements,
  partToKeep,
  readPart,
  type SumRows,
  sumStatement,
  sumsIn,
  toParts,
} from './outbox-part.ts';
export {
  applicationIdOf,
  deleteParkedOfUnknown,
  eraseParked,
  PARK_REASON,
  type Parked,
  parkedBody,
  parkStatements,
  toParkedEvent,
  wholeBody,
} from './park.ts';
export { discardParked, listParked, type ParkedMessage, replayParked } from './parked.ts';
export { enqueueClick, enqueueEvent, enqueueEvents, sendEvent } from './send/send-events.ts';
export { sendWithRetry } from './send/send-with-retry.ts';
export { additionColumns, highOf, NANOS_PER_HIGH, sumColumnsOf } from './tables.ts';

export { type IgnoredReason, reasonToIgnore, Tally } from './tally.ts';
export {
  hasStep,
  isOwnPurchase,
  isStepBack,
  isTold,
  purchaseIn,
  type TransactionStep,
  type Transactions,
  transactionsInMemory,
} from './transactions.ts';
