import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import Papa from 'papaparse';
import { readRange } from './read-range.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);

/** Decodes UTF-8 before it reaches the parser, which would split a character between two chunks. Removes a byte order mark. */
async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  decoder.decode();
}

/**
 * Reads a CSV file as UTF-8, with or without gzip, as records with the line each starts on. Empty lines are left out. Memory does not
 * depend on the file's size. Throws if the text is not UTF-8 or the compressed data is damaged.
 */
export async function* readCsv(file: string): AsyncGenerator<{ line: number; cells: string[] }> {
  const gzip = GZIP.equals(await readRange(file, 0, GZIP.length));
  const input = createReadStream(file);
  const bytes = gzip ? input.pipe(createGunzip()) : input;
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, { skipEmptyLines: false });
  const text = Readable.from(decode(bytes));
  input.once('error', (error) => bytes.destroy(error));
  text.once('error', (error) => parser.destroy(error));
  let line = 1;
  for await (const cells of text.pipe(parser) as AsyncIterable<string[]>) {
    if (cells.some((cell) => cell.trim() !== '')) yield { line, cells };
    line += 1 + cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
  }
}
