import { addDays, dayNumber, daysBetween } from './time.ts';

/** Monday of the week of a `YYYY-MM-DD` day. 1970-01-01 was a Thursday. */
export function mondayOf(day: string): string {
  return addDays(day, -((((dayNumber(day) + 3) % 7) + 7) % 7));
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** The English name of a day's weekday. */
export const weekdayOf = (day: string): string => WEEKDAYS[daysBetween(mondayOf(day), day)] ?? '';

/** The ISO 8601 week of a day, as `2026-W47`. A week belongs to the year of its Thursday. */
export function weekOf(day: string): string {
  const year = addDays(mondayOf(day), 3).slice(0, 4);
  const week = daysBetween(mondayOf(`${year}-01-04`), mondayOf(day)) / 7 + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** The month of a day, as `2026-11`. */
export const monthOf = (day: string): string => day.slice(0, 7);

export const firstOfMonth = (day: string): string => `${monthOf(day)}-01`;
export const endOfMonth = (day: string): string => addDays(firstOfMonth(addDays(firstOfMonth(day), 31)), -1);

/** Every day from `from` to `to`, both included; empty if `to` is earlier. */
export function daysOf(from: string, to: string): string[] {
  return Array.from({ length: Math.max(0, daysBetween(from, to) + 1) }, (_, index) => addDays(from, index));
}

export type Part = 'day' | 'week' | 'month' | 'all';

/** The label of the day, week or month that a day falls in; empty for all days together. */
export const PART_OF: Record<Part, (day: string) => string> = {
  day: (day) => day,
  week: weekOf,
  month: monthOf,
  all: () => '',
};
