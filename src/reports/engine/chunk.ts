import type { Segment } from '#catalogue';

// Figures that are added up in the Worker come in chunks, whatever they are stored as: parts of the cube, rows by hour, or costs. They are in
// columns: a report then goes through one column after another, which takes a fraction of the time of going through rows.

/** Sums by key and segment: each entry is one segment of one row. The arrays may be longer than `size`. */
export type Entries = {
  size: number;
  /** For each column of the key, the index of the entry's value among the column's values. */
  keys: readonly Int32Array[];
  /** The index of the entry's segment among the segments. */
  segments: Int32Array;
  /** For each column of sums, in the order of `sumColumnsOf`, the entries' sums; null if all of them are 0. */
  sums: readonly (Float64Array | null)[];
};

export type Chunk = {
  /** Costs have what was spent, low part first, and the impressions that they state. Other sums are in the order of `sumColumnsOf` their rollup. */
  isOfCosts: boolean;
  /** The latest day of its entries. */
  day: string;
  /** The columns of an entry's key. */
  columns: readonly string[];
  /** For each column, its values. */
  values: readonly (readonly string[])[];
  /** In one scan, the same values are always the same object. */
  segments: readonly Segment[];
  /** Those that match the filters. They are overwritten by the next chunk of a scan. */
  entries: Entries;
};

/** The values of a column; empty if the chunk does not have it. */
export const valuesIn = ({ columns, values }: Chunk, column: string): readonly string[] =>
  values[columns.indexOf(column)] ?? [];

/** Where a chunk's keys tell organic devices: entries with the number `value` in the column `at` are of them. `value` is -1 if none is. */
export function organicIn({ columns, values }: Chunk): { at: number; value: number } {
  const together = columns.indexOf('attribution');
  const at = together < 0 ? columns.indexOf('creative_id') : together;
  return { at, value: (values[at] ?? []).indexOf(together < 0 ? '' : 'organic') };
}

/** Merges two sequences of chunks, each with the latest day first. */
export async function* latestFirst(
  left: AsyncGenerator<Chunk>,
  right: AsyncGenerator<Chunk>,
): AsyncGenerator<Chunk> {
  try {
    let [one, other] = await Promise.all([left.next(), right.next()]);
    while (!one.done || !other.done) {
      if (!one.done && (other.done || one.value.day >= other.value.day)) {
        yield one.value;
        one = await left.next();
      } else if (!other.done) {
        yield other.value;
        other = await right.next();
      }
    }
  } finally {
    await Promise.all([left.return(undefined), right.return(undefined)]);
  }
}
