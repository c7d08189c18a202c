import type { Child } from 'hono/jsx';
import type { PerformanceReport } from '#reports';
import type { Column } from '../shell/parts.tsx';
import { type View, type ViewChanges, viewQuery } from '../shell/view.ts';
import { figureColumn } from './figure-column.tsx';
import { groupLabel } from './groups.tsx';
import { firstOrder, headingsOf, type MetricName, SHOWN_METRICS } from './metrics.ts';
import { areCompared, earlierIn } from './row-changes.ts';

type Row = PerformanceReport['data'][number];

/** The columns of a performance table: its groupings, then the metrics that they support. Every heading sorts. */
export function performanceColumns(
  rows: readonly Row[],
  groups: readonly string[],
  shown: {
    view: View;
    path: string;
    sort: string;
    parameters: ViewChanges;
    first?: readonly MetricName[];
    /** The metrics to show; all that the groupings support if left out. */
    metrics?: readonly MetricName[];
    /** The metric whose change is in its cells and orders the rows. */
    compared?: MetricName;
    /** The text of a row in a grouping's column. */
    cell: (name: string, row: Row) => Child;
  },
): Column<Row>[] {
  const { view, path, parameters } = shown;
  const heading = headingsOf(shown.sort, (sort) => path + viewQuery(view, { ...parameters, sort }));
  const ordered = shown.metrics ?? [...new Set([...(shown.first ?? []), ...SHOWN_METRICS])];
  const given = ordered.filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined));
  const changed = shown.compared && areCompared(rows, shown.compared) ? shown.compared : null;
  const earlierOf = changed ? (row: Row) => earlierIn(row, changed) : undefined;
  const { sortHref: href, ...byChange } = heading('change', '-change');
  const order = { href, ...byChange };
  return [
    ...groups.map((name) => ({
      label: groupLabel(name),
      ...heading(name, name),
      cell: (row: Row) => shown.cell(name, row),
    })),
    ...given.map(
      (name): Column<Row> => ({
        ...figureColumn(name, rows, view.currency, (row) => row, changed === name ? earlierOf : undefined),
        ...heading(name, firstOrder(name)),
        ...(changed === name ? { also: { label: 'change', ...order } } : {}),
      }),
    ),
  ];
}
