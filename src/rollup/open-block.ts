import type { RollupTable } from '#catalogue';
import { EntryBuffer, type EntryFilter, MAX_ENTRIES, type TakeEntries } from './entries.ts';
import { DIGITS, MAX_BLOCK_CHARACTERS, MORE } from './segment-blocks.ts';
import { sumColumnsOf } from './tables.ts';

// Reports unpack blocks in the Worker, because SQLite's json_each takes about 3 microseconds per entry.

const NEWLINE = 10;
const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** An opened block: the values of each column of `blockKeys`, the ids of its segments, and its entries. */
export type OpenBlock = {
  /** The memory that it takes, without the values of its keys; of a block that is not kept, the length of its text. */
  bytes: number;
  keys: readonly (readonly string[])[];
  segments: readonly number[];
  /** Passes its entries to `take`, at most `MAX_ENTRIES` at once. `take` must not read another block. */
  read: (take: TakeEntries, filter?: EntryFilter) => void;
};

/** Blocks are read one at a time, so they share their arrays. */
export const BUFFER = new EntryBuffer();
const encoder = new TextEncoder();
let bytes = new Uint8Array(MAX_BLOCK_CHARACTERS * 2);

/** Opens a block of a table. Throws if the text is not a block. Its numbers are unpacked in each reading, which takes no memory in between. */
export function openBlock(table: RollupTable, text: string): OpenBlock {
  const { start, keys, segments, masks } = readNames(text);
  const width = sumColumnsOf(table).length;
  const read = (take: TakeEntries, filter: EntryFilter | null = null) => {
    if (bytes.length < text.length) bytes = new Uint8Array(text.length);
    const { written } = encoder.encodeInto(text, bytes);
    BUFFER.widen(keys.length, width);
    readBody({ body: bytes, start, end: written }, { keys: keys.length, width, masks }, take, filter);
  };
  return { bytes: text.length, keys, segments, read };
}

function readNames(text: string) {
  const start = text.indexOf('\n') + 1;
  if (start === 0) throw new Error('not a block');
  const [keys, segments, masks]: [string[][], number[], number[]] = JSON.parse(text.slice(0, start));
  return { start, keys, segments, masks };
}

type Numbers = { body: Uint8Array; start: number; end: number };
type Shape = { keys: number; width: number; masks: readonly number[] };

function readBody(
  { body, start, end }: Numbers,
  { keys: columns, width, masks }: Shape,
  take: TakeEntries,
  filter: EntryFilter | null,
): void {
  const { keys, segments, sums } = BUFFER;
  const key = new Int32Array(columns);
  const isSegmentWanted = filter?.segments ?? null;
  let at = start;
  let [size, used] = [0, 0];
  const next = (): number => {
    let digit = VALUES[body[at++] ?? NEWLINE] ?? 0;
    if (digit < MORE) return digit;
    let [number, unit] = [digit - MORE, MORE];
    do {
      if (at >= end) throw new Error('not a block');
      digit = VALUES[body[at++] ?? NEWLINE] ?? 0;
      number += (digit & (MORE - 1)) * unit;
      unit *= MORE;
    } while (digit >= MORE);
    return number;
  };
  const flush = () => {
    BUFFER.flush(take, { size, used, width });
    [size, used] = [0, 0];
  };
  while (at < end) {
    let isWanted = true;
    for (let column = 0; column < columns; column++) {
      const value = next();
      key[column] = value;
      const wanted = filter?.keys[column];
      if (wanted && wanted[value] !== 1) isWanted = false;
    }
    for (let rest = next(); rest > 0; rest--) {
      const segment = next();
      const mask = masks[next()] ?? 0;
      if (!isWanted || (isSegmentWanted !== null && isSegmentWanted[segment] !== 1)) {
        for (let bits = mask; bits !== 0; bits &= bits - 1) {
          while ((VALUES[body[at++] ?? NEWLINE] ?? 0) >= MORE);
        }
        continue;
      }
      for (let column = 0, bits = mask; bits !== 0; column++, bits >>>= 1) {
        if ((bits & 1) === 0) continue;
        const number = next();
        const own = sums[column];
        if (own) own[size] = number % 2 === 0 ? number / 2 : -(number + 1) / 2;
      }
      for (let column = 0; column < columns; column++) {
        const own = keys[column];
        if (own) own[size] = key[column] ?? 0;
      }
      segments[size] = segment;
      used |= mask;
      if (++size === MAX_ENTRIES) flush();
    }
  }
  flush();
}
