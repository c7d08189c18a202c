import type { FileMetaData, ParquetParsers } from 'hyparquet';

// A byte order mark at the start of a text is part of the text.
const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Parses cells to their stored form, so that only a page's dictionary is converted, not every row. */
export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
  uuidFromBytes: (bytes) => bytes,
  timestampFromMilliseconds: (millis) => millis,
  dateFromDays: (days) => days,
};

/** Makes hyparquet read decimals as the unscaled integers that are stored; it would convert them to inexact numbers. */
export function readDecimalsUnscaled(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type === 'DECIMAL') delete element.converted_type;
  }
}
