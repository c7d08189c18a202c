import { type RollupTable, type Segment, segmentOf } from '#catalogue';
import type { NumberedColumn, OpenPart } from './part-file.ts';
import type { Additions } from './tables.ts';

/** Numbers segments in the order of first use. */
export class SegmentNumbers {
  private readonly numbers = new Map<string, number>();
  private readonly segments: Segment[] = [];

  /** Reads the number of a row's segment. Each combination of values is looked up once per part. */
  in({ segments: columns }: OpenPart): (row: number) => number {
    const known = new Map<number, number>();
    return (row) => {
      let combined = 0;
      for (const { values, numbers } of columns)
        combined = combined * (values.length + 1) + (numbers[row] ?? 0);
      let number = known.get(combined);
      if (number === undefined) {
        number = this.numberOf(columns, row);
        known.set(combined, number);
      }
      return number;
    };
  }

  readonly segmentOf = (number: number): Segment => {
    const segment = this.segments[number];
    if (!segment) throw new Error('the segment has no number');
    return segment;
  };

  private numberOf(columns: readonly NumberedColumn[], row: number): number {
    const texts = columns.map(({ values, numbers }) => values[numbers[row] ?? 0] ?? '');
    const name = texts.join('\0');
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.segments.push(segmentOf(texts)) - 1;
    this.numbers.set(name, number);
    return number;
  }
}

/** Adds the rows of a part to what `into` returns for their first day. Rows for which it returns null are left out. */
export function addRows(
  part: OpenPart,
  segments: SegmentNumbers,
  applicationId: string,
  into: (day: string) => Additions<RollupTable> | null,
): void {
  const { size, keys, sums } = part;
  const segmentIn = segments.in(part);
  const [days] = keys;
  for (let row = 0; row < size; row++) {
    const additions = into(days?.values[days.numbers[row] ?? 0] ?? '');
    if (!additions) continue;
    const values = keys.map((column) => column.values[column.numbers[row] ?? 0] ?? '');
    additions.addSegments(
      [applicationId, ...values],
      [segmentIn(row), ...sums.map((column) => column?.[row] ?? 0)],
    );
  }
}
