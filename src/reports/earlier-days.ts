import { addDays, type DayRange, daysBetween } from '#lib/time';

/** The earlier days that a period can be compared with. */
export const COMPARISONS = ['previous', 'weekdays', 'year'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** The same day a year earlier; 29 February becomes 28 February. */
function yearBefore(day: string): string {
  const year = String(Number(day.slice(0, 4)) - 1).padStart(4, '0');
  return day.endsWith('-02-29') ? `${year}-02-28` : `${year}${day.slice(4)}`;
}

const WEEK = 7;

/**
 * The days that a period is compared with: as many days just before it, the latest days before it with the same weekdays, or the same dates a year
 * earlier.
 */
export function earlierDays({ from, to }: DayRange, comparison: Comparison): DayRange {
  if (comparison === 'year') return { from: yearBefore(from), to: yearBefore(to) };
  const days = daysBetween(from, to) + 1;
  const apart = comparison === 'weekdays' ? Math.ceil(days / WEEK) * WEEK : days;
  return { from: addDays(from, -apart), to: addDays(to, -apart) };
}
