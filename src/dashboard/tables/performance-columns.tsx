import type { Child } from 'hono/jsx';
import type { PerformanceRow } from '#reports';
import { type Here, type View, viewQuery } from '../shell/view.ts';
import type { ComparedReport } from './compared.tsx';
import { figureColumn, totalCells } from './figure-column.tsx';
import { groupLabel } from './groups.tsx';
import { earlierOf } from './lacking.tsx';
import { firstOrder, headingsOf, type MetricName, numberOf } from './metrics.ts';
import { areCompared, earlierIn } from './row-changes.ts';
import type { Column } from './table.tsx';

/** Those of the metrics that a table has: some row knows them. */
const shownOf = (rows: readonly PerformanceRow[], metrics: readonly MetricName[]) =>
  metrics.filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined));

/** The total row below `performanceColumns`. */
export const performanceTotals = (
  rows: readonly PerformanceRow[],
  groups: readonly string[],
  { view, metrics, compared }: { view: View; metrics: readonly MetricName[]; compared?: MetricName },
  { report, shown, before }: ComparedReport,
): Child[] => {
  const change =
    before !== null && compared !== undefined && areCompared(rows, compared)
      ? {
          name: compared,
          earlier: { ...earlierOf(compared, before.totals), now: numberOf(shown.totals[compared]) },
        }
      : undefined;
  return totalCells(groups.length, shownOf(rows, metrics), rows, report.totals, view.currency, change);
};

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
  const given = shownOf(rows, shown.metrics);
  const changed = shown.compared && areCompared(rows, shown.compared) ? shown.compared : null;
  const earlierOfRow = changed ? (row: PerformanceRow) => earlierIn(row, changed) : undefined;
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
        ...figureColumn(name, rows, view, (row) => row, changed === name ? earlierOfRow : undefined),
        ...heading(name, firstOrder(name)),
        ...(changed === name ? { also: { label: 'change', ...order } } : {}),
      }),
    ),
  ];
}
