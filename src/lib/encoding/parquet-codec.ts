import type { ParquetParsers } from 'hyparquet';
import { InternedTexts } from './interned-texts.ts';

// Imported when a file is first read or written (`await import`), which keeps it out of the startup of isolates that only receive events.

export { parquetMetadata, parquetMetadataAsync, parquetRead } from 'hyparquet';
export { ByteWriter, ParquetWriter } from 'hyparquet-writer';
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

/** Like `plainParsers`, but texts are numbers: those of `texts`, in which the same text may come several times. */
export function numberingParsers(texts: string[]): Partial<ParquetParsers> {
  return { ...plainParsers, stringFromBytes: (bytes: Uint8Array) => texts.push(interned.of(bytes)) - 1 };
}
