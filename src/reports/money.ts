import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { convert, type Parts, type RateBook, readRateBook } from '#money';
import { NANOS_PER_HIGH } from '#rollup';
import type { Reported } from './query.ts';

/** The currency of an amount, and the day whose rate converts it. SQL returns nanos as text, because the driver's numbers end at 2^53. */
export type AmountRow = { currency: string; rateDay: string };

/** Converts amounts into a report's currency. */
export class Converter {
  readonly currency: string;
  private readonly book: RateBook;

  constructor(book: RateBook, currency: string) {
    this.book = book;
    this.currency = currency;
  }

  /** Returns null if there is no rate. */
  convert(nanos: bigint, { currency, rateDay }: AmountRow): Parts | null {
    return convert(this.book, nanos, currency, this.currency, rateDay);
  }
}

/** A converter that knows the rates of everything in these rows. */
export async function converterFor(
  db: D1Database,
  application: Reported,
  currency: string,
  rows: readonly AmountRow[],
): Promise<Converter> {
  const foreign = rows.filter(
    (row) => row.rateDay !== '' && row.currency !== '' && row.currency !== currency,
  );
  const days = foreign.map((row) => row.rateDay).sort();
  const [first = ''] = days;
  const currencies = new Set(foreign.length > 0 ? [currency, ...foreign.map((row) => row.currency)] : []);
  const book = await readRateBook(db, application.teamId, currencies, first, days.at(-1) ?? first);
  return new Converter(book, currency);
}

/** SQL for the day whose rate a row needs. Amounts in the reporting currency or without a currency need none. */
export const rateDaySql = (currency: SQLWrapper, day: SQLWrapper, reporting: string): SQL =>
  sql`CASE WHEN ${currency} IN ('', ${reporting}) THEN '' ELSE ${day} END`;

/**
 * SQL for an amount in two parts: whole thousands of units (10^12 nanos) and the remaining nanos. Each is small enough that sums of
 * millions of rows fit into 64 bits.
 */
export type AmountSql = { high: SQLWrapper; low: SQLWrapper };

/** Part of the text, because D1 binds numbers as floating-point, and integers must be divided here. */
const perHigh = sql`${NANOS_PER_HIGH}`.inlineParams();

/** The two parts of an integer number of nanos. */
export const wholeAmount = (nanos: SQLWrapper): AmountSql => ({
  high: sql`${nanos} / ${perHigh}`,
  low: sql`${nanos} % ${perHigh}`,
});

export const plus = (left: AmountSql, right: AmountSql): AmountSql => ({
  high: sql`${left.high} + ${right.high}`,
  low: sql`${left.low} + ${right.low}`,
});

/** A sum as text, which `readNanos` parses. SQL never combines the two parts: the result could overflow 64 bits or become a REAL. */
export const nanosSql = ({ high, low }: AmountSql): SQL => sql`sum(${high}) || '/' || sum(${low})`;

export function readNanos(sum: string): bigint {
  const [high = '0', low = '0'] = sum.split('/');
  return BigInt(high) * BigInt(NANOS_PER_HIGH) + BigInt(low);
}
