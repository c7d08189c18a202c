import { mondayOf } from '#lib/calendar';
import { NOTHING } from '#lib/format';
import { addDays, type DayRange, dayIn, formatterPerZone } from '#lib/time';

// Dates and times for people. Every page writes them the same way: the year only if it is not the current one, times in the application's zone.

const inUtc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const DAY = inUtc({ day: 'numeric', month: 'short' });
const WEEKDAY = inUtc({ weekday: 'short' });
const MONTH = inUtc({ month: 'short' });

const dateOf = (day: string) => new Date(`${day}T00:00:00Z`);
const yearOf = (day: string) => day.slice(0, 4);

/** The year of a day, with a space before it; empty for that of `today`. */
const otherYear = (day: string, today: string) => (yearOf(day) === yearOf(today) ? '' : ` ${yearOf(day)}`);

/** A day without its year: `20 Nov`. */
export const shortDay = (day: string): string => DAY.format(dateOf(day));

/** The same with its weekday: `Fri 20 Nov`. */
export const shortWeekday = (day: string): string => `${WEEKDAY.format(dateOf(day))} ${shortDay(day)}`;

/** A day: `Fri 20 Nov`. */
export const dayText = (day: string, today: string): string => shortWeekday(day) + otherYear(day, today);

/** A day without its weekday: `20 Nov`. */
export const dateText = (day: string, today: string): string => shortDay(day) + otherYear(day, today);

/** The days in a sentence, which has them as `2026-11-20`, as days: `from Fri 20 Nov to Sun 22 Nov`. */
export const withDays = (sentence: string, today: string): string =>
  sentence.replaceAll(/\b\d{4}-\d{2}-\d{2}\b/g, (day) => dayText(day, today));

/** A month of a day: `Nov 2026`. */
export const monthText = (day: string): string => `${MONTH.format(dateOf(day))} ${yearOf(day)}`;

/** The Monday of a week of reports, such as `2026-W47`. */
export function mondayOfWeek(week: string): string {
  const [year = '', number = ''] = week.split('-W');
  return addDays(mondayOf(`${year}-01-04`), 7 * (Number(number) - 1));
}

/** What reports call an hour (`2026-11-01T01:00:00-04:00`), day, week or month. That of today has its figures so far, and says so. */
export function placeText(unit: string, key: string, today: string): string {
  if (unit === 'hour') return `${dayText(key.slice(0, 10), today)}, ${key.slice(11, 16)}`;
  if (unit === 'week') {
    const monday = mondayOfWeek(key);
    return `Week of ${dateText(monday, today)}${soFar(monday === mondayOf(today))}`;
  }
  if (unit === 'month') return monthText(`${key}-01`) + soFar(today.startsWith(key));
  return dayText(key, today) + soFar(key === today);
}

const soFar = (isOfToday: boolean) => (isOfToday ? ', so far' : '');

/** A range of days, with the year if it is not the current one: `25 Oct – 20 Nov`. A single day has its weekday. */
export function shortDays({ from, to }: DayRange, today: string): string {
  const isThisYear = yearOf(from) === yearOf(today) && yearOf(to) === yearOf(today);
  const year = isThisYear ? '' : ` ${yearOf(to)}`;
  const first = yearOf(from) === yearOf(to) ? shortDay(from) : `${shortDay(from)} ${yearOf(from)}`;
  return from === to ? `${shortWeekday(from)}${year}` : `${first} – ${shortDay(to)}${year}`;
}

const minutes = formatterPerZone('en-GB', { hour: '2-digit', minute: '2-digit' });
const seconds = formatterPerZone('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A time (epoch milliseconds) of the clock in a zone: `09:00`. */
export const clockText = (at: number, timezone: string): string => minutes(timezone).format(at);

/** The date of a time (epoch milliseconds) in a zone: `20 Nov`. */
export const dateOfTime = (at: number, timezone: string): string =>
  dateText(dayIn(timezone, at), dayIn(timezone, Date.now()));

/** A time (epoch milliseconds) in a zone: `20 Nov, 09:00`. */
export const timeText = (at: number, timezone: string): string =>
  `${dateOfTime(at, timezone)}, ${clockText(at, timezone)}`;

/** The same to the second: `20 Nov, 09:00:12`. */
export const exactTimeText = (at: number, timezone: string): string =>
  `${dateOfTime(at, timezone)}, ${seconds(timezone).format(at)}`;

/** A time of the team API, in ISO 8601, as `timeText` writes it. */
export const isoTimeText = (time: string | null, timezone: string): string =>
  time === null ? NOTHING : timeText(Date.parse(time), timezone);
