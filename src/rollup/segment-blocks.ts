import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { MAX_VALUE_BYTES } from '#db';
import { Dictionary } from '#lib/dictionary';
import { MAX_ENTRIES } from './entries.ts';
import { type SegmentedRow, sumColumnsOf } from './tables.ts';

// A block holds sums of one rollup broken down by segment, packed into ASCII text. `open-block.ts` reads it.
//
// Its first line is JSON: the index of the segments, the values of each column of the key, the rows as indexes of these values, and the masks. A
// bit of a mask says that a sum is not 0; only those are stored. The second line has a section per segment, so that a report on one country
// skips the others. A section is the segment's number and groups of entries with the same mask. A group has the number
// `(entries - 1) * masks + mask`, then the rows of its entries, each as its distance from the row before, then its sums column by column.
//
// A number takes one character per 5 bits, lowest first, so small ones take one.

/**
 * From this length on, a block takes no further entry. Its last row has names of up to 256 characters, each of up to 6 bytes, so that it stays
 * below `MAX_VALUE_BYTES`.
 */
export const FULL_BLOCK_BYTES = MAX_VALUE_BYTES - 10_000;

export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The bit of a digit that is followed by another one of the same number. */
export const MORE = 32;
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));

/**
 * The index has an entry for each segment: a semicolon, its id in digits of 6 bits, and the decimal offset of its section, so that SQL can read it.
 * A last entry, whose id is `end`, has the offset at which the last section ends. The index is the first text of a block, so that no name that
 * a client sent is taken for an entry.
 */
export const INDEX = { idDigits: 8, offsetDigits: 7, entryCharacters: 16, end: '........' } as const;

/** Writes numbers as digits. */
class DigitWriter {
  length = 0;
  private bytes = new Uint8Array(4_096);

  write(number: number): void {
    // A number below 2^53 has at most 11 digits.
    if (this.length + 16 > this.bytes.length) {
      const larger = new Uint8Array(this.bytes.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    let rest = number;
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) {
      this.bytes[this.length++] = CODES[MORE + (rest % MORE)] ?? 0;
    }
    this.bytes[this.length++] = CODES[rest] ?? 0;
  }

  /** Returns what was written since the last call. */
  take(): string {
    const text = new TextDecoder().decode(this.bytes.subarray(0, this.length));
    this.length = 0;
    return text;
  }
}

/** Blocks are written one at a time, so they share their memory. */
const WRITER = new DigitWriter();

/** How many digits `DigitWriter` writes. */
function countDigits(number: number): number {
  let digits = 1;
  for (let rest = number; rest >= MORE; rest = Math.floor(rest / MORE)) digits++;
  return digits;
}

/** Sums may be negative. The sign is the last bit. */
const signed = (sum: number) => (sum < 0 ? -2 * sum - 1 : 2 * sum);

/** The columns of a row's key that blocks contain: all except the application. */
export const blockKeys = (table: RollupTable): readonly string[] => ROLLUP_KEYS[table].slice(1);

/** Packs rows into blocks of about `FULL_BLOCK_BYTES` at most. The same key or segment id may occur more than once. */
export function* packBlocks(
  table: RollupTable,
  rows: Iterable<SegmentedRow>,
  fullBytes = FULL_BLOCK_BYTES,
): Generator<string> {
  let block = new Block(table, fullBytes);
  for (const { key, segments } of rows) {
    // A row may have more segments than fit into one block.
    for (let from = 0; from < segments.length; ) {
      from = block.add(key, segments, from);
      if (!block.isFull) continue;
      yield block.toString();
      block = new Block(table, fullBytes);
    }
  }
  if (!block.isEmpty) yield block.toString();
}

/** The brackets, quotes and commas of the first line, the end of the index, and the line break. */
const MAX_FRAME_BYTES = 100;
/** The number that a group begins with. */
const MAX_GROUP_DIGITS = 6;

/** The entries of a section: by the index of their mask, the row and the sums of each. */
type Section = Map<number, number[]>;

class Block {
  /** The text has at most so many characters. */
  private length = MAX_FRAME_BYTES;
  private readonly fullBytes: number;
  /** The number of sums per entry. */
  private readonly width: number;
  private rowCount = 0;
  private readonly keys: Dictionary<string>[];
  private readonly rows: number[] = [];
  private readonly masks = new Dictionary<number>();
  private readonly sections = new Map<number, Section>();

  constructor(table: RollupTable, fullBytes: number) {
    this.fullBytes = fullBytes;
    this.width = sumColumnsOf(table).length;
    this.keys = blockKeys(table).map(() => new Dictionary<string>());
  }

  get isEmpty(): boolean {
    return this.rowCount === 0;
  }

  get isFull(): boolean {
    return this.length >= this.fullBytes;
  }

