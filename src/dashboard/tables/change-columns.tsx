import { addDays, daysBetween, hourIn } from '#lib/time';
import type { PerformanceReport } from '#reports';
import { NOTHING } from '../shell/format.ts';
import type { Column } from '../shell/parts.tsx';
import type { Compared } from '../shell/period.ts';
import type { View } from '../shell/view.ts';
import { type ComparedReport, change, figuresBefore, shareText, toneOf } from './compared.tsx';
import { isTimeGroup } from './groups.tsx';
import { type Amounts, type Earlier, EarlierCell, earlierOf } from './lacking.tsx';
import { type MetricName, nothingOf, showMetric } from './metrics.ts';

type Row = PerformanceReport['data'][number];

/** The lengths of `2026-11-01` and `2026-11-01T01` at the start of an hour's key. */
const [DAY_CHARS, CLOCK_CHARS] = [10, 13];

const figureIn = (row: Row, metric: MetricName) => (typeof row[metric] === 'number' ? row[metric] : null);

const UNKNOWN: Earlier = { value: null, lacks: [] };

const beforeOf = (metric: MetricName) => `${metric}_before`;
const changeOf = (metric: MetricName) => `${metric}_change`;

/**
 * Adds the earlier value of the chosen metric, and its change, to rows. The row of a day is compared with the day at the same position, the row
 * of an hour with the same hour of the clock on that day. Weeks and months are not compared, because two periods need not start on the same
 * weekday or date.
 */
export function withBefore(
  groups: readonly string[],
  metric: MetricName,
  view: View,
  compared: ComparedReport,
): Row[] {
  const { report, earlier, before, periods } = compared;
  if (!before || !periods) return report.data;
  if (groups.join() === 'hour') return withHoursBefore(metric, view, report.data, earlier, periods);
  const isByTime = groups.some(isTimeGroup);
  if (isByTime && groups.join() !== 'day') return report.data;
  const earlierFigure = figuresBefore(groups, before, metric);
  const apart = daysBetween(periods.before.from, view.from);
  return report.data.map((row) => {
    const day = isByTime && !row.is_other ? addDays(String(row.day), -apart) : null;
    const isOutside = day !== null && (String(row.day) > periods.now.to || day > periods.before.to);
    if (row.is_other || isOutside) return rowWithChange(row, metric, UNKNOWN, null);
    return rowWithChange(
      row,
      metric,
      earlierFigure(day === null ? row : { ...row, day }),
      figureIn(row, metric),
    );
  });
}

/** The same for the rows of hours. An hour that is not over, or whose counterpart is not known, is not compared. */
function withHoursBefore(
  metric: MetricName,
  view: View,
  rows: readonly Row[],
  report: PerformanceReport | null,
  days: Compared,
): Row[] {
  if (!report) return [...rows];
  const earlier = report.data;
  const apart = daysBetween(days.before.from, view.from);
  const current = hourIn(view.application.timezone, view.now);
  const isCut = earlier.some((row) => row.is_other);
  const known = new Map<string, Row>();
  for (const row of earlier) {
    const clock = String(row.hour).slice(0, CLOCK_CHARS);
    if (!known.has(clock)) known.set(clock, row);
  }
  return rows.map((row) => {
    const hour = String(row.hour);
    const found = known.get(addDays(hour.slice(0, DAY_CHARS), -apart) + hour.slice(DAY_CHARS, CLOCK_CHARS));
    const was = found ? earlierOf(metric, found) : { value: isCut ? null : nothingOf(metric), lacks: [] };
    const isKnown = !row.is_other && hour !== current && was.value !== null;
    return rowWithChange(row, metric, isKnown ? was : UNKNOWN, isKnown ? figureIn(row, metric) : null);
  });
}

function numberAt(row: Row, name: string): number | null {
  const value = row[name];
  return typeof value === 'number' ? value : null;
}

/** The earlier value and the change of a row, as columns of a file; none if it is not compared. */
export const changesIn = (row: Row | undefined, metric: MetricName): Record<string, number | null> =>
  row && beforeOf(metric) in row
    ? {
        [beforeOf(metric)]: numberAt(row, beforeOf(metric)),
        [changeOf(metric)]: numberAt(row, changeOf(metric)),
      }
    : {};

const Changed = ({ row, metric, view }: { row: Row; metric: MetricName; view: View }) => {
  const [by, was] = [row[changeOf(metric)], row[beforeOf(metric)]];
  if (typeof by !== 'number' || typeof was !== 'number') return <>{NOTHING}</>;
  const share = change(was + by, was);
  return (
    <span class={`pill ${toneOf(metric, by)}`}>
      {by > 0 ? '+' : by < 0 ? '−' : ''}
      {showMetric(metric, Math.abs(by), view.currency)}
      {share === null ? '' : ` (${shareText(share)})`}
    </span>
  );
};

/** A row with the earlier value of a metric and its change, as `withBefore` adds them. */
export const rowWithChange = (
  row: Row,
  metric: MetricName,
  { value: was, lacks }: Earlier,
  is: number | null,
): Row => ({
  ...row,
  [beforeOf(metric)]: was,
  ...(lacks.length > 0 ? { before_unconverted: [...lacks] } : {}),
  [changeOf(metric)]: was === null || is === null ? null : is - was,
});

/** The sort order for `before` or `change`, with `-` before the name for largest first. */
export const changeOrder = (sort: string, metric: MetricName): string =>
  sort.replace(
    /^(-?)(before|change)$/,
    (_, order, name) => order + (name === 'before' ? beforeOf(metric) : changeOf(metric)),
  );

/** The columns for the earlier value and its change. `heading` returns how the table is sorted and where a click leads, if it can be sorted. */
export function changeColumns(
  rows: readonly Row[],
  metric: MetricName,
  view: View,
  heading?: (name: string) => { href: string; sort: string },
): Column<Row>[] {
  if (!rows.some((row) => beforeOf(metric) in row)) return [];
  const sorted = (name: string) => {
    if (!heading) return { numeric: true };
    const { href, sort } = heading(name);
    return {
      numeric: true,
      sortHref: href,
      ...(sort === name ? { sorted: 'ascending' as const } : {}),
      ...(sort === `-${name}` ? { sorted: 'descending' as const } : {}),
    };
  };
  return [
    {
      label: 'Change',
      ...sorted('change'),
      classOf: () => 'change',
      cell: (row) => <Changed row={row} metric={metric} view={view} />,
    },
    {
      label: 'Before',
      ...sorted('before'),
      cell: (row) => (
        <EarlierCell
          name={metric}
          earlier={{
            value: numberAt(row, beforeOf(metric)),
            lacks: (row.before_unconverted ?? []) as Amounts,
          }}
          currency={view.currency}
        />
      ),
    },
  ];
}
