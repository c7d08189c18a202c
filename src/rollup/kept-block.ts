import { isMoney, type RollupTable } from '#catalogue';
import { Dictionary } from '#lib/dictionary';
import { TupleIndex } from '#lib/tuple-index';
import { type EntryFilter, MAX_ENTRIES, type TakeEntries } from './entries.ts';
import { BUFFER, type OpenBlock, openBlock } from './open-block.ts';
import { blockKeys } from './segment-blocks.ts';
import { NANOS_PER_HIGH, sumColumnsOf } from './tables.ts';

/** A column in the smallest type that its numbers fit into; null if all are 0. */
type KeptColumn = Uint8Array | Uint16Array | Int32Array | Float64Array | null;

/**
 * The entries are in groups with the same mask: a bit of it says that a sum is not 0. A column of sums has only the entries of the groups with its
 * bit, because most columns are 0 in most entries.
 */
type KeptColumns = {
  /** By group. */
  masks: readonly number[];
  counts: readonly number[];
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
  const columns = together.toColumns();
  const { masks, keys, segments, sums } = columns;
  const arrays = [...keys, segments, ...sums];
  return {
    bytes: arrays.reduce((all, column) => all + (column?.byteLength ?? 0), masks.length * GROUP_BYTES),
    keys: together.keys.map(({ values }) => values.map(share)),
    segments: together.segments.values,
    read: (take, filter) => readColumns(columns, take, filter ?? null),
  };
}

/** A mask and a count. */
const GROUP_BYTES = 16;

/** The places among all entries of those being added. */
const PLACES = new Int32Array(MAX_ENTRIES);

/** The number that each value has in a dictionary. `Int32Array.from` with a function takes several times as long. */
function numbersOf<Value>(values: readonly Value[], dictionary: Dictionary<Value> | undefined): Int32Array {
  const numbers = new Int32Array(values.length);
  for (let at = 0; at < numbers.length; at++) numbers[at] = dictionary?.numberOf(values[at] as Value) ?? 0;
  return numbers;
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
    const numbers = block.keys.map((values, at) => numbersOf(values, this.keys[at]));
    numbers.push(numbersOf(block.segments, this.segments));
    const { entry } = this;
    block.read(({ size, keys, segments, sums }) => {
      const columns = [...keys.slice(0, block.keys.length), segments];
      for (let index = 0; index < size; index++) {
        for (let at = 0; at < entry.length; at++) entry[at] = numbers[at]?.[columns[at]?.[index] ?? 0] ?? 0;
        PLACES[index] = this.entries.numberOf(entry);
      }
      for (const [at, added] of sums.entries()) {
        if (!added) continue;
        const column = this.columnAt(at);
        for (let index = 0; index < size; index++) {
          const place = PLACES[index] ?? 0;
          column[place] = (column[place] ?? 0) + (added[index] ?? 0);
        }
      }
    });
  }

  /** Carries what amounts have above the low part, which is in this column, into the high part in the next. */
  carry(at: number): void {
    const lows = this.sums[at];
    if (!lows?.some((low) => low >= NANOS_PER_HIGH)) return;
    const highs = this.columnAt(at + 1);
    for (const [place, low] of lows.entries()) {
      const carried = Math.floor(low / NANOS_PER_HIGH);
      lows[place] = low - carried * NANOS_PER_HIGH;
      highs[place] = (highs[place] ?? 0) + carried;
    }
  }

  toColumns(): KeptColumns {
    const { order, masks, counts } = this.groupByMask();
    const numbersAt = (place: number) => toColumn(order.map((entry) => this.entries.at(entry, place)));
    return {
      masks,
      counts,
      keys: this.keys.map((_, place) => numbersAt(place)),
      segments: numbersAt(this.keys.length),
      sums: this.sums.map((column) => column && toColumn(withoutZeros(column, order))),
    };
  }

  /** The entries in the order of their groups, and the mask and the number of entries of each group. */
  private groupByMask(): { order: Int32Array; masks: readonly number[]; counts: readonly number[] } {
    const masks = new Dictionary<number>();
    const own = new Int32Array(this.size);
    for (const [at, column] of this.sums.entries()) {
      if (!column) continue;
      for (let entry = 0; entry < own.length; entry++) {
        if (column[entry]) own[entry] = (own[entry] ?? 0) | (1 << at);
      }
    }
    const counts: number[] = [];
    for (let entry = 0; entry < own.length; entry++) {
      const group = masks.numberOf(own[entry] ?? 0);
      own[entry] = group;
      counts[group] = (counts[group] ?? 0) + 1;
    }
    const next: number[] = [];
    for (const [group, count] of counts.entries()) next[group + 1] = (next[group] ?? 0) + count;
    const order = new Int32Array(this.size);
    for (let entry = 0; entry < own.length; entry++) {
      const group = own[entry] ?? 0;
      const place = next[group] ?? 0;
      order[place] = entry;
      next[group] = place + 1;
    }
    return { order, masks: masks.values, counts };
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

/** The sums other than 0, in an order of the entries. */
function withoutZeros(column: Float64Array, order: Int32Array): Float64Array {
  const sums = new Float64Array(order.length);
  let size = 0;
  for (let index = 0; index < order.length; index++) {
    const sum = column[order[index] ?? 0] ?? 0;
    if (sum !== 0) sums[size++] = sum;
  }
  return sums.subarray(0, size);
}

function toColumn(values: Int32Array | Float64Array): KeptColumn {
  let [least, most] = [0, 0];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (value < least) least = value;
    else if (value > most) most = value;
  }
  if (least === 0 && most === 0) return null;
  const column = emptyColumn(least, most, values.length);
  column.set(values);
  return column;
}

