import type { Segment } from '#catalogue';

// Figures that are added up in the Worker come in chunks, whatever they are stored as: blocks of a rollup, rows by hour, or costs.

/** A segment. The same three values are always the same object. */
export type ScannedSegment = Segment & { index: number };

export type Chunk = {
  /** Costs have amounts only: what was spent, low part first. Other sums are in the order of `sumColumnsOf` their rollup. */
  isOfCosts: boolean;
  /** The day of its rows, or the first day of their span. */
  day: string;
  /** The columns of a row's key. */
  columns: readonly string[];
  /** For each column, its values. A key consists of indexes into them. */
  values: readonly (readonly string[])[];
  read(reader: ChunkReader): void;
};

/** Receives the rows of a chunk. The arrays that it is passed are reused after each call. */
export type ChunkReader = {
  /** Returns whether the row is wanted. */
  row(key: Int32Array): boolean;
  /**
   * Receives sums of the last row that match the filters: one call per segment, or a single one if the chunk has no segments. The bits
   * of `mask` say which sums are not 0.
   */
  add(segment: ScannedSegment, sums: Float64Array, mask: number): void;
};

/** The values of a column; empty if the chunk does not have it. */
export const valuesIn = ({ columns, values }: Chunk, column: string): readonly string[] =>
  values[columns.indexOf(column)] ?? [];

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
