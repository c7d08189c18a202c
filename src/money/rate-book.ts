import { divideRounded, type Fraction, ONE, over, parseDecimal } from '#lib/decimal';
import { addDays } from '#lib/time';

/** Who a rate is from, in the order of precedence: the team's own, the reference rates, and those that fill their gaps. */
export const RATE_SOURCES = ['team', 'reference', 'further'] as const;
export type RateSource = (typeof RATE_SOURCES)[number];

/**
 * A further rate ranks like another source's rate that is this much older. So it never replaces a rate that a team uploads once a month, nor
 * one that a bank publishes on working days, but does replace one that has long been given up.
 */
export const FURTHER_RANKS_DAYS_OLDER = 31;

/** `units` of `currency` were worth `worth` of `base` on `day`. */
export type Rate = {
  currency: string;
  base: string;
  day: string;
  units: string;
  worth: string;
  source: RateSource;
};

/** `since` is the day that a quote ranks by, `order` the place of its source among `RATE_SOURCES`. */
type Quote = { day: string; since: string; order: number; value: Fraction };
/** A currency's value in a base on a day. A base is worth 1 of itself every day. */
type Valued = { since: string | null; order: number; value: Fraction };

/** The quote of a rate; none if it is malformed. */
function quotesOf({ day, units, worth, source }: Rate): Quote[] {
  const [above, below] = [parseDecimal(worth), parseDecimal(units)];
  if (!above || !below) return [];
  const since = source === 'further' ? addDays(day, -FURTHER_RANKS_DAYS_OLDER) : day;
  return [{ day, since, order: RATE_SOURCES.indexOf(source), value: over(above, below) }];
}

/** Sorts the quote that takes precedence first. */
const byPrecedence = (left: Quote, right: Quote) =>
  left.since === right.since ? left.order - right.order : left.since < right.since ? 1 : -1;

/** The published rates that a report may use, by day. Pure and exact: no floating point. */
export class RateBook {
  /** base → currency → quotes, by precedence. */
  private readonly bases = new Map<string, Map<string, Quote[]>>();

  constructor(rates: readonly Rate[]) {
    for (const [base, ofBase] of Map.groupBy(rates, (rate) => rate.base)) {
      const quotes = new Map<string, Quote[]>();
      for (const [currency, own] of Map.groupBy(ofBase, (rate) => rate.currency)) {
        quotes.set(currency, own.flatMap(quotesOf).sort(byPrecedence));
      }
      this.bases.set(base, quotes);
    }
  }

  /**
   * The value of one unit of `from` in `to` on `day`, through a base in which both have a rate. Of a currency's rates of that day and earlier,
   * the latest one is used, a further one ranking by `FURTHER_RANKS_DAYS_OLDER`; of the same day, the team's own, then the reference rate. If
   * there are several such bases, the one whose pair ranks first is used, then the first by name.
   * Returns null if there is none. Later rates are never used, and bases are never chained.
   */
  rate(from: string, to: string, day: string): Fraction | null {
    if (from === to) return ONE;
    let best: { since: string; order: number; rate: Fraction } | null = null;
    for (const base of [...this.bases.keys()].sort()) {
      const source = this.valueIn(base, from, day);
      const target = this.valueIn(base, to, day);
      if (!source || !target) continue;
      const since = [source.since, target.since].filter((known) => known !== null).sort()[0] ?? day;
      const order = Math.max(source.order, target.order);
      if (best && (since < best.since || (since === best.since && order >= best.order))) continue;
      best = { since, order, rate: over(source.value, target.value) };
    }
    return best?.rate ?? null;
  }

  private valueIn(base: string, currency: string, day: string): Valued | null {
    if (currency === base) return { since: null, order: 0, value: ONE };
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