function emptyColumn(least: number, most: number, size: number) {
  if (least >= 0 && most < 2 ** 8) return new Uint8Array(size);
  if (least >= 0 && most < 2 ** 16) return new Uint16Array(size);
  if (least >= -(2 ** 31) && most < 2 ** 31) return new Int32Array(size);
  return new Float64Array(size);
}

/** The indexes of the wanted entries among those of a group that are being read. */
const CHOSEN = new Int32Array(MAX_ENTRIES);

function readColumns(columns: KeptColumns, take: TakeEntries, filter: EntryFilter | null): void {
  const { masks, counts, keys, segments, sums } = columns;
  const width = sums.length;
  BUFFER.widen(keys.length, width);
  const lists = [
    ...(filter?.keys ?? []).map((wanted, at) => ({ wanted, column: keys[at] ?? null })),
    { wanted: filter?.segments ?? null, column: segments },
  ].flatMap(({ wanted, column }) => (wanted ? [{ wanted, column }] : []));
  const offsets = new Int32Array(width);
  let [start, size, used] = [0, 0, 0];
  const flush = () => {
    BUFFER.flush(take, { size, used, width });
    [size, used] = [0, 0];
  };
  for (const [group, mask] of masks.entries()) {
    const end = start + (counts[group] ?? 0);
    while (start < end) {
      if (size === MAX_ENTRIES) flush();
      const from = start;
      const read = Math.min(end - from, MAX_ENTRIES - size);
      const count = lists.reduce(
        (left, { wanted, column }, at) => choose(left, at === 0, { wanted, column, from }),
        read,
      );
      const isWhole = count === read;
      const fill = (into: Int32Array | Float64Array, column: KeptColumn, first: number) => {
        if (!column) into.fill(0, size, size + count);
        else if (isWhole) into.set(column.subarray(first, first + count), size);
        else gather(into, size, { column, first, count });
      };
      for (const [at, into] of BUFFER.keys.entries()) fill(into, keys[at] ?? null, from);
      fill(BUFFER.segments, segments, from);
      for (let at = 0, bits = mask; bits !== 0; at++, bits >>>= 1) {
        const into = BUFFER.sums[at];
        if ((bits & 1) === 0 || !into) continue;
        const first = offsets[at] ?? 0;
        if (count > 0) fill(into, sums[at] ?? null, first);
        offsets[at] = first + read;
      }
      if (count > 0) used |= mask;
      size += count;
      start += read;
    }
  }
  flush();
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

/** Copies the chosen entries to an index and after it. */
function gather(
  into: Int32Array | Float64Array,
  to: number,
  { column, first, count }: { column: NonNullable<KeptColumn>; first: number; count: number },
) {
  for (let index = 0; index < count; index++) into[to + index] = column[first + (CHOSEN[index] ?? 0)] ?? 0;
}
