// Formats numbers for people. Null means that a figure does not exist; it is never shown as 0.

import { memoize } from './collections/memoize.ts';
import { formatterPerZone } from './time.ts';

export const NOTHING = '–';

/** The true minus sign, as wide as a plus. */
const MINUS = '−';

/** The sign of a change, before its size; empty for none. */
export const signOf = (value: number): string => (value > 0 ? '+' : value < 0 ? MINUS : '');

const MAX_FORMATTERS = 1_000;
const formatterOf = memoize(MAX_FORMATTERS, (options: string) => {
  const format = new Intl.NumberFormat('en', { signDisplay: 'negative', ...JSON.parse(options) });
  return {
    format: (value: number) => format.format(value).replace('-', MINUS),
    places: format.resolvedOptions().maximumFractionDigits ?? 0,
  };
});
const formatter = (options: Intl.NumberFormatOptions) => formatterOf(JSON.stringify(options));

type OptionalNumber = number | null | undefined;

const upTo = (places: number) => ({ maximumFractionDigits: places });
const exactly = (places: number) => ({ minimumFractionDigits: places, maximumFractionDigits: places });
const largest = (values: readonly number[]): number => Math.max(0, ...values.map(Math.abs));

/** A number; with as many decimals as its column has, or else one for fractions. */
export function count(value: OptionalNumber, places?: number): string {
  if (value === null || value === undefined) return NOTHING;
  const own = upTo(Number.isInteger(value) ? 0 : 1);
  return formatter(places === undefined ? own : exactly(places)).format(value);
}

/** From here on, a fraction does not matter. */
const LARGE_COUNT = 1_000;

/** The decimals of a column of numbers. */
const placesOfCounts = (values: readonly number[]): number =>
  largest(values) < LARGE_COUNT && values.some((value) => !Number.isInteger(value)) ? 1 : 0;

/** Amounts below this keep three significant digits, because an impression earns a fraction of a cent. */
const SMALL_AMOUNT = 0.1;

const placesOfSmall = (size: number) =>
  size > 0 && size < SMALL_AMOUNT ? Math.min(8, 2 - Math.floor(Math.log10(size))) : 2;

const inCurrency = (currency: string, digits: Intl.NumberFormatOptions = {}) =>
  formatter({
    style: 'currency',
    currency: currency.toUpperCase(),
    currencyDisplay: 'narrowSymbol',
    ...digits,
  });

/** An amount in a currency; with as many decimals as its column has. What these would show as zero is below the smallest amount. */
export function money(value: OptionalNumber, currency: string, places?: number): string {
  if (value === null || value === undefined) return NOTHING;
  const size = Math.abs(value);
  if (places === undefined) {
    const isSmall = size > 0 && size < 1;
    const own = isSmall ? { minimumFractionDigits: 2, ...upTo(placesOfSmall(size)) } : {};
    return inCurrency(currency, own).format(value);
  }
  const smallest = 10 ** -places;
  const shown = inCurrency(currency, exactly(places));
  return value > 0 && size < smallest / 2 ? `<${shown.format(smallest)}` : shown.format(value);
}

/** The decimals of a column of amounts: those of its largest, and one more for fractions of cents if there are no whole amounts. */
function placesOfAmounts(values: readonly number[], currency: string): number {
  const size = largest(values);
  const hasFractions = values.some((value) => Math.round(value * 1000) % 10 !== 0);
  if (size > 0 && size < 1) return Math.max(placesOfSmall(size), hasFractions ? 3 : 2);
  return inCurrency(currency).places;
}

/** From here on, a percentage has no decimals. */
const LARGE_RATIO = 2;

/** A ratio in percent; with as many decimals as its column has, or else at most one. */
export function percent(value: OptionalNumber, places?: number): string {
  if (value === null || value === undefined) return NOTHING;
  const own = upTo(Math.abs(value) < LARGE_RATIO ? 1 : 0);
  return formatter({ style: 'percent', ...(places === undefined ? own : exactly(places)) }).format(value);
}

/** The decimals of a column of ratios: those of its largest, none if all are whole percentages. */
const placesOfRatios = (values: readonly number[]): number =>
  largest(values) < LARGE_RATIO && values.some((value) => Math.round(value * 1000) % 10 !== 0) ? 1 : 0;

/** How figures of one kind are written: `places` are the decimals that all figures of a column need, and `text` writes one of them. */
export type FigureFormat = {
  text: (value: number | null, places?: number) => string;
  places: (values: readonly number[]) => number;
};

export const NUMBERS: FigureFormat = { text: count, places: placesOfCounts };
export const RATIOS: FigureFormat = { text: percent, places: placesOfRatios };
export const amountsIn = (currency: string): FigureFormat => ({
  text: (value, places) => money(value, currency, places),
  places: (values) => placesOfAmounts(values, currency),
});

/** Writes the figures of a column, with the same decimals. */
export function columnText<Row>(
  { text, places }: FigureFormat,
  rows: readonly Row[],
  figureOf: (row: Row) => number | null | undefined,
): (row: Row) => string {
  const decimals = places(rows.flatMap((row) => figureOf(row) ?? []));
  return (row) => text(figureOf(row) ?? null, decimals);
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

/** A span of time (milliseconds) in the largest unit that fits: `3 minutes`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    const number = Math.floor(seconds / length);
    if (number >= 1) return `${number} ${unit}${number === 1 ? '' : 's'}`;
  }
  return `${seconds} s`;
}

/** How long ago a time is, in the largest unit that fits. */
export const ago = (at: number, now: number): string => `${span(now - at)} ago`;

/** A text as the start of a line. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
