import type { RollupTable } from '#catalogue';
import type { Additions } from '../tables.ts';
import type { OpenPart } from './open-part.ts';
import type { PartSegments } from './part-segments.ts';

/** Adds the rows of a part to what `into` returns for their first day. Rows for which it returns null are left out. */
export function addRows(
  part: OpenPart,
  known: PartSegments,
  applicationId: string,
  into: (day: string) => Additions<RollupTable> | null,
): void {
  const { size, keys, sums } = part;
  const { segments, numbers } = known.in(part);
  const [days] = keys;
  for (let row = 0; row < size; row++) {
    const additions = into(days?.values[days.numbers[row] ?? 0] ?? '');
    if (!additions) continue;
    const values = keys.map((column) => column.values[column.numbers[row] ?? 0] ?? '');
    additions.addSegments(
      [applicationId, ...values],
      [segments[numbers[row] ?? 0]?.index ?? 0, ...sums.map((column) => column?.[row] ?? 0)],
    );
  }
}
