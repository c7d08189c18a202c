import { type Fault, requiredText } from './input/fields.ts';
import { DAY_MS } from './time.ts';

/** Before this, a time is that of a clock that was not set, unless it is imported. Epoch milliseconds. */
export const EARLIEST = Date.UTC(2010, 0, 1);
/** Other calendars are in other years: 1448 (Hijri), 1405 (Persian), 2569 (Buddhist), 115 (Minguo) or 8 (Reiwa). */
const GREGORIAN_YEARS = { first: 1900, last: 2400 };

/** When something happened, according to its sender. */
export type SentTime = {
  /** Epoch milliseconds. Null if it cannot be meant: the sender's calendar is not Gregorian, or its clock is not set. */
  at: number | null;
  /** Whether the clock is not set: the time is before 2010. */
  isUnset?: true;
  /** The UTC day as sent, in days since 1970. It is the same for every retry of an event, whatever the calendar. */
  day: number;
};

const PRINTABLE_ASCII = /^[ -~]*$/;
const INVISIBLE = /[\u200e\u200f\u061c]/g;
const DIGIT = /\p{Nd}/gu;
const SEPARATED =
  /^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,2})([T\s]+)(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,:](\d{1,9}))?)?\s*(Z|([+-])(\d{2}):?(\d{2})?)?$/i;
const LONE_DAY = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,2}$/;

const NOT_A_TIME = 'must be a real time, as YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601';
const NO_ZONE = 'has no time zone: add Z for UTC, or an offset such as +02:00';
const NO_CLOCK = 'has no time of day: send YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601';
const NO_SUCH_DAY = 'is a date that does not exist';

const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCodePoint(code));

/** Converts decimal digits of any script to ASCII. Source: Unicode, "Decimal Number (Nd)": each script has a run of ten, 0 to 9. */
export function toAsciiDigits(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text.replace(DIGIT, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    if (code < 0x80) return digit;
    let first = code;
    while (isDigit(first - 1)) first--;
    return String((code - first) % 10);
  });
}

/**
 * Reads `YYYY-MM-DD HH:MM:SS` (UTC) and ISO 8601 with `Z` or an offset, both also without seconds. Some devices send the separators and
 * digits of their locale, so these are accepted too. Anything else is a fault: other formats, and times that do not exist, such as
 * February 30th or 24:00:00.
 */
export function readTimestamp(text: string): SentTime | { fault: string } {
  const plain = (PRINTABLE_ASCII.test(text) ? text : toAsciiDigits(text.replace(INVISIBLE, ''))).trim();
  const match = SEPARATED.exec(plain);
  if (!match) return { fault: LONE_DAY.test(plain) ? NO_CLOCK : NOT_A_TIME };
  const [year, month, date] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [hour, minute, second] = [Number(match[5]), Number(match[6]), Number(match[7] ?? 0)];
  const [separator = '', fraction, zone, sign] = [match[4], match[8], match[9], match[10]];
  if (hour > 23 || minute > 59 || second > 59) return { fault: NOT_A_TIME };
  // A local time without a zone is ambiguous.
  if (zone === undefined && /T/i.test(separator)) return { fault: NO_ZONE };
  const offsetMinutes = (Number(match[11] ?? 0) * 60 + Number(match[12] ?? 0)) * (sign === '-' ? -1 : 1);
  if (Math.abs(offsetMinutes) > 14 * 60) return { fault: NOT_A_TIME };
  const { first, last } = GREGORIAN_YEARS;
  if (year < first || year > last) {
    if (month < 1 || month > 13 || date < 1 || date > 32) return { fault: NO_SUCH_DAY };
    return { at: null, day: dayOfUnknown(year, month, date) };
  }
  const millis = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000);
  const local = Date.UTC(year, month - 1, date, hour, minute, second, millis);
  // `Date` rolls a day that does not exist over to one that does.
  const read = new Date(local);
  if (read.getUTCMonth() !== month - 1 || read.getUTCDate() !== date) return { fault: NO_SUCH_DAY };
  const at = local - offsetMinutes * 60_000;
  return { at, day: Math.floor(at / DAY_MS) };
}

/** Epoch milliseconds of a time in seconds or milliseconds since 1970, or as `readTimestamp` reads it. Null for anything else. */
export function readEpochOrText(text: string): number | null {
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{13}$/.test(text)) return Number(text);
  const sent = readTimestamp(text);
  return 'fault' in sent ? null : sent.at;
}

/** A day that is like no real one, of a calendar or clock that is not ours. The same for every retry. */
const dayOfUnknown = (year: number, month: number, date: number) => year * 400 + month * 32 + date;

/** A time as its sender's clock tells it: null if that was not set. */
function fromClock(sent: SentTime): SentTime {
  if (sent.at === null || sent.at >= EARLIEST) return sent;
  const date = new Date(sent.at);
  const day = dayOfUnknown(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
  return { at: null, day, isUnset: true };
}

/** A `created_at`. */
export const timestamp = () =>
  requiredText(128).transform((text, ctx): SentTime => {
    const sent = readTimestamp(text);
    if (!('fault' in sent)) return fromClock(sent);
    ctx.issues.push({ code: 'custom', message: sent.fault, input: text });
    return { at: null, day: 0 };
  });

/** Why a time cannot be imported, which is never dated when received; null if it can. */
export const importFault = ({ isUnset }: SentTime): Fault | null =>
  isUnset ? { path: 'created_at', message: 'must not be before 2010-01-01' } : null;

/** The time that an event counts for: never later than `now`, and `now` if the sender's calendar is unknown or its clock not set. */
export function toOccurredAt(sent: SentTime, now: number): { occurredAt: number; clockAhead: boolean } {
  const clockAhead = sent.at === null || sent.at > now;
  return { occurredAt: clockAhead ? now : (sent.at ?? now), clockAhead };
}

/** What to tell a sender whose time `toOccurredAt` replaced. */
export function timeWarnings({ at, isUnset }: SentTime, now: number): Fault[] {
  if (at !== null && at <= now) return [];
  const reason = isUnset
    ? 'is before 2010, as of a clock that is not set'
    : at === null
      ? 'has a year that cannot be meant'
      : 'is in the future';
  return [{ path: 'created_at', message: `${reason}; dated when received` }];
}
