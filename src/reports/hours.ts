import * as z from 'zod';
import { HOUR_ID, HOURS_KEPT_DAYS, ROLLUP_KEYS } from '#catalogue';
import { invalidRequest } from '#http';
import { addDays, dayIn } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { type DimensionName, rollupOf } from './dimensions.ts';
import type { Reported, ReportFilters } from './query.ts';

// Figures by hour of the application's clock, as SQL tables for the performance report.

/** The largest number of hours in a day: 25 if clocks are set back. */
export const MAX_DAY_HOURS = 25;

const TABLE = 'rollup_hours';
const KEYS = ROLLUP_KEYS[TABLE];

/** SQL for an hour as ISO 8601 with its offset, such as `2026-11-01T01:00:00-04:00`. */
const hourSql = (day: string, id: string) => {
  const quarters = `(${id} % ${HOUR_ID.perHour} - ${HOUR_ID.ofUtc})`;
  return `printf('%sT%02d:00:00%s%02d:%02d', ${day}, ${id} / ${HOUR_ID.perHour},
    iif(${quarters} < 0, '-', '+'), abs(${quarters}) / 4, abs(${quarters}) % 4 * 15)`;
};

/** The hours of the rows that match a condition, each with its sums, without an alias. */
function unpackedHours(condition: string): string {
  const sums = sumColumnsOf(TABLE).map(
    (column, index) => `coalesce(part.value ->> ${index + 1}, 0) AS ${column}`,
  );
  const keys = KEYS.map((key) => `${TABLE}.${key} AS ${key}`);
  const hour = `${hourSql(`${TABLE}.day`, '(part.value ->> 0)')} AS hour`;
  return `SELECT ${[...keys, ...sums, hour].join(', ')}
    FROM ${TABLE} CROSS JOIN json_each('[' || ${TABLE}.hours || ']') AS part
    WHERE ${TABLE}.application_id = ?1 AND ${condition}`;
}

/** The id of an hour starts with the hour of the clock. */
const isBefore = (hour: number) => `part.value ->> 0 < ${hour * HOUR_ID.perHour}`;

/** The hours of the days ?2 to ?3 as a table. With `untilHour`, the last day ends before this hour of the clock. */
export function hoursTable(untilHour?: number): string {
  const until = untilHour === undefined ? '' : ` AND (${TABLE}.day < ?3 OR ${isBefore(untilHour)})`;
  return `(${unpackedHours(`${TABLE}.day BETWEEN ?2 AND ?3${until}`)}) AS ${TABLE}`;
}

/** The days ?2 to ?3 as a table, where the last day ends before this hour of the clock (1 to 23). */
export function daysUntil(untilHour = 0): string {
  const columns = [...KEYS, ...sumColumnsOf(TABLE)].join(', ');
  return `(SELECT ${columns} FROM rollup_daily WHERE application_id = ?1 AND day >= ?2 AND day < ?3
    UNION ALL SELECT ${columns} FROM (${unpackedHours(`${TABLE}.day = ?3 AND ${isBefore(untilHour)}`)})) AS ${TABLE}`;
}

const MAX_HOUR = 23;
const hourError = `must be an hour from 1 to ${MAX_HOUR}`;

/** Ends the last day of a report at an hour of the application's clock. */
export const until_hour = z.coerce
  .number({ error: hourError })
  .int(hourError)
  .min(1, hourError)
  .max(MAX_HOUR, hourError)
  .optional();

const NOT_BY_HOUR = ['country', 'os', 'app_version'] as const;

type Asked = { from: string; to: string; group_by: DimensionName[]; until_hour?: number | undefined };

/** Checks a query by hour for faults that its fields alone do not show. */
export function checkHours(query: Asked & ReportFilters, ctx: z.RefinementCtx): void {
  const { group_by: names, until_hour: untilHour } = query;
  const byHour = names.includes('hour');
  if (!byHour && untilHour === undefined) return;
  const what = byHour ? 'group_by=hour' : 'until_hour';
  if (rollupOf([...names, 'hour']) === undefined) {
    const message =
      'cannot be combined with this group_by: figures by hour are known by creative, ad set, campaign and currency';
    ctx.addIssue({ code: 'custom', path: ['until_hour'], message });
  }
  for (const name of NOT_BY_HOUR) {
    if (!query[name]?.length) continue;
    ctx.addIssue({ code: 'custom', path: [name], message: `cannot be combined with ${what}` });
  }
}

/** Whether figures by hour exist for these groupings and filters. */
export const isKnownByHour = (names: readonly DimensionName[], filters: ReportFilters): boolean =>
  rollupOf([...names, 'hour']) !== undefined && NOT_BY_HOUR.every((name) => filters[name] === undefined);

/** The first day for which figures by hour are kept. `today` is the application's. */
export const firstDayOfHours = (today: string): string => addDays(today, -HOURS_KEPT_DAYS);

/** Throws `invalid_request` if figures by hour are no longer kept for the days. */
export function checkHoursKept(
  { from, to, group_by, until_hour: untilHour }: Asked,
  application: Pick<Reported, 'timezone'>,
  now: number,
): void {
  const first = firstDayOfHours(dayIn(application.timezone, now));
  const fault = (path: string) => {
    const message = `must not be before ${first}: figures by hour are kept for ${HOURS_KEPT_DAYS} days`;
    return invalidRequest([{ path, message }]);
  };
  if (group_by.includes('hour') && from < first) throw fault('from');
  if (untilHour !== undefined && to < first) throw fault('to');
}
