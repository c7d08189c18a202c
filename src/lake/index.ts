export { deleteCopies, deletePrefix, NAMES, namesPrefix, SNAPSHOTS } from './delete-files.ts';
export { ANY_DEVICE } from './device-filter.ts';
export {
  type Bucket,
  type CountingResult,
  type FileEntry,
  MissingFileError,
  type Placed,
  type StoredDeviceEvent,
  type StoredEvent,
} from './entry.ts';
export { type EventFilter, matches, mayHold, mayHoldId } from './filter.ts';
export { filePrefix } from './keys.ts';
export { missingAmong } from './missing.ts';
export { partKey, readPart, type WrittenParts, writeParts } from './parts.ts';
export type { FileLocation } from './raw-file.ts';
export { readEvents, streamFile } from './read-events.ts';
export { deleteReplaced, type FileIndex, mergeFiles, rewriteSince, rewriteWithout } from './rewrite.ts';
export { describeFile, type FileOutline, outlineFile, readBetween } from './unlisted-file.ts';
export { writeFiles } from './write-files.ts';
