import { NANOS_PER_HIGH } from '#rollup';

// Converted amounts are added up exactly, in units of 10^-36 nanos. With BigInts, every multiplication and addition makes an object, which
// took half of the time of a report. A sum is therefore kept as digits of 20 bits, each in a floating-point number that has room for many
// products of two such digits. It becomes a BigInt when it is read.

/** The value of one nano of a currency, in units of 10^-36 nanos, so that converted sums are rounded only once, at the end. */
export type ScaledRate = bigint;
export const RATE_SCALE = 10n ** 36n;

const DIGIT = 2 ** 20;
const DIGIT_BITS = 20n;
/** Seven digits hold rates up to 1.3 million. */
const RATE_DIGITS = 7;
/** The product of an amount of three digits and a rate. */
const SUM_DIGITS = RATE_DIGITS + 2;
/**
 * An addition adds less than 3 × 2^40 to a digit: the products of three digits of the rate with those of the amount. So 2^11 of them fit into 53
 * bits.
 */
const MAX_ADDITIONS = 2 ** 11;

const EXACT_HIGH = BigInt(NANOS_PER_HIGH);

/** An amount in nanos, from its two parts. */
export const nanosOf = (low: number, high: number): bigint =>
  high === 0 ? (low === 0 ? 0n : BigInt(low)) : BigInt(high) * EXACT_HIGH + BigInt(low);

/** Rates by number, with the digits that amounts are multiplied by. */
export class RateDigits {
  private readonly rates: ScaledRate[] = [];
  private digits = new Float64Array(16 * RATE_DIGITS);
  private readonly isLong: boolean[] = [];

  /** Adds a rate above 0 and returns its number. */
  add(rate: ScaledRate): number {
    const number = this.rates.push(rate) - 1;
    if (this.rates.length * RATE_DIGITS > this.digits.length) {
      const larger = new Float64Array(this.digits.length * 2);
      larger.set(this.digits);
      this.digits = larger;
    }
    let rest = rate;
    for (let digit = 0; digit < RATE_DIGITS; digit++) {
      this.digits[number * RATE_DIGITS + digit] = Number(BigInt.asUintN(Number(DIGIT_BITS), rest));
      rest >>= DIGIT_BITS;
    }
    this.isLong.push(rest > 0n);
    return number;
  }

  of(number: number): ScaledRate {
    return this.rates[number] ?? 0n;
  }

  /** The digits of a rate, lowest first, start at `number * RATE_DIGITS`; null for a rate that has more than `RATE_DIGITS`. */
  digitsOf(number: number): Float64Array | null {
    return this.isLong[number] ? null : this.digits;
  }
}

/** Exact sums of converted amounts by group, in units of 10^-36 nanos. */
export class ConvertedSums {
  /** By group: the digits of its sum, lowest first. They are not carried. */
  private digits = new Float64Array(0);
  /** By group: how many amounts its digits contain. */
  private additions = new Uint16Array(0);
  /** By group: what is not in its digits; missing if 0. */
  private readonly whole: bigint[] = [];

  /** Adds an amount in two parts. */
  add(group: number, low: number, high: number, rates: RateDigits, rate: number): void {
    const nanos = high * NANOS_PER_HIGH + low;
    // Beyond 2^53, the sum of the two parts may be rounded.
    const factors = nanos >= 0 && nanos <= Number.MAX_SAFE_INTEGER ? rates.digitsOf(rate) : null;
    if (!factors) {
      this.addWhole(group, nanosOf(low, high) * rates.of(rate));
      return;
    }
    if (group >= this.additions.length) this.grow(group);
    const above = Math.floor(nanos / DIGIT);
    const lower = nanos - above * DIGIT;
    const upper = Math.floor(above / DIGIT);
    const middle = above - upper * DIGIT;
    const { digits } = this;
    let at = group * SUM_DIGITS;
    let [before, twoBefore] = [0, 0];
    const first = rate * RATE_DIGITS;
    for (let place = first; place < first + RATE_DIGITS; place++, at++) {
      const factor = factors[place] ?? 0;
      digits[at] = (digits[at] ?? 0) + lower * factor + middle * before + upper * twoBefore;
      twoBefore = before;
      before = factor;
    }
    digits[at] = (digits[at] ?? 0) + middle * before + upper * twoBefore;
    digits[at + 1] = (digits[at + 1] ?? 0) + upper * before;
    const additions = (this.additions[group] ?? 0) + 1;
    this.additions[group] = additions;
    if (additions === MAX_ADDITIONS) this.empty(group);
  }

  /** Adds a sum, in units of 10^-36 nanos. */
  addWhole(group: number, parts: bigint): void {
    this.whole[group] = (this.whole[group] ?? 0n) + parts;
  }

  /** The sum of a group; undefined if nothing was added to it. */
  of(group: number): bigint | undefined {
    if (!this.additions[group]) return this.whole[group];
    let sum = 0n;
    for (let place = SUM_DIGITS - 1; place >= 0; place--) {
      sum = (sum << DIGIT_BITS) + BigInt(this.digits[group * SUM_DIGITS + place] ?? 0);
    }
    return sum + (this.whole[group] ?? 0n);
  }

  /** Moves a group's sum out of its digits. */
  private empty(group: number): void {
    this.whole[group] = this.of(group) ?? 0n;
    this.digits.fill(0, group * SUM_DIGITS, (group + 1) * SUM_DIGITS);
    this.additions[group] = 0;
  }

  private grow(group: number): void {
    const size = Math.max(64, group + 1, this.additions.length * 2);
    const [digits, additions] = [new Float64Array(size * SUM_DIGITS), new Uint16Array(size)];
    digits.set(this.digits);
    additions.set(this.additions);
    [this.digits, this.additions] = [digits, additions];
  }
}
