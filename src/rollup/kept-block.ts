import type { RollupTable } from '#catalogue';
import { type EntryFilter, MAX_ENTRIES, type TakeEntries } from './entries.ts';
import { BUFFER, type OpenBlock, openBlock } from './open-block.ts';
import { sumColumnsOf } from './tables.ts';

/** A column in the smallest type that its numbers fit into; null if all are 0. */
type KeptColumn = Uint8Array | Uint16Array | Int32Array | Float64Array | null;

type KeptColumns = {
  size: number;
  keys: readonly KeptColumn[];
  segments: KeptColumn;
  sums: readonly KeptColumn[];
};

/**
 * Opens a block that is read many times: its numbers are unpacked once. `share` returns the one copy of a text that all such blocks use.
 */
export function openToKeep(table: RollupTable, text: string, share: (value: string) => string): OpenBlock {
  const block = openBlock(table, text);
  const width = sumColumnsOf(table).length;
  const parts = Array.from({ length: block.keys.length + 1 + width }, (): Float64Array[] => []);
  let size = 0;
  block.read(({ size: added, keys, segments, sums }) => {
    size += added;
    for (const [at, part] of parts.entries()) {
      const own =
        at < block.keys.length
          ? keys[at]
          : at === block.keys.length
            ? segments
            : sums[at - block.keys.length - 1];
      part.push(own ? Float64Array.from(own.subarray(0, added)) : new Float64Array(added));
    }
  });
  const columns = parts.map((part) => toColumn(part, size));
  const keys = columns.slice(0, block.keys.length);
  const [segments = null, ...sums] = columns.slice(block.keys.length);
  return {
    bytes: columns.reduce((sum, column) => sum + (column?.byteLength ?? 0), 0),
    keys: block.keys.map((values) => values.map(share)),
    segments: block.segments,
    read: (take, filter) => readColumns({ size, keys, segments, sums }, take, filter ?? null),
  };
}

function toColumn(parts: readonly Float64Array[], size: number): KeptColumn {
  let [least, most] = [0, 0];
  for (const part of parts) {
    for (const value of part) {
      if (value < least) least = value;
      else if (value > most) most = value;
    }
  }
  if (least === 0 && most === 0) return null;
  const column = emptyColumn(least, most, size);
  let at = 0;
  for (const part of parts) {
    column.set(part, at);
    at += part.length;
  }
  return column;
}

function emptyColumn(least: number, most: number, size: number) {
  if (least >= 0 && most < 2 ** 8) return new Uint8Array(size);
  if (least >= 0 && most < 2 ** 16) return new Uint16Array(size);
  if (least >= -(2 ** 31) && most < 2 ** 31) return new Int32Array(size);
  return new Float64Array(size);
}

/** The indexes of the wanted entries among those being read. */
const CHOSEN = new Int32Array(MAX_ENTRIES);

function readColumns(
  { size, keys, segments, sums }: KeptColumns,
  take: TakeEntries,
  filter: EntryFilter | null,
): void {
  BUFFER.widen(keys.length, sums.length);
  const used = sums.reduce((bits, column, at) => (column ? bits | (1 << at) : bits), 0);
  const lists = [
    ...(filter?.keys ?? []).map((wanted, at) => ({ wanted, column: keys[at] ?? null })),
    { wanted: filter?.segments ?? null, column: segments },
  ].flatMap(({ wanted, column }) => (wanted ? [{ wanted, column }] : []));
  for (let from = 0; from < size; from += MAX_ENTRIES) {
    const chosen = Math.min(MAX_ENTRIES, size - from);
    const count = lists.reduce(
      (left, { wanted, column }, at) => choose(left, at === 0, { wanted, column, from }),
      chosen,
    );
    const isWhole = count === chosen;
    const fill = (into: Int32Array | Float64Array, column: KeptColumn) => {
      if (!column) into.fill(0, 0, count);
      else if (isWhole) into.set(column.subarray(from, from + count));
      else gather(into, column, from, count);
    };
    for (const [at, into] of BUFFER.keys.entries()) fill(into, keys[at] ?? null);
    fill(BUFFER.segments, segments);
    for (const [at, into] of BUFFER.sums.entries()) if (sums[at]) fill(into, sums[at]);
    BUFFER.flush(take, { size: count, used, width: sums.length });
  }
}

/** Leaves those of the `count` chosen entries whose value is wanted, and returns how many they are. */
function choose(
  count: number,
  isFirst: boolean,
  { wanted, column, from }: { wanted: Uint8Array; column: KeptColumn; from: number },
): number {
  let left = 0;
  for (let index = 0; index < count; index++) {
    const entry = isFirst ? index : (CHOSEN[index] ?? 0);
    if (wanted[column ? (column[from + entry] ?? 0) : 0] === 1) CHOSEN[left++] = entry;
  }
  return left;
}

function gather(
  into: Int32Array | Float64Array,
  column: NonNullable<KeptColumn>,
  from: number,
  count: number,
) {
  for (let index = 0; index < count; index++) into[index] = column[from + (CHOSEN[index] ?? 0)] ?? 0;
}
