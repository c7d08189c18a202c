import { addDays, daysBetween, hourIn } from '#lib/time';
import type { PerformanceReport, PerformanceRow } from '#reports';
import type { Compared } from '../shell/period.ts';
import type { View } from '../shell/view.ts';
import { type ComparedReport, figuresBefore } from './compared.tsx';
import { isTimeGroup } from './groups.tsx';
import { type Amounts, type Earlier, earlierOf, UNKNOWN } from './lacking.tsx';
import { type MetricName, nothingOf, numberOf } from './metrics.ts';

/** The lengths of `2026-11-01` and `2026-11-01T01` at the start of an hour's key. */
const [DAY_CHARS, CLOCK_CHARS] = [10, 13];

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
): PerformanceRow[] {
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
    const was = earlierFigure(day === null ? row : { ...row, day });
    return rowWithChange(row, metric, was, numberOf(row[metric]));
  });
}

/** The same for the rows of hours. An hour that is not over, or whose counterpart is not known, is not compared. */
function withHoursBefore(
  metric: MetricName,
  view: View,
  rows: readonly PerformanceRow[],
  report: PerformanceReport | null,
  days: Compared,
): PerformanceRow[] {
  if (!report) return [...rows];
  const earlier = report.data;
  const apart = daysBetween(days.before.from, view.from);
  const current = hourIn(view.application.timezone, view.now);
  const isCut = earlier.some((row) => row.is_other);
  const known = new Map<string, PerformanceRow>();
  for (const row of earlier) {
    const clock = String(row.hour).slice(0, CLOCK_CHARS);
    if (!known.has(clock)) known.set(clock, row);
  }
  return rows.map((row) => {
    const hour = String(row.hour);
    const found = known.get(addDays(hour.slice(0, DAY_CHARS), -apart) + hour.slice(DAY_CHARS, CLOCK_CHARS));
    const was = found ? earlierOf(metric, found) : { value: isCut ? null : nothingOf(metric), lacks: [] };
    const isKnown = !row.is_other && hour !== current && was.value !== null;
    return rowWithChange(row, metric, isKnown ? was : UNKNOWN, isKnown ? numberOf(row[metric]) : null);
  });
}

/** The earlier value and the change of a row, as columns of a file; none if it is not compared. */
export const changesIn = (
  row: PerformanceRow | undefined,
  metric: MetricName,
): Record<string, number | null> =>
  row && beforeOf(metric) in row
    ? {
        [beforeOf(metric)]: numberOf(row[beforeOf(metric)]),
        [changeOf(metric)]: numberOf(row[changeOf(metric)]),
      }
    : {};

/** A row with the earlier value of a metric and its change, as `withBefore` adds them. */
export const rowWithChange = (
  row: PerformanceRow,
  metric: MetricName,
  { value: was, lacks }: Earlier,
  is: number | null,
): PerformanceRow => ({
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

/** What a row had of a metric before. */
export function earlierIn(row: PerformanceRow | undefined, metric: MetricName): Earlier {
  if (typeof row?.[changeOf(metric)] !== 'number') return UNKNOWN;
  return { value: numberOf(row[beforeOf(metric)]), lacks: (row.before_unconverted ?? []) as Amounts };
}

/** Whether rows have been compared, so that they can be sorted by change. */
export const areCompared = (rows: readonly PerformanceRow[], metric: MetricName): boolean =>
  rows.some((row) => beforeOf(metric) in row);
