import type { FileMetaData, ParquetParsers } from 'hyparquet';

// A byte order mark at the beginning of a text belongs to it.
const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Cells as they are stored, so that a page's dictionary is converted and not every row. */
export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
  uuidFromBytes: (bytes) => bytes,
  timestampFromMilliseconds: (millis) => millis,
  dateFromDays: (days) => days,
};

/** Lets decimals be read as the unscaled integers that they are stored as: hyparquet would make inexact numbers of them. */
export function readDecimalsUnscaled(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type === 'DECIMAL') delete element.converted_type;
  }
}
