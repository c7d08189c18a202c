// Formats numbers for people. Null means that a figure does not exist; it is never shown as 0.

import { memoize } from './memoize.ts';
import { formatterPerZone } from './time.ts';

export const NOTHING = '–';

const MAX_FORMATTERS = 1_000;
const formatterOf = memoize(
  MAX_FORMATTERS,
  (options: string) => new Intl.NumberFormat('en', JSON.parse(options)),
);
const formatter = (options: Intl.NumberFormatOptions) => formatterOf(JSON.stringify(options));

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  return formatter({ maximumFractionDigits: Number.isInteger(value) ? 0 : 1 }).format(value);
}

/** Amounts below this keep three significant digits, because an impression earns a fraction of a cent. */
const SMALL_AMOUNT = 0.1;

/** An amount in a currency. */
export function money(value: number | null | undefined, currency: string): string {
  if (value === null || value === undefined) return NOTHING;
  const size = Math.abs(value);
  const places = size > 0 && size < SMALL_AMOUNT ? Math.min(8, 2 - Math.floor(Math.log10(size))) : 2;
  const digits = size > 0 && size < 1 ? { minimumFractionDigits: 2, maximumFractionDigits: places } : {};
  const code = currency.toUpperCase();
  return formatter({ style: 'currency', currency: code, currencyDisplay: 'narrowSymbol', ...digits }).format(
    value,
  );
}

export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  return formatter({ style: 'percent', maximumFractionDigits: Math.abs(value) < 2 ? 1 : 0 }).format(value);
}

/** A duration in its two largest units. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return NOTHING;
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const first = units.findIndex(([, length]) => seconds >= length);
  let rest = Math.round(seconds);
  const parts = units.slice(first < 0 ? 3 : first, (first < 0 ? 3 : first) + 2).flatMap(([unit, length]) => {
    const number = Math.floor(rest / length);
    rest -= number * length;
    return number > 0 ? [`${number} ${unit}`] : [];
  });
  return parts.length > 0 ? parts.join(' ') : '0 s';
}

const momentFormatter = formatterPerZone('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

/** A time (epoch milliseconds) to the second in a time zone: `2026-11-20 09:00:00`. */
export const moment = (at: number, timezone: string): string => momentFormatter(timezone).format(at);

/** How long ago a time is, in the largest unit that fits. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    const number = Math.floor(seconds / length);
    if (number >= 1) return `${number} ${unit}${number === 1 ? '' : 's'} ago`;
  }
  return `${seconds} s ago`;
}
