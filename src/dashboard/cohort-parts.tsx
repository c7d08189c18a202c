import type { Child } from 'hono/jsx';
import { addDays } from '#lib/time';
import { shortDay, shortDays, type Tick } from './axis.ts';
import { LineChart, type Series } from './chart.tsx';
import { keyOf } from './compared.tsx';
import { type Forecast, withForecasts } from './forecast.ts';
import { count } from './format.ts';
import { DEVICE_GROUPINGS, GroupCell, groupLabel, groupName } from './groups.tsx';
import type { DashboardContext } from './guard.ts';
import { type Column, Field, Table } from './parts.tsx';
import { ViewFields } from './report.tsx';
import type { View } from './view.ts';

const COHORTS = [
  ['day', 'By day'],
  ['week', 'By week'],
  ['month', 'By month'],
  ['all', 'All together'],
] as const;

/** Every day of a month, then weeks, because curves bend most at the beginning. */
export const CURVE_DAYS = [...Array.from({ length: 31 }, (_, day) => day), 37, 44, 51, 60, 75, 90];
const TICK_DAYS = [0, 1, 2, 3, 4, 5, 7, 14, 21, 30, 60, 90];
/** The smallest distances, as shares of the axis, at which labels are readable on a phone. The first label begins at the edge, not at its day. */
const MIN_TICK_GAP = 0.18;
const MIN_FIRST_GAP = 0.22;
const HEAT_STEPS = 10;
export const MAX_CURVES = 6;
export const COHORT_COLUMNS = [
  'cohort_from',
  'cohort_to',
  'creative',
  'creative_id',
  'size',
  'day',
  'eligible',
];

/** How the devices of a cohort page are grouped. */
export type CohortsAsked = { cohort: string; group: string };

export function readCohorts(c: DashboardContext, cohort: string): CohortsAsked {
  const group = c.req.query('group') ?? '';
  return { cohort: c.req.query('cohort') ?? (group === '' ? cohort : 'all'), group };
}

/** The query fields of a cohort report, besides the view's. */
export const cohortsAsked = ({ cohort, group }: CohortsAsked) => ({
  cohort,
  ...(group === '' ? {} : { group_by: group }),
});

/** A form for the grouping, submitted on every change. */
export const CohortForm = ({
  path,
  view,
  asked: { cohort, group },
  fields,
}: {
  path: string;
  view: View;
  asked: CohortsAsked;
  fields: Parameters<typeof Field>[0][];
}) => (
  <form method="get" action={path} class="row" data-submit-on-change>
    <ViewFields view={view} />
    <Field label="Group by" name="group" value={group} options={[['', 'Nothing'], ...DEVICE_GROUPINGS]} />
    <Field label="Cohorts" name="cohort" value={cohort} options={COHORTS} />
    {fields.map((field) => (
      <Field {...field} />
    ))}
    <button type="submit" class="quiet" data-apply>
      Apply
    </button>
  </form>
);

type Value = string | number | boolean | null | undefined | object;
export type CohortRow = { cohort_from: string; cohort_to: string; size: number; is_other?: boolean } & Record<
  string,
  Value
>;

/** The name of a row in a cohort report: its group, its acquisition days, or both. */
export function cohortName({ cohort, group }: CohortsAsked, row: CohortRow, today: string): string {
  const days = shortDays({ from: row.cohort_from, to: row.cohort_to }, today);
  if (group === '') return row.is_other ? 'Everything else' : days;
  const name = groupName(group, plain(row));
  return cohort === 'all' || row.is_other ? name : `${name}, ${days}`;
}

/** A row without its table of days. */
const plain = (row: CohortRow) =>
  Object.fromEntries(
    Object.entries(row).filter(
      (entry): entry is [string, string | number | boolean | null] =>
        typeof entry[1] !== 'object' || entry[1] === null,
    ),
  );

/** A value of a cohort's day; null if no device has completed that day, or if the value is unknown. */
type Cell = { value: number | null; eligible: number; text: string };

type CohortTableProps<Row extends CohortRow> = {
  caption: string;
  path: string;
  carry: Record<string, string>;
  view: View;
  asked: CohortsAsked;
  rows: readonly Row[];
  days: readonly number[];
  cell: (row: Row, day: number) => Cell;
  /** The cohorts to compare with. A group's is below its row; without groups, all devices of the earlier period are in a last row. */
  before?: readonly Row[];
  /** Columns between the devices and the days. */
  more?: readonly Column<Row>[];
  /** Days whose cells are coloured. Day 0 of retention is not, because it is always 100 %. */
  isHeat: (day: number) => boolean;
  /** The heading of a day's column. */
  label?: (day: number) => string;
};

