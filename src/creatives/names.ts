import { mondayOf, weekOf } from '#lib/calendar';
import { daysBetween } from '#lib/time';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** The English weekday of a `YYYY-MM-DD` day, the name of an ad set if none is given. */
export const weekdayName = (day: string): string => WEEKDAYS[daysBetween(mondayOf(day), day)] ?? '';

/** `Week X` of a `YYYY-MM-DD` day with its ISO 8601 week number, the name of a campaign if none is given. */
export const weekName = (day: string): string => `Week ${Number(weekOf(day).slice(-2))}`;
