import { divideRounded } from '#lib/decimal';
import { type RateBook, readRateBook } from '#money';
import { type Chunk, columnOf } from './chunk.ts';
import { RATE_SCALE, RateDigits } from './converted-sums.ts';

/** Acquired devices earn revenue on any later day. */
export const END_OF_TIME = '9999-12-31';

/** Before every day of an event: the rates of all days are read. */
const START_OF_TIME = '0000-01-01';

/** `from` and `to` are the days that are usually needed; the rates of others are read once an amount has them. */
type RatePeriod = { teamId: string; reporting: string; from: string; to: string };

/** How an amount is converted: by the rate with a number, or by one of these: it is in the reporting currency already, or has no rate. */
export const SAME_CURRENCY = -1;
export const NO_RATE = -2;

/** The conversions of entries. */
export type Conversions = { numbers: Int32Array; rates: RateDigits };

/** The rates of each currency by day. */
export class DayRates {
  /** The rates that `of` returned the numbers of. */
  readonly rates = new RateDigits();
  private readonly db: D1Database;
  private readonly period: RatePeriod;
  private from: string;
  private readonly known = new Set<string>();
  private readonly found = new Map<string, number>();
  private book: RateBook | null = null;

  constructor(db: D1Database, period: RatePeriod) {
    this.db = db;
    this.period = period;
    this.from = period.from;
  }

  /** Reads the rates of currencies on days. Must be awaited before `of` is called with them. */
  async use(currencies: readonly string[], days: readonly string[]): Promise<void> {
    const { teamId, reporting, to } = this.period;
    const used = currencies.filter((code) => !this.isSame(code));
    if (used.length === 0) return;
    const isKnown = used.every((code) => this.known.has(code));
    // Devices may have earned before their acquisition.
    const isEarlier = days.some((day) => day < this.from);
    if (isKnown && !isEarlier) return;
    for (const currency of used) this.known.add(currency);
    if (isEarlier) this.from = START_OF_TIME;
    this.found.clear();
    const needed = new Set([reporting, ...this.known]);
    this.book = await readRateBook(this.db, teamId, needed, this.from, to);
  }

  /** Whether amounts in a currency need no rate. */
  isSame(currency: string): boolean {
    return currency === '' || currency === this.period.reporting;
  }

  /** How amounts of a currency and day are converted: the number of a rate, `SAME_CURRENCY` or `NO_RATE`. */
  of(currency: string, day: string): number {
    const { reporting } = this.period;
    if (this.isSame(currency)) return SAME_CURRENCY;
    const key = `${currency}${day}`;
    let conversion = this.found.get(key);
    if (conversion === undefined) {
      const rate = this.book?.rate(currency, reporting, day);
      conversion = rate
        ? this.rates.add(divideRounded(rate.numerator * RATE_SCALE, rate.denominator))
        : NO_RATE;
      this.found.set(key, conversion);
    }
    return conversion;
  }
}

/** In place of a conversion that was not looked up yet. */
const UNKNOWN = -3;

/**
 * The conversions of a chunk's entries, each by the rate of its day; null if all are `SAME_CURRENCY`. Reads the rates of the chunk's currencies
 * and days first.
 */
export async function conversionsOf(rates: DayRates, chunk: Chunk): Promise<Conversions | null> {
  const { values: currencies, numbers: ownCurrencies } = columnOf(chunk, 'currency');
  const { values: days, numbers: ownDays } = columnOf(chunk, 'day');
  await rates.use(currencies, days);
  if (currencies.every((currency) => rates.isSame(currency))) return null;
  const found = new Int32Array(currencies.length * days.length).fill(UNKNOWN);
  const numbers = new Int32Array(chunk.size);
  for (let entry = 0; entry < chunk.size; entry++) {
    const currency = ownCurrencies[entry] ?? 0;
    const day = ownDays[entry] ?? 0;
    const at = currency * days.length + day;
    let number = found[at] ?? UNKNOWN;
    if (number === UNKNOWN) {
      number = rates.of(currencies[currency] ?? '', days[day] ?? '');
      found[at] = number;
    }
    numbers[entry] = number;
  }
  return { numbers, rates: rates.rates };
}
