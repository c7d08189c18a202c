import type { Child } from 'hono/jsx';
import type { PerformanceRow } from '#reports';
import { Card } from '../shell/parts.tsx';
import type { Here } from '../shell/view.ts';
import type { ComparedReport } from './compared.tsx';
import { type DayNotes, NotesOf } from './day-notes.tsx';
import { figureColumn, totalCells } from './figure-column.tsx';
import { GroupCell, groupLabel } from './groups.tsx';
import type { MetricName } from './metrics.ts';
import type { AxisUnit } from './places.ts';
import { Table } from './table.tsx';

/** The figures of each place of a chart over time, the latest first and folded: links that narrow the page at `path`, with the notes on their days. */
export const TimeTable = ({
  of = 'Figures',
  view,
  path,
  unit,
  names,
  compared: {
    report: { data: rows, totals },
  },
  notes,
  aside,
}: Here & {
  of?: string;
  unit: AxisUnit;
  names: readonly MetricName[];
  compared: ComparedReport;
  notes: DayNotes;
  aside?: Child;
}) => (
  <Card title={`By ${unit}`} aside={aside}>
    <details class="fold">
      <summary>{`Show the figures of each ${unit}`}</summary>
      <Table
        caption={`${of} by ${unit}, days in ${view.application.timezone}`}
        rows={rows.toReversed()}
        empty="No data in this period."
        columns={[
          {
            label: groupLabel(unit),
            cell: (row) => (
              <>
                <GroupCell view={view} path={path} name={unit} row={row} />
                <NotesOf notes={notes} today={view.today} name={unit} row={row} rows={rows} />
              </>
            ),
          },
          ...names.map((name) => figureColumn(name, rows, view, (row: PerformanceRow) => row)),
        ]}
        totals={totalCells(1, names, rows, totals, view.currency)}
      />
    </details>
  </Card>
);
