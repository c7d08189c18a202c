import type { Segment } from '#catalogue';
import type { NumberedColumn } from '#rollup';

// Figures that are added up in the Worker come in chunks, whatever they are stored as: parts of the cube, rows by hour, or costs. They are in
// columns: a report then goes through one column after another, which takes a fraction of the time of going through rows.

/**
 * Sums by key and segment: each entry is one segment of one row. Its arrays are overwritten by the next chunk of a scan, and may be longer than
 * `size`.
 */
export type Chunk = {
  /** Costs have what was spent, low part first, and the impressions that they state. Other sums are in the order of `sumColumnsOf` their rollup. */
  isOfCosts?: boolean;
  /** The number of entries: those that match the filters. */
  size: number;
  /** The columns of an entry's key, by name. */
  columns: ReadonlyMap<string, NumberedColumn>;
  /** In one scan, the same values are always the same object. */
  segments: { values: readonly Segment[]; numbers: Int32Array };
  /** For each column of sums, the entries' sums; null if all of them are 0. */
  sums: readonly (Float64Array | null)[];
};

const NO_COLUMN: NumberedColumn = { values: [], numbers: new Int32Array(0) };

/** A column of a chunk; empty if the chunk does not have it. */
export const columnOf = ({ columns }: Chunk, name: string): NumberedColumn => columns.get(name) ?? NO_COLUMN;

/** Which entries of a chunk are of organic devices: those with the number `organic` in `numbers`; -1 if none is. */
export function organicIn(chunk: Chunk): { numbers: Int32Array; organic: number } {
  const together = chunk.columns.get('attribution');
  const { values, numbers } = together ?? columnOf(chunk, 'creative_id');
  return { numbers, organic: values.indexOf(together ? 'organic' : '') };
}

/** The latest day of a chunk's entries, of which none is after `to`. */
const latestIn = (chunk: Chunk, to: string): string =>
  columnOf(chunk, 'day').values.reduce((latest, day) => (day > latest && day <= to ? day : latest), '');

/** Merges two sequences of chunks until the day `to`, each with the latest day first. */
export async function* latestFirst(
  left: AsyncGenerator<Chunk>,
  right: AsyncGenerator<Chunk>,
  to: string,
): AsyncGenerator<Chunk> {
  try {
    let [one, other] = await Promise.all([left.next(), right.next()]);
    while (!one.done || !other.done) {
      if (!one.done && (other.done || latestIn(one.value, to) >= latestIn(other.value, to))) {
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
