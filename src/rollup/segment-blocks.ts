import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
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

/** Longer blocks are split, so that a page takes bounded memory. */
export const MAX_BLOCK_CHARACTERS = 200_000;

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

/** Packs rows into blocks of about `MAX_BLOCK_CHARACTERS` at most. The same key or segment id may occur more than once. */
export function* packBlocks(
  table: RollupTable,
  rows: Iterable<SegmentedRow>,
  maxCharacters = MAX_BLOCK_CHARACTERS,
): Generator<string> {
  const step = sumColumnsOf(table).length + 1;
  let block = new Block(table);
  for (const { key, segments } of rows) {
    // A row may have more segments than fit into one block.
    for (let from = 0; from < segments.length; from += MAX_ROW_SEGMENTS * step) {
      block.add(key, segments, { from, to: Math.min(segments.length, from + MAX_ROW_SEGMENTS * step), step });
      if (block.length < maxCharacters) continue;
      yield block.toString();
      block = new Block(table);
    }
  }
  if (block.length > 0) yield block.toString();
}

const MAX_ROW_SEGMENTS = 1_000;

/** The entries of a section: by the index of their mask, the row and the sums of each. */
type Section = Map<number, number[]>;

class Block {
  /** At least so many characters has the text: a block that is taken for full must be, or it would be merged again for ever. */
  length = 0;
  private rowCount = 0;
  private readonly keys: Dictionary<string>[];
  private readonly rows: number[] = [];
  private readonly masks = new Dictionary<number>();
  private readonly sections = new Map<number, Section>();

  constructor(table: RollupTable) {
    this.keys = blockKeys(table).map(() => new Dictionary<string>());
  }

  /** Adds a row with some of the segments of a `SegmentedRow`. */
  add(
    key: readonly (string | number)[],
    segments: readonly number[],
    { from, to, step }: { from: number; to: number; step: number },
  ): void {
    const row = this.rowCount++;
    for (const [index, dictionary] of this.keys.entries()) {
      const value = String(key[index + 1] ?? '');
      const known = dictionary.values.length;
      const at = dictionary.numberOf(value);
      this.rows.push(at);
      this.length += countDigits(at);
      if (at === known) this.length += JSON.stringify(value).length;
    }
    for (let at = from; at < to; at += step) {
      let mask = 0;
      for (let index = 1; index < step; index++) if (segments[at + index]) mask |= 1 << (index - 1);
      const entries = this.entriesOf(segments[at] ?? 0, this.masks.numberOf(mask));
      entries.push(row);
      this.length++;
      for (let index = 1; index < step; index++) {
        const sum = segments[at + index] ?? 0;
        if (sum === 0) continue;
        const number = signed(sum);
        entries.push(number);
        this.length += countDigits(number);
      }
    }
  }

  private entriesOf(segment: number, mask: number): number[] {
    let section = this.sections.get(segment);
    if (!section) {
      section = new Map();
      this.sections.set(segment, section);
      this.length += INDEX.entryCharacters + 1;
    }
    let entries = section.get(mask);
    if (!entries) {
      entries = [];
      section.set(mask, entries);
      this.length++;
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
    return `${escaped(JSON.stringify(names))}\n${WRITER.take()}`;
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

/** Names that clients send may contain any character. A block is ASCII, so that its length in bytes is its length in characters. */
const escaped = (json: string) =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
