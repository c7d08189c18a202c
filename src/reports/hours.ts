import type * as z from 'zod';
import { HOURS_KEPT_DAYS, SEGMENT_DIMENSIONS } from '#catalogue';
import { invalidRequest, wholeNumber } from '#http';
import { addDays, dayIn } from '#lib/time';
import { type DimensionName, rollupOf } from './dimensions.ts';
import type { Reported, ReportFilters } from './query.ts';

// Figures by hour of the application's clock: what can be asked of them.

/** Ends the last day of a report at an hour of the application's clock. */
export const until_hour = wholeNumber(1, 23, 'an hour').optional();

type HoursRequest = { from: string; to: string; group_by: DimensionName[]; until_hour?: number | undefined };

/** Checks a query by hour for faults that its fields alone do not show. */
export function checkHours(query: HoursRequest & ReportFilters, ctx: z.RefinementCtx): void {
  const { group_by: names, until_hour: untilHour } = query;
  const byHour = names.includes('hour');
  if (!byHour && untilHour === undefined) return;
  const what = byHour ? 'group_by=hour' : 'until_hour';
  if (rollupOf([...names, 'hour']) === undefined) {
    const message =
      'cannot be combined with this group_by: figures by hour are known by creative, ad set, campaign and currency';
    ctx.addIssue({ code: 'custom', path: ['until_hour'], message });
  }
  for (const name of SEGMENT_DIMENSIONS) {
    if (!query[name]?.length) continue;
    ctx.addIssue({ code: 'custom', path: [name], message: `cannot be combined with ${what}` });
  }
}

/** Whether figures by hour exist for these groupings and filters. */
export const isKnownByHour = (names: readonly DimensionName[], filters: ReportFilters): boolean =>
  rollupOf([...names, 'hour']) !== undefined &&
  SEGMENT_DIMENSIONS.every((name) => filters[name] === undefined);

/** The first day for which figures by hour are kept. `today` is the application's. */
export const firstDayOfHours = (today: string): string => addDays(today, -HOURS_KEPT_DAYS);

/** Throws `invalid_request` if figures by hour are no longer kept for the days. */
export function checkHoursKept(
  { from, to, group_by, until_hour: untilHour }: HoursRequest,
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
