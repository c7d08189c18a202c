import { divideRounded } from '#lib/decimal';
import { type RateBook, readRateBook } from '#money';
import { type Conversion, RATE_SCALE } from './group-table.ts';
import type { Reported } from './query.ts';
import type { SegmentQuestion } from './segment-question.ts';

/** The rates of each currency by day, and the amounts that could not be converted. */
export class DayRates {
  /** Micros by currency. */
  readonly missing = new Map<string, bigint>();
  private readonly db: D1Database;
  private readonly application: Reported;
  private readonly asked: SegmentQuestion;
  private readonly known = new Set<string>();
  private readonly found = new Map<string, Conversion>();
  private book: RateBook | null = null;

  constructor(db: D1Database, application: Reported, asked: SegmentQuestion) {
    this.db = db;
    this.application = application;
    this.asked = asked;
  }

  async use(currencies: readonly string[]): Promise<void> {
    const { reporting, from, to } = this.asked;
    const added = currencies.filter((code) => code !== '' && code !== reporting && !this.known.has(code));
    if (added.length === 0) return;
    for (const currency of added) this.known.add(currency);
    this.found.clear();
    const needed = new Set([reporting, ...this.known]);
    this.book = await readRateBook(this.db, this.application.teamId, needed, from, to);
  }

  of(currency: string, day: string): Conversion {
    const { reporting } = this.asked;
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
}
