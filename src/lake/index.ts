export { type Bucket, type FileEntry, MissingFileError, type StoredEvent } from './entry.ts';
export { expireFiles } from './expire-files.ts';
export type { EventFilter } from './filter.ts';
export { type EventPage, type Page, readEvents, streamEvents, streamFile } from './read-events.ts';
export { deleteReplaced, type FileIndex, mergeFiles, rewriteWithout } from './rewrite.ts';
export { MAX_EVENTS_PER_FILE, writeFiles } from './write-files.ts';