  /**
   * Adds a row with its segments from an index on, which are in the form of `SegmentedRow`: at least one, and no more once it is full. Returns
   * the index of the first that it did not add.
   */
  add(key: readonly (string | number)[], segments: readonly number[], from: number): number {
    this.addRow(key);
    let at = from;
    do {
      this.addEntry(segments, at);
      at += this.width + 1;
    } while (at < segments.length && !this.isFull);
    return at;
  }

  private addRow(key: readonly (string | number)[]): void {
    this.rowCount++;
    for (const [index, dictionary] of this.keys.entries()) {
      const value = String(key[index + 1] ?? '');
      const known = dictionary.values.length;
      const at = dictionary.numberOf(value);
      this.rows.push(at);
      this.length += countDigits(at);
      if (at === known) this.length += jsonText(value).length + 1;
    }
  }

  /** Adds the entry of the last row that begins at an index of `segments`. */
  private addEntry(segments: readonly number[], at: number): void {
    let mask = 0;
    for (let index = 1; index <= this.width; index++) if (segments[at + index]) mask |= 1 << (index - 1);
    const entries = this.entriesOf(segments[at] ?? 0, mask);
    const width = 1 + countBits(mask);
    const isFirst = (entries.length / width) % MAX_ENTRIES === 0;
    const row = this.rowCount - 1;
    const before = isFirst ? -1 : (entries[entries.length - width] ?? 0);
    this.length += countDigits(row - before - 1) + (isFirst ? MAX_GROUP_DIGITS : 0);
    entries.push(row);
    for (let index = 1; index <= this.width; index++) {
      const sum = segments[at + index] ?? 0;
      if (sum === 0) continue;
      const number = signed(sum);
      entries.push(number);
      this.length += countDigits(number);
    }
  }

  private entriesOf(segment: number, mask: number): number[] {
    let section = this.sections.get(segment);
    if (!section) {
      this.length += INDEX.entryCharacters + countDigits(this.sections.size);
      section = new Map();
      this.sections.set(segment, section);
    }
    const known = this.masks.values.length;
    const number = this.masks.numberOf(mask);
    if (number === known) this.length += String(mask).length + 1;
    let entries = section.get(number);
    if (!entries) {
      entries = [];
      section.set(number, entries);
    }
    return entries;
  }

  toString(): string {
    for (const value of this.rows) WRITER.write(value);
    const rows = WRITER.take();
    let index = '';
    for (const [number, [id, section]] of [...this.sections].entries()) {
      index += `;${idText(id)}${offsetText(WRITER.length)}`;
      WRITER.write(number);
      for (const [mask, entries] of section) this.writeGroup(mask, entries);
    }
    index += `;${INDEX.end}${offsetText(WRITER.length)}`;
    const names = [index, this.keys.map(({ values }) => values), rows, this.masks.values];
    return `${jsonText(names)}\n${WRITER.take()}`;
  }

  private writeGroup(mask: number, entries: readonly number[]): void {
    const { values } = this.masks;
    const width = 1 + countBits(values[mask] ?? 0);
    for (let from = 0; from < entries.length; from += MAX_ENTRIES * width) {
      const to = Math.min(entries.length, from + MAX_ENTRIES * width);
      WRITER.write(((to - from) / width - 1) * values.length + mask);
      let before = -1;
      for (let at = from; at < to; at += width) {
        const row = entries[at] ?? 0;
        WRITER.write(row - before - 1);
        before = row;
      }
      for (let column = 1; column < width; column++) {
        for (let at = from + column; at < to; at += width) WRITER.write(entries[at] ?? 0);
      }
    }
  }
}

function countBits(mask: number): number {
  let count = 0;
  for (let bits = mask; bits !== 0; bits &= bits - 1) count++;
  return count;
}

/** The id of a segment, which has 48 bits, as it is written in the index of a block. */
export function idText(id: number): string {
  let [text, rest] = ['', id];
  for (let digit = 0; digit < INDEX.idDigits; digit++) {
    text = DIGITS[rest % 64] + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}

const offsetText = (offset: number) => String(offset).padStart(INDEX.offsetDigits, '0');

/** What JSON escapes with a backslash, by the escape, of what `jsonText` writes as its number instead. */
const ESCAPED: Record<string, string> = { '\\\\': '\\', '\\n': '\n' };

const unicodeEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * JSON in ASCII, so that the length of a block in bytes is its length in characters. It has no quotes (') either, which an export doubles, and
 * no `\n`: for the line break of a block, `wrangler d1 export` writes `\n` too, and an import reads each as a line break.
 */
const jsonText = (value: unknown) =>
  JSON.stringify(value).replaceAll(/\\[\\n]|[^\x20-\x26\x28-\x7e]/g, (found) =>
    unicodeEscape(ESCAPED[found] ?? found),
  );
