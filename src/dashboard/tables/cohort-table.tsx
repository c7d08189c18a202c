import type { Child } from 'hono/jsx';
import { count, type FigureFormat } from '#lib/format';
import { addDays } from '#lib/time';
import { shortDay, shortDays } from '../shell/dates.ts';
import type { Here, View } from '../shell/view.ts';
import { type CohortGrouping, type CohortRow, isMostOf } from './cohort-parts.tsx';
import { keyOf } from './compared.tsx';
import { GroupCell, groupLabel } from './groups.tsx';
import { heatOf } from './heat.ts';
import { type Column, Table } from './table.tsx';

export const FEW_HINT = 'Italic: fewer than half of the devices have completed that day.';

/** A value of a cohort's day; null if no device has completed that day, or if the value is unknown. */
type Cell = { value: number | null; eligible: number; mark?: Child };

type CohortTableProps<Row extends CohortRow> = Here & {
  caption: string;
  asked: CohortGrouping;
  rows: readonly Row[];
  days: readonly number[];
  cell: (row: Row, day: number) => Cell;
  /** All devices of the period, as one cohort. */
  totals?: Row;
  /** The cohorts to compare with. A group's is below its row; without groups, all devices of the earlier period are in a last row. */
  before?: readonly Row[];
  /** Columns between the devices and the days. */
  more?: readonly Column<Row>[];
  format: FigureFormat;
  /** Days whose cells are coloured. Day 0 of retention is not, because it is always 100 %. */
  isHeat: (day: number) => boolean;
};

/** Cohorts by day. The higher a value among those shown, the deeper its colour; the number is always shown. */
export function CohortTable<Row extends CohortRow>(props: CohortTableProps<Row>) {
  const { caption, view, path, carry = {}, asked, rows, days, cell, format, isHeat, before = [] } = props;
  const isBefore = new Set(before);
  const keyOfGroup = (row: Row) => (row.is_other ? null : keyOf([asked.group], row));
  const earlier = new Map(before.map((row) => [keyOfGroup(row), row]));
  const withEarlier = rows.flatMap((row) => {
    const found = row.is_other ? undefined : earlier.get(keyOfGroup(row));
    return found ? [row, found] : [row];
  });
  /** The value that colours a cell; null without a colour. */
  const heatIn = (row: Row, day: number) => {
    const { value, eligible } = cell(row, day);
    return isHeat(day) && !isBefore.has(row) && isMostOf(row, eligible) ? value : null;
  };
  const shadeOf = heatOf(rows.flatMap((row) => days.flatMap((day) => heatIn(row, day) ?? [])));
  const classIn = (row: Row, day: number) => {
    const { eligible } = cell(row, day);
    const few = eligible > 0 && !isMostOf(row, eligible) ? ' few' : '';
    const shade = shadeOf(heatIn(row, day));
    return shade === '' ? few : ` ${shade}`;
  };
  const shown = [...rows, ...before].flatMap((row) => days.map((day) => cell(row, day)));
  const places = format.places(
    shown.flatMap(({ value, eligible }) => (eligible > 0 && value !== null ? [value] : [])),
  );
  const acquired = (row: Row): Child =>
    isBefore.has(row) ? (
      <Before row={row} view={view} />
    ) : (
      shortDays({ from: row.cohort_from, to: row.cohort_to }, view.today)
    );
  const columns: Column<Row>[] = [
    ...(asked.group === ''
      ? []
      : [
          {
            label: groupLabel(asked.group),
            cell: (row: Row): Child =>
              isBefore.has(row) ? (
                <Before row={row} view={view} />
              ) : (
                <GroupCell view={view} path={path} carry={carry} name={asked.group} row={row} />
              ),
          },
        ]),
    ...(asked.group === '' || asked.cohort !== 'all'
      ? [
          {
            label: 'Acquired',
            cell: (row: Row): Child =>
              row.is_other && asked.group === '' ? 'Everything else' : acquired(row),
          },
        ]
      : []),
    { label: 'Devices', numeric: true, cell: (row) => count(row.size) },
    ...(props.more ?? []),
    ...days.map(
      (day): Column<Row> => ({
        label: `Day ${day}`,
        numeric: true,
        classOf: (row) => `heat${classIn(row, day)}`,
        titleOf: (row) => explainCell(cell(row, day), row, day, view.today),
        cell: (row) => {
          const { eligible, value, mark } = cell(row, day);
          if (eligible > 0) {
            return (
              <>
                {format.text(value, places)}
                {mark}
              </>
            );
          }
          return <span class="visually-hidden">not over yet</span>;
        },
      }),
    ),
  ];
  return (
    <Table
      caption={caption}
      rows={asked.group === '' && rows.length > 0 ? [...rows, ...before] : withEarlier}
      columns={columns}
      {...(props.totals ? { totals: totalsOf(props, props.totals, columns) } : {})}
      empty="No devices were acquired in this period."
      kind="heat-map"
    />
  );
}

/** The cells of the total row: those of a cohort of all devices. */
function totalsOf<Row extends CohortRow>(
  { days, more = [] }: CohortTableProps<Row>,
  totals: Row,
  columns: readonly Column<Row>[],
): Child[] {
  const figures = 1 + more.length + days.length;
  const names = columns.length - figures;
  return columns.map((column, at) => (at === 0 ? 'Total' : at < names ? '' : column.cell(totals)));
}

const Before = ({ row, view }: { row: CohortRow; view: View }) => (
  <span class="muted">Before: {shortDays({ from: row.cohort_from, to: row.cohort_to }, view.today)}</span>
);

/** Explains a cell: the devices it covers, or when it will be known. */
function explainCell({ eligible }: Cell, row: CohortRow, day: number, today: string): string {
  if (eligible === 0) {
    // The first devices may have been acquired later than the cohort's first day.
    const known = addDays(row.cohort_from, day + 1);
    return known > today
      ? `Day ${day} is not over yet: known from ${shortDay(known)}`
      : `Day ${day} is not over yet for any of these devices`;
  }
  return eligible < row.size
    ? `${count(eligible)} of ${count(row.size)} devices: those whose day ${day} is over`
    : `${count(eligible)} devices`;
}
