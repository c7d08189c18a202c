import { type Segment, segmentOf } from '#catalogue';
import type { NumberedColumn, OpenPart } from './part-file.ts';

/** A segment of parts with its number, from 1 on. */
export type NumberedSegment = Segment & { index: number };

/** Numbers the segments of parts in the order of first use, so that the same values are always the same object. */
export class PartSegments {
  private readonly known = new Map<string, NumberedSegment>();
  private readonly segments: NumberedSegment[] = [];

  /** The segments of a part, and the index among them of each row's. Each combination of values is looked up once per part. */
  in({ size, segments: columns }: OpenPart): { segments: NumberedSegment[]; numbers: Int32Array } {
    if (columns.every(({ values }) => values.length <= 1)) {
      return { segments: [this.segmentAt(columns, 0)], numbers: new Int32Array(size) };
    }
    const found = new Map<number, number>();
    const segments: NumberedSegment[] = [];
    const numbers = new Int32Array(size);
    for (let row = 0; row < size; row++) {
      let combined = 0;
      for (const { values, numbers } of columns) combined = combined * values.length + (numbers[row] ?? 0);
      let number = found.get(combined);
      if (number === undefined) {
        number = segments.push(this.segmentAt(columns, row)) - 1;
        found.set(combined, number);
      }
      numbers[row] = number;
    }
    return { segments, numbers };
  }

  /** The segment with a number. */
  readonly segmentOf = (index: number): Segment => {
    const segment = this.segments[index - 1];
    if (!segment) throw new Error('the segment has no number');
    return segment;
  };

  private segmentAt(columns: readonly NumberedColumn[], row: number): NumberedSegment {
    const texts = columns.map(({ values, numbers }) => values[numbers[row] ?? 0] ?? '');
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
