import { isMoney, type RollupTable } from '#catalogue';
import { Dictionary } from '#lib/dictionary';
import { TupleIndex } from '#lib/tuple-index';
import { type EntryFilter, MAX_ENTRIES, type TakeEntries } from './entries.ts';
import { BUFFER, type OpenBlock, openBlock } from './open-block.ts';
import { blockKeys } from './segment-blocks.ts';
import { MICROS_PER_HIGH, sumColumnsOf } from './tables.ts';

/** A column in the smallest type that its numbers fit into; null if all are 0. */
type KeptColumn = Uint8Array | Uint16Array | Int32Array | Float64Array | null;

type KeptColumns = {
  size: number;
  keys: readonly KeptColumn[];
  segments: KeptColumn;
  sums: readonly KeptColumn[];
};

/**
 * Opens blocks of the same span that are read many times, as one: their numbers are unpacked once, and sums of the same key and segment are
 * added up. `share` returns the one copy of a text that all such blocks use.
 */
export function openToKeep(
  table: RollupTable,
  texts: readonly string[],
  share: (value: string) => string,
): OpenBlock {
  const names = sumColumnsOf(table);
  const together = new AddedBlocks(blockKeys(table).length, names.length);
  for (const text of texts) together.add(openBlock(table, text));
  for (const [at, name] of names.entries()) if (isMoney(name)) together.carry(at);
  const { size } = together;
  const keys = together.keys.map((_, place) => toColumn(together.numbersAt(place), size));
  const segments = toColumn(together.numbersAt(keys.length), size);
  const sums = together.sums.map((column) => column && toColumn(column, size));
  return {
    bytes: [...keys, segments, ...sums].reduce((all, column) => all + (column?.byteLength ?? 0), 0),
    keys: together.keys.map(({ values }) => values.map(share)),
    segments: together.segments.values,
    read: (take, filter) => readColumns({ size, keys, segments, sums }, take, filter ?? null),
  };
}

/** The entries of several blocks, in columns with numbers that are the same for all. */
class AddedBlocks {
  readonly keys: readonly Dictionary<string>[];
  readonly segments = new Dictionary<number>();
  /** By column of sums; null if all are 0. */
  readonly sums: (Float64Array | null)[];
  /** The values of the key and the segment, by entry. */
  private readonly entries: TupleIndex;
  private readonly entry: Int32Array;

  constructor(keys: number, sums: number) {
    this.keys = Array.from({ length: keys }, () => new Dictionary<string>());
    this.sums = Array.from({ length: sums }, () => null);
    this.entries = new TupleIndex(keys + 1);
    this.entry = new Int32Array(keys + 1);
  }

  get size(): number {
    return this.entries.size;
  }

  add(block: OpenBlock): void {
    const numbers = block.keys.map((values, at) =>
      Int32Array.from(values, (value) => this.keys[at]?.numberOf(value) ?? 0),
    );
    const own = Int32Array.from(block.segments, (id) => this.segments.numberOf(id));
    const places = new Int32Array(MAX_ENTRIES);
    const last = numbers.length;
    block.read(({ size, keys, segments, sums }) => {
      for (let index = 0; index < size; index++) {
        for (let at = 0; at < last; at++) this.entry[at] = numbers[at]?.[keys[at]?.[index] ?? 0] ?? 0;
        this.entry[last] = own[segments[index] ?? 0] ?? 0;
        places[index] = this.entries.numberOf(this.entry);
      }
      for (const [at, added] of sums.entries()) {
        if (!added) continue;
        const column = this.columnAt(at);
        for (let index = 0; index < size; index++) {
          const place = places[index] ?? 0;
          column[place] = (column[place] ?? 0) + (added[index] ?? 0);
        }
      }
    });
  }

  /** Carries what amounts have above the low part, which is in this column, into the high part in the next. */
  carry(at: number): void {
    const lows = this.sums[at];
    if (!lows?.some((low) => low >= MICROS_PER_HIGH)) return;
    const highs = this.columnAt(at + 1);
    for (const [place, low] of lows.entries()) {
      const carried = Math.floor(low / MICROS_PER_HIGH);
      lows[place] = low - carried * MICROS_PER_HIGH;
      highs[place] = (highs[place] ?? 0) + carried;
    }
  }

  /** The number that each entry has at a place of its key, or after it, of its segment. */
  numbersAt(place: number): Int32Array {
    const numbers = new Int32Array(this.size);
    for (let entry = 0; entry < numbers.length; entry++) numbers[entry] = this.entries.at(entry, place);
    return numbers;
  }

  /** A column of sums with room for all entries. */
  private columnAt(at: number): Float64Array {
    const known = this.sums[at];
    if (known && known.length >= this.size) return known;
    const column = new Float64Array(Math.max(this.size, 2 * (known?.length ?? 0)));
    if (known) column.set(known);
    this.sums[at] = column;
    return column;
  }
}

function toColumn(values: Int32Array | Float64Array, size: number): KeptColumn {
  let [least, most] = [0, 0];
  for (let index = 0; index < size; index++) {
    const value = values[index] ?? 0;
    if (value < least) least = value;
    else if (value > most) most = value;
  }
  if (least === 0 && most === 0) return null;
  const column = emptyColumn(least, most, size);
  column.set(values.subarray(0, Math.min(size, values.length)));
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
