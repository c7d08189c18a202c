import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { type SegmentedRow, sumColumnsOf } from './tables.ts';

// A block holds sums of one rollup broken down by segment, packed into ASCII text: a line of JSON with the values that its numbers refer
// to, then the numbers. A number takes one character per 5 bits, so small ones take one. `open-block.ts` reads them.

/** Longer blocks are split, so that a page takes bounded memory. */
export const MAX_BLOCK_CHARACTERS = 200_000;

export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The bit of a digit that is followed by another one of the same number. */
export const MORE = 32;

function digitsOf(number: number): string {
  let [rest, digits] = [number, ''];
  for (; rest >= MORE; rest = Math.floor(rest / MORE)) digits += DIGITS[MORE + (rest % MORE)];
  return digits + DIGITS[rest];
}

/** Sums may be negative. The sign is the last bit. */
const signed = (sum: number) => (sum < 0 ? -2 * sum - 1 : 2 * sum);

/** Numbers values in order of first use. */
class Dictionary<Value> {
  readonly values: Value[] = [];
  private readonly indexes = new Map<Value, number>();

  /** The digits of a value's index. */
  digitsOf(value: Value): string {
    let index = this.indexes.get(value);
    if (index === undefined) {
      index = this.values.push(value) - 1;
      this.indexes.set(value, index);
    }
    return digitsOf(index);
  }
}

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
      block.add(key, segments.slice(from, from + MAX_ROW_SEGMENTS * step), step);
      if (block.length < maxCharacters) continue;
      yield block.toString();
      block = new Block(table);
    }
  }
  if (block.length > 0) yield block.toString();
}

const MAX_ROW_SEGMENTS = 1_000;

class Block {
  /** The approximate length in characters. */
  length = 0;
  private body = '';
  private readonly keys: Dictionary<string>[];
  private readonly segments = new Dictionary<number>();
  /** The bits say which sums of a segment are not 0. Only those are stored. */
  private readonly masks = new Dictionary<number>();

  constructor(table: RollupTable) {
    this.keys = blockKeys(table).map(() => new Dictionary<string>());
  }

  add(key: readonly (string | number)[], segments: readonly number[], step: number): void {
    let row = '';
    for (const [index, dictionary] of this.keys.entries()) {
      const value = String(key[index + 1] ?? '');
      const known = dictionary.values.length;
      row += dictionary.digitsOf(value);
      if (dictionary.values.length > known) this.length += JSON.stringify(value).length + 1;
    }
    row += digitsOf(segments.length / step);
    for (let at = 0; at < segments.length; at += step) {
      let [mask, sums] = [0, ''];
      for (let index = 1; index < step; index++) {
        const sum = segments[at + index] ?? 0;
        if (sum === 0) continue;
        mask |= 1 << (index - 1);
        sums += digitsOf(signed(sum));
      }
      const known = this.segments.values.length;
      row += this.segments.digitsOf(segments[at] ?? 0);
      this.length += (this.segments.values.length - known) * 16;
      row += this.masks.digitsOf(mask) + sums;
    }
    this.body += row;
    this.length += row.length;
  }

  toString(): string {
    const names = [this.keys.map(({ values }) => values), this.segments.values, this.masks.values];
    return `${escaped(JSON.stringify(names))}\n${this.body}`;
  }
}

/** Names that clients send may contain any character. A block is ASCII, so that its length in bytes is its length in characters. */
const escaped = (json: string) =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
