import { addDays, daysBetween, hourIn } from '#lib/time';
import type { PerformanceReport, PerformanceRow } from '#reports';
import { isOfGroup } from '#reports';
import type { View } from '../shell/view.ts';
import { type ComparedReport, comparedFigures, figuresBefore } from './compared.tsx';
import { isTimeGroup } from './groups.tsx';
import { type Earlier, UNKNOWN, type UnratedAmounts } from './lacking.tsx';
import { type MetricName, numberOf } from './metrics.ts';

/** The lengths of `2026-11-01` and `2026-11-01T01` at the start of an hour's key. */
const [DAY_CHARS, CLOCK_CHARS] = [10, 13];

const beforeOf = (metric: MetricName) => `${metric}_before`;
const changeOf = (metric: MetricName) => `${metric}_change`;

/** Hours named by their day and clock alone. Of two equal ones, the first comes last, which is the one that counts. */
const byClock = (report: PerformanceReport): PerformanceReport => ({
  ...report,
  data: report.data.map((row) => ({ ...row, hour: String(row.hour).slice(0, CLOCK_CHARS) })).toReversed(),
});

/**
 * Adds the earlier value of the chosen metric, and its change, to rows. The row of a day is compared with the day at the same position, the row
 * of an hour with the same hour of the clock on that day, once it is over. Weeks and months are not compared, because two periods need not start
 * on the same weekday or date.
 */
export function withBefore(
  groups: readonly string[],
  metric: MetricName,
  view: View,
  { report, shown, earlier, periods }: ComparedReport,
): PerformanceRow[] {
  const unit = groups.find(isTimeGroup);
  const isCompared = unit === undefined || groups.join() === 'day' || groups.join() === 'hour';
  if (!earlier || !periods || !isCompared) return report.data;
  const before = unit === 'hour' ? byClock(earlier) : earlier;
  const figureBefore = unit
    ? figuresBefore(groups, before, metric)
    : comparedFigures(groups, { report, shown, before }, metric);
  const { now } = periods;
  const apart = daysBetween(periods.before.from, view.from);
  const current = hourIn(view.application.timezone, view.now);
  /** The earlier place that a day or hour is compared with; null if it is not compared. */
  const placeBefore = (place: string): string | null => {
    const was = addDays(place.slice(0, DAY_CHARS), -apart) + place.slice(DAY_CHARS, CLOCK_CHARS);
    const isOver = unit === 'hour' ? place !== current : place <= now.to && was <= periods.before.to;
    return isOver ? was : null;
  };
  return report.data.map((row) => {
    const place = unit && isOfGroup(row) ? placeBefore(String(row[unit])) : '';
    if (!isOfGroup(row) || place === null) return rowWithChange(row, metric, UNKNOWN, null);
    const was = figureBefore(unit ? { ...row, [unit]: place } : row);
    return rowWithChange(row, metric, was, was.now === undefined ? numberOf(row[metric]) : was.now);
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
  const [change, value] = [row?.[changeOf(metric)], numberOf(row?.[beforeOf(metric)])];
  if (!row || typeof change !== 'number' || value === null) return UNKNOWN;
  return { value, now: value + change, lacks: (row.before_unconverted ?? []) as UnratedAmounts };
}

/** Whether rows have been compared, so that they can be sorted by change. */
export const areCompared = (rows: readonly PerformanceRow[], metric: MetricName): boolean =>
  rows.some((row) => beforeOf(metric) in row);
