/** The largest amount one event may carry, in units of its currency: a million of them still fit 64 bits of micros. */
export const MAX_AMOUNT = 1_000_000_000;

/** An amount in currency units as integer millionths, rounded to the nearest. Exact up to `MAX_AMOUNT`. */
export function toMicros(amount: number): number {
  return Math.round(amount * 1e6);
}

/** Integer micros as the nearest JSON number of currency units; correct also where the micros exceed 2^53. */
export function fromMicros(micros: bigint): number {
  const sign = micros < 0n ? '-' : '';
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0');
  return Number(`${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`);
}
