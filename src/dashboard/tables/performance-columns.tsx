import type { Child } from 'hono/jsx';
import type { PerformanceRow } from '#reports';
import { type Here, viewQuery } from '../shell/view.ts';
import { figureColumn } from './figure-column.tsx';
import { groupLabel } from './groups.tsx';
import { firstOrder, headingsOf, type MetricName } from './metrics.ts';
import { areCompared, earlierIn } from './row-changes.ts';
import type { Column } from './table.tsx';

/** The columns of a performance table: its groupings, then the metrics that they support. Every heading sorts. */
export function performanceColumns(
  rows: readonly PerformanceRow[],
  groups: readonly string[],
  shown: Here & {
    sort: string;
    metrics: readonly MetricName[];
    /** The metric whose change is in its cells and orders the rows. */
    compared?: MetricName;
    /** The text of a row in a grouping's column. */
    cell: (name: string, row: PerformanceRow) => Child;
  },
): Column<PerformanceRow>[] {
  const { view, path, carry } = shown;
  const heading = headingsOf(shown.sort, (sort) => path + viewQuery(view, { ...carry, sort }));
  const given = shown.metrics.filter((name) =>
    rows.some((row) => row[name] !== null && row[name] !== undefined),
  );
  const changed = shown.compared && areCompared(rows, shown.compared) ? shown.compared : null;
  const earlierOf = changed ? (row: PerformanceRow) => earlierIn(row, changed) : undefined;
  const { sortHref: href, ...byChange } = heading('change', '-change');
  const order = { href, ...byChange };
  return [
    ...groups.map((name) => ({
      label: groupLabel(name),
      ...heading(name, name),
      cell: (row: PerformanceRow) => shown.cell(name, row),
    })),
    ...given.map(
      (name): Column<PerformanceRow> => ({
        ...figureColumn(name, rows, view.currency, (row) => row, changed === name ? earlierOf : undefined),
        ...heading(name, firstOrder(name)),
        ...(changed === name ? { also: { label: 'change', ...order } } : {}),
      }),
    ),
  ];
}
