import { divideRounded } from '#lib/decimal';
import { type RateBook, readRateBook } from '#money';
import type { Entries } from '#rollup';
import { type Chunk, valuesIn } from './chunk.ts';
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
    const added = currencies.filter((code) => !this.isSame(code) && !this.known.has(code));
    if (added.length === 0) return;
    for (const currency of added) this.known.add(currency);
    this.found.clear();
    const needed = new Set([reporting, ...this.known]);
    this.book = await readRateBook(this.db, teamId, needed, from, to);
  }

  /** Whether amounts in a currency need no rate. */
  isSame(currency: string): boolean {
    return currency === '' || currency === this.period.reporting;
  }

  of(currency: string, day: string): Conversion {
    const { reporting } = this.period;
    if (this.isSame(currency)) return 'same';
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

/**
 * Returns the conversions of a chunk's entries, each by the rate of its day; null if all are `same`. Reads the rates of the chunk's
 * currencies first. The array is reused for the next entries.
 */
export async function conversionsOf(
  rates: DayRates,
  chunk: Chunk,
): Promise<(entries: Entries) => readonly Conversion[] | null> {
  const [currencies, days] = [valuesIn(chunk, 'currency'), valuesIn(chunk, 'day')];
  await rates.use(currencies);
  if (currencies.every((currency) => rates.isSame(currency))) return () => null;
  const [currencyAt, dayAt] = [chunk.columns.indexOf('currency'), chunk.columns.indexOf('day')];
  const found: Conversion[] = [];
  const conversions: Conversion[] = [];
  return ({ size, keys }) => {
    for (let entry = 0; entry < size; entry++) {
      const [currency, day] = [keys[currencyAt]?.[entry] ?? 0, keys[dayAt]?.[entry] ?? 0];
      const at = currency * days.length + day;
      let conversion = found[at];
      if (conversion === undefined) {
        conversion = rates.of(currencies[currency] ?? '', days[day] ?? '');
        found[at] = conversion;
      }
      conversions[entry] = conversion;
    }
    return conversions;
  };
}
