import { mondayOf, weekOf } from '#lib/calendar';
import { daysBetween } from '#lib/time';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** The English weekday of a `YYYY-MM-DD` day: what an ad set is called that was given no name. */
export const weekdayName = (day: string): string => WEEKDAYS[daysBetween(mondayOf(day), day)] ?? '';

/** `Week X` of a `YYYY-MM-DD` day, X the ISO 8601 week number: what a campaign is called that was given no name. */
export const weekName = (day: string): string => `Week ${Number(weekOf(day).slice(-2))}`;
