import { memoize } from './collections/memoize.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
/** Milliseconds in a day without a daylight-saving change. */
export const DAY_MS = 86_400_000;

/** Inclusive days. */
export type DayRange = { from: string; to: string };

/** An instant (epoch milliseconds) as ISO 8601 in UTC. */
export const iso = (at: number): string => new Date(at).toISOString();
/** `iso`; null stays null. */
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** The earliest of some times; null if there are none. */
export function earliest(...times: readonly (number | null | undefined)[]): number | null {
  const known = times.filter((at) => at != null);
  return known.length === 0 ? null : Math.min(...known);
}

const MAX_ZONES = 2_000;

/** Makes formatters in a locale's style, one per time zone. Constructing one costs about 80 times as much as using it. */
export const formatterPerZone = (locale: string, options: Intl.DateTimeFormatOptions) =>
  memoize(MAX_ZONES, (timeZone: string) => new Intl.DateTimeFormat(locale, { timeZone, ...options }));

const dayFormatter = formatterPerZone('en-CA', {
  calendar: 'iso8601',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

// Swedish dates have the format of ISO 8601.
const clockFormatter = formatterPerZone('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

/** Until then, St. John's changed its clocks one minute past midnight. Since then, all clocks have changed at a quarter of an hour. */
const CHANGES_AT_QUARTERS_SINCE = Date.UTC(2012, 0, 1);

/** The calendar day (`YYYY-MM-DD`) of an instant (epoch milliseconds) in an IANA time zone. */
export function dayIn(timezone: string, at: number): string {
  if (timezone !== 'UTC' && at < CHANGES_AT_QUARTERS_SINCE) return dayFormatter(timezone).format(at);
  return dayFromNumber(Math.floor((at + zoneOffset(timezone, at) * 60_000) / DAY_MS));
}

const QUARTER_MS = 900_000;
const MAX_OFFSETS = 10_000;

// Remembered per quarter of an hour, when clocks may change. Most events fall into a few of these, and formatting takes 30 times as long.
const offsetsOf = memoize(MAX_ZONES, (timezone: string) =>
  memoize(MAX_OFFSETS, (quarter: number) => {
    const start = quarter * QUARTER_MS;
    return (Date.parse(`${clockFormatter(timezone).format(start).replace(' ', 'T')}Z`) - start) / 60_000;
  }),
);

/**
 * The number of minutes by which an IANA time zone is ahead of UTC at an instant (epoch milliseconds). Exact to the minute since 2012.
 */
export const zoneOffset = (timezone: string, at: number): number =>
  timezone === 'UTC' ? 0 : offsetsOf(timezone)(Math.floor(at / QUARTER_MS));

/** The fields of an event that tell when it happened and arrived (epoch milliseconds), for an application in an IANA time zone. */
export function eventTimes(timezone: string, occurredAt: number, receivedAt: number) {
  const offset = zoneOffset(timezone, occurredAt);
  return {
    day: dayIn(timezone, occurredAt),
    occurred_at: occurredAt,
    received_at: receivedAt,
    ...(offset === 0 ? {} : { zone_offset: offset }),
  };
}

/** The hour of the clock at an instant (epoch milliseconds) in an IANA time zone, 0 to 23. */
export function clockHour(timezone: string, at: number): number {
  return new Date(at + zoneOffset(timezone, at) * 60_000).getUTCHours();
}

const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0');

/** An hour of a day's clock, 0 to 23, with its offset from UTC in minutes, as ISO 8601: `2026-11-01T01:00:00-04:00`. */
export function hourText(day: string, hour: number, offset: number): string {
  const [sign, size] = offset < 0 ? ['-', -offset] : ['+', offset];
  return `${day}T${twoDigits(hour)}:00:00${sign}${twoDigits(size / 60)}:${twoDigits(size % 60)}`;
}

/** The hour of the clock at an instant, in the form of `hourText`. */
export const hourIn = (timezone: string, at: number): string =>
  hourText(dayIn(timezone, at), clockHour(timezone, at), zoneOffset(timezone, at));

/** Every hour of the clock on a day, in order: 24, or one more or fewer if clocks change. */
export function hoursOf(timezone: string, day: string): string[] {
  const hours = new Set<string>();
  // No time zone is further from UTC than this.
  const margin = 15 * 4 * QUARTER_MS;
  const midnight = dayNumber(day) * DAY_MS;
  for (let at = midnight - margin; at < midnight + DAY_MS + margin; at += QUARTER_MS) {
    const hour = hourIn(timezone, at);
    if (hour.startsWith(day)) hours.add(hour);
  }
  return [...hours];
}

/** The canonical name of a zone; null if the name is unknown. Only a formatter knows, and constructing one is slow. */
const zoneOf = memoize(MAX_ZONES, (name: string): string | null => {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
});

/** Whether the runtime knows this IANA name. Bare offsets such as `+05:30` are refused, because they have no daylight saving. */
export const isTimezone = (name: string): boolean => zoneOf(name) !== null;

/** Maps every alias of a zone to one name (`Asia/Calcutta` and `Asia/Kolkata`). Unknown names are returned unchanged. */
export const canonicalTimezone = (name: string): string => zoneOf(name) ?? name;

// Most events fall on a few days, and parsing or writing one takes ten times as long as looking it up.
const MAX_DAYS = 10_000;

/** Days since 1970-01-01 of a `YYYY-MM-DD` day; NaN for anything else. */
export const dayNumber = memoize(MAX_DAYS, (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS);

/** The `YYYY-MM-DD` day of a day number. Throws a `RangeError` if it has none. */
export const dayFromNumber = memoize(MAX_DAYS, (number: number): string =>
  new Date(number * DAY_MS).toISOString().slice(0, 10),
);

/** Calendar days from `start` to `end`; negative when `end` is earlier. */
export function daysBetween(start: string, end: string): number {
  return dayNumber(end) - dayNumber(start);
}

export function addDays(day: string, days: number): string {
  return dayFromNumber(dayNumber(day) + days);
}

/** A real calendar day written `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(text) &&
    !Number.isNaN(dayNumber(text)) &&
    dayFromNumber(dayNumber(text)) === text
  );
}