/** Cohorts by day. The higher a value among those shown, the deeper its colour; the number is always shown. */
export function CohortTable<Row extends CohortRow>(props: CohortTableProps<Row>) {
  const { caption, path, carry, view, asked, rows, days, cell, isHeat, before = [] } = props;
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
  const top = Math.max(0, ...rows.flatMap((row) => days.map((day) => heatIn(row, day) ?? 0)));
  const heatOf = (row: Row, day: number) => {
    const value = heatIn(row, day);
    const { eligible } = cell(row, day);
    const few = eligible > 0 && !isMostOf(row, eligible) ? ' few' : '';
    return value !== null && value > 0 ? ` h${Math.max(1, Math.round((value / top) * HEAT_STEPS))}` : few;
  };
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
                <GroupCell view={view} path={path} carry={carry} name={asked.group} row={plain(row)} />
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
        label: props.label?.(day) ?? `Day ${day}`,
        numeric: true,
        classOf: (row) => `heat${heatOf(row, day)}`,
        titleOf: (row) => explainCell(cell(row, day), row, day, view.today),
        cell: (row) => {
          const { eligible, text } = cell(row, day);
          return eligible > 0 ? text : <span class="visually-hidden">not over yet</span>;
        },
      }),
    ),
  ];
  return (
    <Table
      caption={caption}
      rows={asked.group === '' && rows.length > 0 ? [...rows, ...before] : withEarlier}
      columns={columns}
      empty="No devices were acquired in this period."
      kind="heat-map"
    />
  );
}

const Before = ({ row, view }: { row: CohortRow; view: View }) => (
  <span class="muted">Before: {shortDays({ from: row.cohort_from, to: row.cohort_to }, view.today)}</span>
);

/** More groups than this are not compared, because the page would take twice as long. */
const MAX_COMPARED = 50;

/**
 * The cohorts of the earlier period that a table compares with its rows: those of the same groups, if the cohorts are not divided by time and the
 * groups are few, or else all devices together. `read` reads cohorts of the earlier period.
 */
export async function cohortsBefore<Row extends CohortRow>(
  asked: CohortsAsked,
  { total_rows: total }: { total_rows: number },
  read: (changes: Record<string, unknown>) => Promise<{ data: Row[] }>,
): Promise<Row[]> {
  if (asked.group === '') return (await read({ cohort: 'all' })).data;
  return asked.cohort === 'all' && total <= MAX_COMPARED ? (await read(cohortsAsked(asked))).data : [];
}

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

/** Whether at least half of a cohort's devices have completed a day. A value of fewer covers other devices than the values before it. */
const isMostOf = ({ size }: { size: number }, eligible: number) => eligible * 2 >= size;

/**
 * A cohort's curve. It ends where fewer than half of the devices have completed the day: beyond that, it would jump, because it covers different
 * devices.
 */
export function curveOf<Day extends { eligible: number }>(
  row: { size: number; days: Readonly<Record<string, Day>> } | undefined,
  figureOf: (day: Day) => number | null,
): (number | null)[] {
  return CURVE_DAYS.map((day) => {
    const cell = row?.days[day];
    return cell && row && isMostOf(row, cell.eligible) ? figureOf(cell) : null;
  });
}

export const CURVE_HINT = 'A curve ends where fewer than half of its devices have completed that day.';
export const FEW_HINT = 'Italic: fewer than half of the devices have completed that day.';

/** Curves by day since acquisition, up to the last day that any of them has. */
export const CohortCurves = ({ title, format, level, series, predicted }: CurvesProps) => {
  const { days, ticks, shown } = predicted
    ? predictedAxis(series, predicted, format)
    : { ...curveAxis(series), shown: null };
  return (
    <LineChart
      title={`${title} by day since acquisition`}
      labels={days.map((day) => `Day ${day}`)}
      xs={days}
      ticks={ticks}
      format={format}
      {...(level ? { level } : {})}
      series={shown ?? series.map((one) => ({ ...one, values: one.values.slice(0, days.length) }))}
    />
  );
};

type CurvesProps = {
  title: string;
  format: (value: number | null) => string;
  /** A horizontal line, such as where spend is paid back. */
  level?: { value: number; text: string } | undefined;
  series: Series[];
  /** The prediction for each series, this many days ahead. */
  predicted?: { ahead: number; forecasts: readonly (Forecast | null)[] } | undefined;
};

/** The axis and the curves, with their predictions. */
function predictedAxis(
  series: readonly Series[],
  predicted: NonNullable<CurvesProps['predicted']>,
  format: CurvesProps['format'],
) {
  const { days, ends, series: shown } = withForecasts(series, CURVE_DAYS, predicted, format);
  return { days, ticks: ticksOn(days, new Set([...TICK_DAYS, ...ends])), shown };
}

/** The days of a curve's axis, up to the last that any series has, and its labels. */
export function curveAxis(series: readonly { values: readonly (number | null)[] }[]): {
  days: readonly number[];
  ticks: Tick[];
} {
  const last = Math.max(0, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
  const days = CURVE_DAYS.slice(0, last + 1);
  return { days, ticks: ticksOn(days, new Set(TICK_DAYS)) };
}

/** The labels below the days in `named`, if there is room for them. */
function ticksOn(days: readonly number[], named: ReadonlySet<number>): Tick[] {
  const ticks: Tick[] = [];
  for (const [index, day] of days.entries()) {
    const before = days[ticks.at(-1)?.index ?? -1] ?? Number.NEGATIVE_INFINITY;
    const isApart = day - before >= (days.at(-1) ?? 0) * (ticks.length === 1 ? MIN_FIRST_GAP : MIN_TICK_GAP);
    if (named.has(day) && isApart) ticks.push({ index, text: `Day ${day}` });
  }
  return ticks;
}
