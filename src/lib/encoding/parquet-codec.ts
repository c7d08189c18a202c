import type { ParquetParsers } from 'hyparquet';
import { InternedTexts } from './interned-texts.ts';

// Imported when a file is first read or written (`await import`), which keeps it out of the startup of isolates that only receive events.

export { parquetMetadata, parquetMetadataAsync, parquetRead } from 'hyparquet';
export { ByteWriter, ParquetWriter } from 'hyparquet-writer';
export { readColumnPages } from './column-pages.ts';
export { compressors, decompressors } from './gzip.ts';

// A byte order mark at the start of a text is part of the text.
const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Parses cells to their stored form, so that only a page's dictionary is converted, not every row. */
export const plainParsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
  uuidFromBytes: (bytes) => bytes,
  timestampFromMilliseconds: (millis) => millis,
  dateFromDays: (days) => days,
};

const interned = new InternedTexts(utf8);

/** The text of a cell's bytes. */
export const textOfBytes = (bytes: Uint8Array): string => interned.of(bytes);
