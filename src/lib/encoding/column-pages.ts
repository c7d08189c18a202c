import type { ColumnMetaData, DecodedArray } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { decompressors } from './gzip.ts';

/** Values of a page, or the number of each in the dictionary. */
type ColumnPage = { values: DecodedArray; numbers: null } | { values: null; numbers: Uint32Array };
/** A column of a row group. It has no pages if all values are the only one in the dictionary. */
export type ColumnPages = { size: number; dictionary: DecodedArray | null; pages: ColumnPage[] };

/**
 * Reads a column of required values that has either plain values or a dictionary. `hyparquet` replaces the numbers of a dictionary by its values,
 * which takes several times as long where only the numbers are needed. `start` is where `buffer` begins in the file.
 */
export function readColumnPages(buffer: ArrayBuffer, start: number, column: ColumnMetaData): ColumnPages {
  const { type, codec, num_values, dictionary_page_offset, data_page_offset, total_compressed_size } = column;
  const from = Number(dictionary_page_offset ?? data_page_offset) - start;
  const reader = { view: new DataView(buffer, from, Number(total_compressed_size)), offset: 0 };
  const read: ColumnPages = { size: Number(num_values), dictionary: null, pages: [] };
  for (let left = read.size; left > 0; ) {
    const header = parquetHeader(reader);
    const {
      compressed_page_size,
      dictionary_page_header: ofDictionary,
      data_page_header_v2: ofData,
    } = header;
    const bytes = new Uint8Array(buffer, from + reader.offset, compressed_page_size);
    reader.offset += compressed_page_size;
    const isCompressed = ofData?.is_compressed !== false;
    const size = header.uncompressed_page_size;
    const page = isCompressed ? decompressPage(bytes, size, codec, decompressors) : bytes;
    const values = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
    if (ofDictionary) {
      read.dictionary = readPlain(values, type, ofDictionary.num_values, undefined);
      if (ofDictionary.num_values === 1) return read;
    } else if (ofData?.encoding === 'PLAIN') {
      left -= ofData.num_values;
      read.pages.push({ values: readPlain(values, type, ofData.num_values, undefined), numbers: null });
    } else if (ofData?.encoding === 'RLE_DICTIONARY') {
      left -= ofData.num_values;
      const numbers = new Uint32Array(ofData.num_values);
      const width = values.view.getUint8(values.offset++);
      readRleBitPackedHybrid(values, width, numbers, page.byteLength - 1);
      read.pages.push({ values: null, numbers });
    } else throw new Error(`parquet: unexpected page of ${column.path_in_schema[0]}`);
  }
  return read;
}
