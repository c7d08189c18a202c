import { divideRounded, readDecimal } from './decimal.ts';

// Amounts are integer billionths of a currency unit ("nanos"): ad networks pay millionths for an impression and quote more places than six.

const PLACES = 9;

/**
 * The largest amount of one event, in currency units: its nanos fit into the 18 digits of a Parquet decimal. They are kept as a JavaScript number,
 * which has every billionth up to 9 million units, and 15 digits of larger amounts.
 */
export const MAX_AMOUNT = 999_999_999;

/** What the nanos of one event are below. */
export const NANOS_LIMIT = 10 ** (9 + PLACES);

const NANOS_PER_UNIT = 10 ** PLACES;
/** Whole numbers below it have at most 15 digits. No two decimals of so many digits read as the same number. */
const FEW_DIGITS = 1e15;

/**
 * An amount in currency units as integer billionths: the only rounding of an amount, halves away from zero. It rounds the shortest decimal that reads
 * as this number, which is what was sent, and not the binary fraction that stands for it.
 */
export function toNanos(amount: number): bigint {
  const nanos = Math.round(amount * NANOS_PER_UNIT);
  // Nothing is rounded if these nanos read as the amount. Nearly all amounts do, and their digits as text would take ten times as long.
  if (Math.abs(nanos) < FEW_DIGITS && nanos / NANOS_PER_UNIT === amount) return BigInt(nanos);
  const [digits = '', exponent] = amount.toExponential().split('e');
  const [whole = '', part = ''] = digits.split('.');
  const zeros = PLACES + Number(exponent) - part.length;
  const number = BigInt(whole + part);
  return zeros < 0 ? divideRounded(number, 10n ** BigInt(-zeros)) : number * 10n ** BigInt(zeros);
}

const MAX_WHOLE_DIGITS = 18;

/** Decimal text (see `readDecimal`) as integer billionths, rounded as `toNanos` does. Null for anything else, and from 10^18 on. */
export function nanosOf(text: string): bigint | null {
  const plain = readDecimal(text);
  if (plain === null) return null;
  const isNegative = plain.startsWith('-');
  const [whole = '', part = ''] = (isNegative ? plain.slice(1) : plain).split('.');
  if (whole.length > MAX_WHOLE_DIGITS) return null;
  const digits = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, '0'));
  const rounded = digits + (Number(part[PLACES] ?? 0) >= 5 ? 1n : 0n);
  return isNegative ? -rounded : rounded;
}

/** Integer nanos as decimal text in currency units, exact: `"12345678901234.567890123"`. */
function toDecimalText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(PLACES + 1, '0');
  return `${sign}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** The same without zeros at the end: `"4.99"`, `"5"`. */
export const toShortDecimal = (nanos: bigint): string => toDecimalText(nanos).replace(/\.?0+$/, '');

/** From this many nanos on, in either direction, a JSON number may be rounded. */
const EXACT_BELOW = 2n ** 53n;

const isExact = (nanos: bigint) => nanos < EXACT_BELOW && nanos > -EXACT_BELOW;

/** Integer nanos as the nearest JSON number in currency units; correctly rounded even beyond 2^53 nanos. */
export const fromNanos = (nanos: bigint): number =>
  // Dividing two exact numbers rounds once.
  isExact(nanos) ? Number(nanos) / NANOS_PER_UNIT : Number(toDecimalText(nanos));

export type WithExact<Name extends string, Value = number> = Record<Name, Value> &
  Partial<Record<`${Name}_exact`, string>>;

/** A response field: the nearest JSON number and, only if that may be rounded, the exact amount as text in `<name>_exact`. */
export function amountField<Name extends string>(name: Name, nanos: bigint): WithExact<Name> {
  const fields: Record<string, number | string> = { [name]: fromNanos(nanos) };
  if (!isExact(nanos)) fields[`${name}_exact`] = toDecimalText(nanos);
  return fields as WithExact<Name>;
}
