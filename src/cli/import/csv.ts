import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import Papa from 'papaparse';
import { readRange } from './read-range.ts';

/** Longer than the heading of any export, in characters. */
const MAX_HEADING = 32_768;

const GZIP = Buffer.from([0x1f, 0x8b]);

/** The encoding that the first bytes of a text tell: UTF-16 by its byte order mark, or UTF-8. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Decodes text before it reaches the parser, which would split a character between two chunks. Removes a byte order mark. */
async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true, ignoreBOM: false });
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  decoder?.decode();
}

const DELIMITERS = [',', '\t', ';', '|'];

/**
 * The delimiter of a text that begins with a heading: the one with which the heading is readable, or else the one that splits it into most
 * fields. Rows do not count, because names in them may contain any of these characters.
 */
function delimiterOf(start: string, isReadable: (names: readonly string[]) => boolean): string {
  const headings = DELIMITERS.map((delimiter) => {
    const names = Papa.parse<string[]>(start.replace(/^\s+/, ''), { delimiter, preview: 1 }).data[0] ?? [];
    return { delimiter, names };
  });
  const readable = headings.find(({ names }) => isReadable(names));
  const widest = headings.toSorted((left, right) => right.names.length - left.names.length)[0];
  return (readable ?? widest)?.delimiter ?? ',';
}

/**
 * Reads a CSV file as UTF-8 or UTF-16, with or without gzip, as records with the line each starts on. `isReadable` says whether the first
 * record is one that the caller knows, which decides between commas, tabs, semicolons and vertical bars. Empty lines are left out. Memory does not
 * depend on the file's size. Throws if the text is not in its encoding or the compressed data is damaged.
 */
export async function* readCsv(
  file: string,
  isReadable: (names: readonly string[]) => boolean,
): AsyncGenerator<{ line: number; cells: string[] }> {
  const open = async () => {
    const gzip = GZIP.equals(await readRange(file, 0, GZIP.length));
    const input = createReadStream(file);
    const bytes = gzip ? input.pipe(createGunzip()) : input;
    input.once('error', (error) => bytes.destroy(error));
    return Readable.from(decode(bytes));
  };
  let start = '';
  for await (const text of await open()) {
    start += text;
    if (start.length > MAX_HEADING) break;
  }
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, {
    skipEmptyLines: false,
    delimiter: delimiterOf(start, isReadable),
  });
  const text = await open();
  text.once('error', (error) => parser.destroy(error));
  let line = 1;
  for await (const cells of text.pipe(parser) as AsyncIterable<string[]>) {
    if (cells.some((cell) => cell.trim() !== '')) yield { line, cells };
    line += 1 + cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
  }
}
