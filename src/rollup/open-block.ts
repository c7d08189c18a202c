import type { RollupTable } from '#catalogue';
import { DigitReader, valueOfDigit } from './digit-reader.ts';
import { EntryBuffer, type EntryFilter, MAX_ENTRIES, type TakeEntries } from './entries.ts';
import { INDEX } from './segment-blocks.ts';
import { sumColumnsOf } from './tables.ts';

// Reports unpack blocks in the Worker, because SQLite's json_each takes about 3 microseconds per entry. `segment-blocks.ts` describes them.

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
const READER = new DigitReader();
/** The rows of a group's entries. */
const ROWS = new Float64Array(MAX_ENTRIES);

/** What the first line of a block says. */
type Head = {
  /** By column of the key: by row, the index of its value. */
  rows: readonly Int32Array[];
  rowCount: number;
  /** By segment, the offset of its section; then the end of the last one. */
  offsets: Int32Array;
  masks: readonly number[];
  width: number;
};

/** Opens a block of a table. Throws if the text is not a block. Its numbers are unpacked in each reading, which takes no memory in between. */
export function openBlock(table: RollupTable, text: string): OpenBlock {
  const start = text.indexOf('\n') + 1;
  if (start === 0) throw new Error('not a block');
  const [index, keys, rows, masks]: [string, string[][], string, number[]] = JSON.parse(text.slice(0, start));
  const { segments, offsets } = readIndex(index);
  const head: Head = { ...readRows(rows, keys.length), offsets, masks, width: sumColumnsOf(table).length };
  const read = (take: TakeEntries, filter: EntryFilter | null = null) => {
    READER.open(text, start);
    BUFFER.widen(keys.length, head.width);
    try {
      readSections(head, take, filter);
    } catch (error) {
      BUFFER.clear(0, MAX_ENTRIES);
      throw error;
    }
  };
  return { bytes: text.length, keys, segments, read };
}

function readIndex(index: string): { segments: number[]; offsets: Int32Array } {
  const count = Math.floor(index.length / INDEX.entryCharacters) - 1;
  const segments: number[] = [];
  const offsets = new Int32Array(count + 1);
  for (let entry = 0; entry <= count; entry++) {
    const start = entry * INDEX.entryCharacters + 1;
    const end = start + INDEX.idDigits;
    let id = 0;
    for (let at = start; at < end; at++) id = id * 64 + valueOfDigit(index.charCodeAt(at));
    if (entry < count) segments.push(id);
    offsets[entry] = Number(index.slice(end, end + INDEX.offsetDigits));
  }
  return { segments, offsets };
}

function readRows(text: string, columns: number): Pick<Head, 'rows' | 'rowCount'> {
  READER.open(text, 0);
  const numbers: number[] = [];
  while (!READER.isAtEnd) numbers.push(READER.next());
  const rowCount = numbers.length / columns;
  const rows = Array.from({ length: columns }, (_, column) => {
    const own = new Int32Array(rowCount);
    for (let row = 0; row < rowCount; row++) own[row] = numbers[row * columns + column] ?? 0;
    return own;
  });
  return { rows, rowCount };
}

/** Marks the rows that a filter wants with 1; null if it wants all. */
function wantedRows({ rows, rowCount }: Head, filter: EntryFilter | null): Uint8Array | null {
  let wanted: Uint8Array | null = null;
  for (const [column, flags] of (filter?.keys ?? []).entries()) {
    const own = rows[column];
    if (!flags || !own) continue;
    wanted ??= new Uint8Array(rowCount).fill(1);
    for (let row = 0; row < rowCount; row++) if (flags[own[row] ?? 0] !== 1) wanted[row] = 0;
  }
  return wanted;
}

function readSections(head: Head, take: TakeEntries, filter: EntryFilter | null): void {
  const { offsets, masks, width } = head;
  const wanted = wantedRows(head, filter);
  if (wanted && !wanted.includes(1)) return;
  const isSegmentWanted = filter?.segments ?? null;
  let [size, used] = [0, 0];
  const flush = () => {
    BUFFER.flush(take, { size, used, width });
    [size, used] = [0, 0];
  };
  while (!READER.isAtEnd) {
    const start = READER.at;
    const segment = READER.next();
    const end = start + (offsets[segment + 1] ?? 0) - (offsets[segment] ?? 0);
    if (end <= start) throw new Error('not a block');
    if (isSegmentWanted !== null && isSegmentWanted[segment] !== 1) {
      READER.at = end;
      continue;
    }
    while (READER.at < end) {
      const number = READER.next();
      const count = Math.floor(number / masks.length) + 1;
      const mask = masks[number % masks.length] ?? 0;
      if (count > MAX_ENTRIES) throw new Error('not a block');
      if (size + count > MAX_ENTRIES) flush();
      const added = readGroup(head, { from: size, count, mask, wanted });
      BUFFER.segments.fill(segment, size, size + added);
      size += added;
      if (added > 0) used |= mask;
    }
    if (READER.at !== end) throw new Error('not a block');
  }
  flush();
}

type Group = { from: number; count: number; mask: number; wanted: Uint8Array | null };

/** Reads a group's entries into the buffer from an index on, and returns how many are wanted. */
function readGroup({ rows }: Head, { from, count, mask, wanted }: Group): number {
  READER.read(ROWS, 0, count);
  let row = -1;
  for (let entry = 0; entry < count; entry++) {
    row += (ROWS[entry] ?? 0) + 1;
    ROWS[entry] = row;
  }
  for (let column = 0, bits = mask; bits !== 0; column++, bits >>>= 1) {
    const sums = BUFFER.sums[column];
    if ((bits & 1) === 0 || !sums) continue;
    READER.read(sums, from, count);
    toSigned(sums, from, from + count);
  }
  const left = wanted ? keepWanted(from, count, mask, wanted) : count;
  for (const [column, values] of rows.entries()) {
    const own = BUFFER.keys[column];
    if (!own) continue;
    for (let entry = 0; entry < left; entry++) own[from + entry] = values[ROWS[entry] ?? 0] ?? 0;
  }
  return left;
}

function toSigned(numbers: Float64Array, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const half = (numbers[at] ?? 0) / 2;
    const whole = Math.floor(half);
    numbers[at] = half === whole ? half : -whole - 1;
  }
}

/** Moves the wanted entries of a group to its start, and returns how many they are. */
function keepWanted(from: number, count: number, mask: number, wanted: Uint8Array): number {
  let left = 0;
  for (let entry = 0; entry < count; entry++) {
    const row = ROWS[entry] ?? 0;
    if (wanted[row] !== 1) continue;
    ROWS[left] = row;
    if (left !== entry) BUFFER.move(from + entry, from + left, mask);
    left++;
  }
  BUFFER.clear(from + left, from + count, mask);
  return left;
}
