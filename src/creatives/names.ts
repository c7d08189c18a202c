import { addDays, dayNumber } from '#lib/time';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** 0 is Monday. 1970-01-01 was a Thursday. */
const weekdayOf = (day: string) => (((dayNumber(day) + 3) % 7) + 7) % 7;

/** The English weekday of a `YYYY-MM-DD` day: what an ad set is called that was given no name. */
export function weekdayName(day: string): string {
  return WEEKDAYS[weekdayOf(day)] ?? '';
}

/**
 * `Week X` of a `YYYY-MM-DD` day, X the ISO 8601 week number: what a campaign is called that was given no name.
 * A week is of the year that its Thursday lies in, so the days around New Year may be of week 52, 53 or 1.
 */
export function weekName(day: string): string {
  const thursday = addDays(day, 3 - weekdayOf(day));
  const dayOfYear = dayNumber(thursday) - dayNumber(`${thursday.slice(0, 4)}-01-01`);
  return `Week ${Math.floor(dayOfYear / 7) + 1}`;
}
