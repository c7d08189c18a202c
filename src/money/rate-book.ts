import { divideRounded, type Fraction, ONE, over, parseDecimal } from '#lib/decimal';

/** `units` of `currency` were worth `worth` of `base` on `day`. `own` marks a rate that the team uploaded. */
export type Rate = {
  currency: string;
  base: string;
  day: string;
  units: string;
  worth: string;
  own: boolean;
};

type Quote = { day: string; own: boolean; value: Fraction };
/** A currency's value in a base on a day. A base is worth 1 of itself every day. */
type Valued = { day: string | null; own: boolean; value: Fraction };

/** The published rates that a report may use, by day. Pure and exact: no floating point. */
export class RateBook {
  /** base → currency → quotes, latest first, a team's own before the reference of the same day. */
  private readonly bases = new Map<string, Map<string, Quote[]>>();
  private readonly found = new Map<string, Fraction | null>();

  constructor(rates: readonly Rate[]) {
    for (const { currency, base, day, units, worth, own } of rates) {
      const above = parseDecimal(worth);
      const below = parseDecimal(units);
      if (!above || !below) continue;
      let currencies = this.bases.get(base);
      if (!currencies) {
        currencies = new Map();
        this.bases.set(base, currencies);
      }
      currencies.set(currency, [
        ...(currencies.get(currency) ?? []),
        { day, own, value: over(above, below) },
      ]);
    }
    for (const currencies of this.bases.values()) {
      for (const quotes of currencies.values()) {
        quotes.sort((left, right) =>
          left.day === right.day ? Number(right.own) - Number(left.own) : left.day < right.day ? 1 : -1,
        );
      }
    }
  }

  /**
   * The value of one unit of `from` in `to` on `day`: by that day's rates, or else the latest earlier ones, through a base in which both have
   * a rate. If there are several such bases, the one with the most recent pair of rates is used, then a team's own, then the first by name.
   * Returns null if there is none. Later rates are never used, and bases are never chained.
   */
  rate(from: string, to: string, day: string): Fraction | null {
    if (from === to) return ONE;
    const key = `${from}/${to}/${day}`;
    let rate = this.found.get(key);
    if (rate === undefined) {
      rate = this.find(from, to, day);
      this.found.set(key, rate);
    }
    return rate;
  }

  private find(from: string, to: string, day: string): Fraction | null {
    let best: { day: string; own: boolean; rate: Fraction } | null = null;
    for (const base of [...this.bases.keys()].sort()) {
      const source = this.valueIn(base, from, day);
      const target = this.valueIn(base, to, day);
      if (!source || !target) continue;
      const older = [source.day, target.day].filter((known) => known !== null).sort()[0] ?? day;
      const own = source.own && target.own;
      if (best && (older < best.day || (older === best.day && (best.own || !own)))) continue;
      best = { day: older, own, rate: over(source.value, target.value) };
    }
    return best?.rate ?? null;
  }

  private valueIn(base: string, currency: string, day: string): Valued | null {
    if (currency === base) return { day: null, own: true, value: ONE };
    return (
      this.bases
        .get(base)
        ?.get(currency)
        ?.find((quote) => quote.day <= day) ?? null
    );
  }
}

/** Nanos are added up in units of 10^-15, so that a sum is rounded only once, at the end. */
const PARTS_PER_NANO = 10n ** 15n;

/** An amount in 10^-15 nanos. */
export type Parts = bigint;

export const nanosToParts = (nanos: bigint): Parts => nanos * PARTS_PER_NANO;
export const partsToNanos = (parts: Parts): bigint => divideRounded(parts, PARTS_PER_NANO);

/** Converts nanos of a currency on a day to parts of the reporting currency; null if no rate is known. */
export function convert(
  book: RateBook,
  nanos: bigint,
  currency: string,
  reporting: string,
  day: string,
): Parts | null {
  if (nanos === 0n || currency === reporting) return nanos * PARTS_PER_NANO;
  const rate = book.rate(currency, reporting, day);
  return rate && divideRounded(nanos * PARTS_PER_NANO * rate.numerator, rate.denominator);
}
