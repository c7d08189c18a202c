import { type RollupTable, type Segment, segmentOf } from '#catalogue';
import type { Additions } from '../tables.ts';

/** A segment of parts with its number, from 1 on. */
type NumberedSegment = Segment & { index: number };
/** The segments of rows: `numbers` has the index among `values` of each row's. */
export type NumberedSegments = { values: readonly NumberedSegment[]; numbers: Int32Array };

/** The rows of a part that were selected: texts are numbered, in order of first use. Overwritten by the next part that is read. */
export type OpenPart = {
  size: number;
  /** How many rows were searched. */
  searched: number;
  /** The columns of the key by name, in the order of `keyColumns`. */
  columns: ReadonlyMap<string, NumberedColumn>;
  /** Dimensions that were not selected are empty. In one reading, the same values are always the same object. */
  segments: NumberedSegments;
  /** In the order of the selection; null if all are 0, or were not selected. */
  sums: readonly (Float64Array | null)[];
};
export type NumberedColumn = { values: readonly string[]; numbers: Int32Array };

/** Numbers the segments of parts in the order of first use, so that the same values are always the same object. */
export class PartSegments {
  private readonly known = new Map<string, NumberedSegment>();
  private readonly segments: NumberedSegment[] = [];

  /** The segments of a part whose dimensions have these columns. Each combination of values is looked up once per part. */
  in(size: number, columns: readonly NumberedColumn[]): NumberedSegments {
    const textsAt = (row: number) => columns.map(({ values, numbers }) => values[numbers[row] ?? 0] ?? '');
    const varying = columns.filter(({ values }) => values.length > 1);
    const [first, ...others] = varying;
    if (!first) return { values: [this.segmentOfTexts(textsAt(0))], numbers: new Int32Array(size) };
    if (others.length === 0) {
      const textsOf = (value: string) =>
        columns.map((own) => (own === first ? value : (own.values[0] ?? '')));
      return {
        values: first.values.map((value) => this.segmentOfTexts(textsOf(value))),
        numbers: first.numbers,
      };
    }
    const combined = Float64Array.from(first.numbers);
    for (const { values, numbers } of others) {
      for (let row = 0; row < size; row++)
        combined[row] = (combined[row] ?? 0) * values.length + (numbers[row] ?? 0);
    }
    const found = new Map<number, number>();
    const segments: NumberedSegment[] = [];
    const numbers = new Int32Array(size);
    // The rows of one segment often follow one another.
    let [last, number] = [Number.NaN, 0];
    for (let row = 0; row < size; row++) {
      const one = combined[row] ?? 0;
      if (one !== last) {
        number = found.get(one) ?? segments.push(this.segmentOfTexts(textsAt(row))) - 1;
        found.set(one, number);
        last = one;
      }
      numbers[row] = number;
    }
    return { values: segments, numbers };
  }

  /** The segment with a number. */
  readonly segmentOf = (index: number): Segment => {
    const segment = this.segments[index - 1];
    if (!segment) throw new Error('the segment has no number');
    return segment;
  };

  private segmentOfTexts(texts: readonly string[]): NumberedSegment {
    const key = texts.join('\0');
    let segment = this.known.get(key);
    if (!segment) {
      segment = { ...segmentOf(texts), index: this.known.size + 1 };
      this.known.set(key, segment);
      this.segments.push(segment);
    }
    return segment;
  }
}

/** Adds the rows of a part to what `into` returns for their first day. Rows for which it returns null are left out. */
export function addRows(
  { size, columns, segments, sums }: OpenPart,
  applicationId: string,
  into: (day: string) => Additions<RollupTable> | null,
): void {
  const keys = [...columns.values()];
  const [days] = keys;
  for (let row = 0; row < size; row++) {
    const additions = into(days?.values[days.numbers[row] ?? 0] ?? '');
    if (!additions) continue;
    const values = keys.map((column) => column.values[column.numbers[row] ?? 0] ?? '');
    const segment = segments.values[segments.numbers[row] ?? 0]?.index ?? 0;
    additions.addSums(
      [applicationId, ...values],
      segment,
      sums.map((column) => column?.[row] ?? 0),
    );
  }
}
