import { Buffer } from 'node:buffer';
import { sql } from 'drizzle-orm';
import type { FileEntry } from '#lake';
import type { files } from '../schema.ts';

/** The number of entries read at once. Each has one byte per device. */
export const FILES_PER_READ = 50;

export type FileRow = typeof files.$inferSelect;

export function toEntry({
  key,
  firstEventId,
  lastEventId,
  lastReceivedAt,
  firstDay,
  lastDay,
  ...row
}: FileRow): FileEntry {
  const { eventCount: rows, bytes, deviceFilter } = row;
  const rest: Pick<FileEntry, 'applicationId'> = JSON.parse(row.entry);
  const span = { firstEventId, lastEventId, lastReceivedAt, firstDay, lastDay };
  return { ...(rest as FileEntry), key, ...span, rows, bytes, deviceFilter: new Uint8Array(deviceFilter) };
}

/** When a file was exported, and the last batch of the log that is in it. */
export type Exported = Pick<FileRow, 'exportedAt' | 'throughBatch'>;

export function toRow(entry: FileEntry, exported: Exported): FileRow {
  const {
    key,
    firstEventId,
    lastEventId,
    lastReceivedAt,
    firstDay,
    lastDay,
    rows,
    bytes,
    deviceFilter,
    ...rest
  } = entry;
  const span = { firstEventId, lastEventId, lastReceivedAt, firstDay, lastDay };
  return {
    key,
    ...span,
    eventCount: rows,
    bytes,
    ...exported,
    entry: JSON.stringify(rest),
    deviceFilter: Buffer.from(deviceFilter),
  };
}

export const jsonList = (values: readonly string[]) =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
