import { Buffer } from 'node:buffer';
import type { FileEntry } from '#lake';
import type { files } from '../schema.ts';

/** The number of entries read at once. Each has one byte per device. */
export const FILES_PER_READ = 50;

export type FileRow = typeof files.$inferSelect;

/** When a file was exported, and the last batch of the log that is in it. */
export type Exported = Pick<FileRow, 'exportedAt' | 'throughBatch'>;

export function toEntry(row: FileRow): FileEntry {
  const { eventCount: rows, entry, deviceFilter, exportedAt: _, throughBatch: _batch, ...columns } = row;
  return { ...JSON.parse(entry), ...columns, rows, deviceFilter: new Uint8Array(deviceFilter) };
}

export function toRow(entry: FileEntry, exported: Exported): FileRow {
  const { key, firstEventId, lastEventId, lastReceivedAt, firstDay, lastDay, ...others } = entry;
  const { rows: eventCount, bytes, deviceFilter, ...rest } = others;
  return {
    ...{ key, firstEventId, lastEventId, lastReceivedAt, firstDay, lastDay, eventCount, bytes },
    ...exported,
    entry: JSON.stringify(rest),
    deviceFilter: Buffer.from(deviceFilter),
  };
}
