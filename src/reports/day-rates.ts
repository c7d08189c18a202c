import { divideRounded } from '#lib/decimal';
import { type RateBook, readRateBook } from '#money';
import { type Conversion, RATE_SCALE } from './group-table.ts';

/** Acquired devices earn revenue on any later day. */
export const END_OF_TIME = '9999-12-31';

type RatePeriod = { teamId: string; reporting: string; from: string; to: string };

/** The rates of each currency by day, and the amounts that could not be converted. */
export class DayRates {
  /** Micros by currency. */
  readonly missing = new Map<string, bigint>();
  private readonly db: D1Database;
  private readonly period: RatePeriod;
  private readonly known = new Set<string>();
  private readonly found = new Map<string, Conversion>();
  private book: RateBook | null = null;

  constructor(db: D1Database, period: RatePeriod) {
    this.db = db;
    this.period = period;
  }

  /** Reads the rates of currencies. Must be awaited before `of` is called with them. */
  async use(currencies: readonly string[]): Promise<void> {
    const { teamId, reporting, from, to } = this.period;
    const added = currencies.filter((code) => code !== '' && code !== reporting && !this.known.has(code));
    if (added.length === 0) return;
    for (const currency of added) this.known.add(currency);
    this.found.clear();
    const needed = new Set([reporting, ...this.known]);
    this.book = await readRateBook(this.db, teamId, needed, from, to);
  }

  of(currency: string, day: string): Conversion {
    const { reporting } = this.period;
    if (currency === '' || currency === reporting) return 'same';
    const key = `${currency}${day}`;
    let conversion = this.found.get(key);
    if (conversion === undefined) {
      const rate = this.book?.rate(currency, reporting, day);
      conversion = rate ? divideRounded(rate.numerator * RATE_SCALE, rate.denominator) : null;
      this.found.set(key, conversion);
    }
    return conversion;
  }

  miss(currency: string, micros: bigint): void {
    this.missing.set(currency, (this.missing.get(currency) ?? 0n) + micros);
  }
}

/** The conversions of a chunk's rows, by the indexes of a currency and of the day whose rate applies. */
export function conversionsOf(
  rates: DayRates,
  currencies: readonly string[],
  days: readonly string[],
): (currency: number, day: number) => Conversion {
  const found: Conversion[] = [];
  return (currency, day) => {
    const at = currency * days.length + day;
    const known = found[at];
    if (known !== undefined) return known;
    const conversion = rates.of(currencies[currency] ?? '', days[day] ?? '');
    found[at] = conversion;
    return conversion;
  };
}
