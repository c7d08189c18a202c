/** The largest amount of one event, in currency units. Its micros are still exact as a JavaScript number. */
export const MAX_AMOUNT = 1_000_000_000;

/** An amount in currency units as integer millionths, rounded to the nearest. Exact up to `MAX_AMOUNT`. */
export function toMicros(amount: number): number {
  return Math.round(amount * 1e6);
}

/** Integer micros as decimal text in currency units, exact: `"12345678901234.567890"`. */
function toDecimalText(micros: bigint): string {
  const sign = micros < 0n ? '-' : '';
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** From this many micros on, in either direction, a JSON number may be rounded. */
const EXACT_BELOW = 2n ** 53n;

const isExact = (micros: bigint) => micros < EXACT_BELOW && micros > -EXACT_BELOW;

/** Integer micros as the nearest JSON number in currency units; correctly rounded even beyond 2^53 micros. */
export const fromMicros = (micros: bigint): number =>
  // Dividing two exact numbers rounds once.
  isExact(micros) ? Number(micros) / 1e6 : Number(toDecimalText(micros));

export type WithExact<Name extends string, Value = number> = Record<Name, Value> &
  Partial<Record<`${Name}_exact`, string>>;

/** A response field: the nearest JSON number and, only if that may be rounded, the exact amount as text in `<name>_exact`. */
export function amountField<Name extends string>(name: Name, micros: bigint): WithExact<Name> {
  const fields: Record<string, number | string> = { [name]: fromMicros(micros) };
  if (!isExact(micros)) fields[`${name}_exact`] = toDecimalText(micros);
  return fields as WithExact<Name>;
}
