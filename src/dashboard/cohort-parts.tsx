import type { Child } from 'hono/jsx';
import { addDays } from '#lib/time';
import { shortDay, shortDays, type Tick } from './axis.ts';
import { LineChart, type Series } from './chart.tsx';
import { type Forecast, withForecasts } from './forecast.ts';
import { count } from './format.ts';
import { GROUPINGS, GroupCell, groupLabel, groupName } from './groups.tsx';
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
const GROUPS: ReadonlySet<string> = new Set(['creative', 'campaign', 'adset', 'country', 'os']);

/** A month day by day, then weeks: where curves bend first. */
export const CURVE_DAYS = [...Array.from({ length: 31 }, (_, day) => day), 37, 44, 51, 60, 75, 90];
const TICK_DAYS = [0, 1, 2, 3, 4, 5, 7, 14, 21, 30, 60, 90];
/** As a share of the axis: so far apart words can be read on a phone. */
const MIN_TICK_GAP = 0.18;
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

/** How the devices of a cohort page are put together. */
export type CohortsAsked = { cohort: string; group: string };

export function readCohorts(c: DashboardContext, cohort: string): CohortsAsked {
  const group = c.req.query('group') ?? '';
  return { cohort: c.req.query('cohort') ?? (group === '' ? cohort : 'all'), group };
}

/** What a cohort report is asked besides the view. */
export const cohortsAsked = ({ cohort, group }: CohortsAsked) => ({
  cohort,
  ...(group === '' ? {} : { group_by: group }),
});

/** How to put the devices together, as a form that is sent on every change. */
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
    <Field
      label="Group by"
      name="group"
      value={group}
      options={[['', 'Nothing'], ...GROUPINGS.filter(([name]) => GROUPS.has(name))]}
    />
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

/** What a row of a cohort report is called: its group, its days of acquisition, or both. */
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

/** A figure of a cohort's day; null where no device of it has that day behind it, or where it can't be told. */
export type Cell = { value: number | null; eligible: number; text: string };

export type CohortTableProps<Row extends CohortRow> = {
  caption: string;
  path: string;
  carry: Record<string, string>;
  view: View;
  asked: CohortsAsked;
  rows: readonly Row[];
  days: readonly number[];
  cell: (row: Row, day: number) => Cell;
  /** What the cohorts are compared with: all devices of the earlier period, in a last row of its own. */
  before?: Row | undefined;
  /** Columns between the devices and the days. */
  more?: readonly Column<Row>[];
  /** Days whose cells are coloured: those that say something. Day 0 of a retention is always everyone. */
  isHeat: (day: number) => boolean;
  /** What a day's column is called. */
  label?: (day: number) => string;
};

/** Cohorts by day: the deeper the colour the higher the figure among those shown; the number is always there. */
export function CohortTable<Row extends CohortRow>(props: CohortTableProps<Row>) {
  const { caption, path, carry, view, asked, rows, days, cell, isHeat } = props;
  const heats = rows.flatMap((row) => days.filter(isHeat).map((day) => cell(row, day).value ?? 0));
  const top = Math.max(0, ...heats);
  const heatOf = (row: Row, day: number) => {
    const { value } = cell(row, day);
    return row !== props.before && isHeat(day) && value !== null && value > 0 && top > 0
      ? ` h${Math.max(1, Math.round((value / top) * HEAT_STEPS))}`
      : '';
  };
  const columns: Column<Row>[] = [
    ...(asked.group === ''
      ? []
      : [
          {
            label: groupLabel(asked.group),
            cell: (row: Row): Child => (
              <GroupCell view={view} path={path} carry={carry} name={asked.group} row={plain(row)} />
            ),
          },
        ]),
    ...(asked.group === '' || asked.cohort !== 'all'
      ? [
          {
            label: 'Acquired',
            cell: (row: Row): Child =>
              row.is_other && asked.group === '' ? (
                'Everything else'
              ) : (
                <span class={row === props.before ? 'muted' : ''}>
                  {row === props.before ? 'Before: ' : ''}
                  {shortDays({ from: row.cohort_from, to: row.cohort_to }, view.today)}
                </span>
              ),
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
        titleOf: (row) => explainCell(cell(row, day), row, day),
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
      rows={props.before && rows.length > 0 ? [...rows, props.before] : rows}
      columns={columns}
      empty="No device was acquired in this period."
      kind="heat-map"
    />
  );
}

/** What a cell is made of, or when it will be known. */
function explainCell({ eligible }: Cell, row: CohortRow, day: number): string {
  if (eligible === 0)
    return `Day ${day} is not over yet: known from ${shortDay(addDays(row.cohort_from, day + 1))}`;
  return eligible < row.size
    ? `${count(eligible)} of ${count(row.size)} devices: those whose day ${day} is over`
    : `${count(eligible)} devices`;
}

/**
 * A cohort's curve. It ends where less than half of the devices have the day behind them: beyond it stands for other devices than
 * before, and jumps.
 */
export function curveOf<Day extends { eligible: number }>(
  row: { size: number; days: Readonly<Record<string, Day>> } | undefined,
  figureOf: (day: Day) => number | null,
): (number | null)[] {
  return CURVE_DAYS.map((day) => {
    const cell = row?.days[day];
    return cell && row && cell.eligible * 2 >= row.size ? figureOf(cell) : null;
  });
}

export const CURVE_HINT = 'A curve ends where less than half of its devices have that day behind them.';

/** Curves over the days since acquisition, up to the last that any of them knows. */
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
  /** A line across, such as where spend is paid back. */
  level?: { value: number; text: string } | undefined;
  series: Series[];
  /** What is predicted of each series so many days ahead. */
  predicted?: { ahead: number; forecasts: readonly (Forecast | null)[] } | undefined;
};

/** The axis and the curves with what is predicted of them. */
function predictedAxis(
  series: readonly Series[],
  predicted: NonNullable<CurvesProps['predicted']>,
  format: CurvesProps['format'],
) {
  const { days, ends, series: shown } = withForecasts(series, CURVE_DAYS, predicted, format);
  return { days, ticks: ticksOn(days, new Set([...TICK_DAYS, ...ends])), shown };
}

/** The day numbers of a curve up to the last that any series knows, and the words below its axis. */
export function curveAxis(series: readonly { values: readonly (number | null)[] }[]): {
  days: readonly number[];
  ticks: Tick[];
} {
  const last = Math.max(0, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
  const days = CURVE_DAYS.slice(0, last + 1);
  return { days, ticks: ticksOn(days, new Set(TICK_DAYS)) };
}

/** The words below those days that are among `named`, as far as there is room for them. */
function ticksOn(days: readonly number[], named: ReadonlySet<number>): Tick[] {
  const ticks: Tick[] = [];
  for (const [index, day] of days.entries()) {
    const before = days[ticks.at(-1)?.index ?? -1] ?? Number.NEGATIVE_INFINITY;
    const isApart = day - before >= (days.at(-1) ?? 0) * MIN_TICK_GAP;
    if (named.has(day) && isApart) ticks.push({ index, text: `Day ${day}` });
  }
  return ticks;
}
