/** Milliseconds of a day without a daylight-saving change. */
export const DAY_MS = 86_400_000;

/** An instant (epoch milliseconds) as ISO 8601 in UTC. */
export const iso = (at: number): string => new Date(at).toISOString();

const formatters = new Map<string, Intl.DateTimeFormat>();

// Constructing a formatter costs some 80 times more than using it.
function dayFormatter(timezone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timezone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      calendar: 'iso8601',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formatters.set(timezone, formatter);
  }
  return formatter;
}

/** The calendar day (`YYYY-MM-DD`) of an instant (epoch milliseconds) in an IANA time zone. */
export function dayIn(timezone: string, at: number): string {
  return timezone === 'UTC' ? new Date(at).toISOString().slice(0, 10) : dayFormatter(timezone).format(at);
}

const MAX_ZONE_NAMES = 2_000;
const zones = new Map<string, string | null>();

/** The canonical name of a zone; null for a name that is none. */
function zoneOf(name: string): string | null {
  let zone = zones.get(name);
  if (zone === undefined) {
    // Only a formatter tells, and it costs more to construct than all else that is done with a device's zone.
    if (zones.size >= MAX_ZONE_NAMES) zones.clear();
    zone = readZone(name);
    zones.set(name, zone);
  }
  return zone;
}

function readZone(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** Whether this is an IANA name that the runtime knows. Bare offsets such as `+05:30` are refused: they have no daylight saving. */
export const isTimezone = (name: string): boolean => zoneOf(name) !== null;

/** One name for all the names of a zone (`Asia/Calcutta` and `Asia/Kolkata` are one); the name itself where it is unknown. */
export const canonicalTimezone = (name: string): string => zoneOf(name) ?? name;

const MAX_DAY_NUMBERS = 10_000;
const dayNumbers = new Map<string, number>();

/** Days since 1970-01-01 of a `YYYY-MM-DD` day; NaN of what is no day. */
export function dayNumber(day: string): number {
  let number = dayNumbers.get(day);
  if (number === undefined) {
    // Parsing takes ten times as long, and most events are of a few days.
    if (dayNumbers.size >= MAX_DAY_NUMBERS) dayNumbers.clear();
    number = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
    dayNumbers.set(day, number);
  }
  return number;
}

export function dayFromNumber(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

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
