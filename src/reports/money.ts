import { amountField, type WithExact } from '#lib/money';
import { convert, type Parts, type RateBook, readRateBook } from '#money';
import type { Reported } from './query.ts';

export type Unconverted = ({ currency: string } & WithExact<'amount'>)[];

/** An amount as SQL gives it: micros as text (the driver's numbers end at 2^53), its currency, and the day of its rate. */
export type AmountRow = { currency: string; rateDay: string };

/** Converts what a report adds up into its currency and keeps account of what has no rate. */
export class Converter {
  readonly currency: string;
  private readonly book: RateBook;
  private readonly missing = new Map<string, bigint>();

  constructor(book: RateBook, currency: string) {
    this.book = book;
    this.currency = currency;
  }

  /** Null where no rate is known. */
  convert(micros: bigint, { currency, rateDay }: AmountRow): Parts | null {
    return convert(this.book, micros, currency, this.currency, rateDay);
  }

  /** Puts what has no rate on the list. */
  list(micros: bigint, { currency }: Pick<AmountRow, 'currency'>): void {
    this.missing.set(currency, (this.missing.get(currency) ?? 0n) + micros);
  }

  /** As `convert`, but what has no rate counts as 0 and is listed. */
  convertOrList(micros: bigint, row: AmountRow): Parts {
    const parts = this.convert(micros, row);
    if (parts === null) this.list(micros, row);
    return parts ?? 0n;
  }

  /** What could not be converted, in its own currency. */
  unconverted(): Unconverted {
    return [...this.missing]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([currency, micros]) => ({ currency, ...amountField('amount', micros) }));
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

/** The day whose rate a row needs: amounts of the reporting currency (a bound parameter) and of none need no rate. */
export const rateDaySql = (currency: string, day: string, reporting: string) =>
  `CASE WHEN ${currency} IN ('', ${reporting}) THEN '' ELSE ${day} END`;

/**
 * SQL of an amount in two parts, each small enough that sums of millions of rows fit 64 bits: whole millions of units
 * (10^12 micros), and the micros beside them.
 */
export type AmountSql = { high: string; low: string };

const MICROS_PER_HIGH = 1_000_000_000_000n;

/** An amount of a rollup table, which stores it in its two parts. */
export const storedAmount = (column: string): AmountSql => ({ high: `${column}_high`, low: column });

/** An integer column of micros. */
export const wholeAmount = (column: string): AmountSql => ({
  high: `${column} / ${MICROS_PER_HIGH}`,
  low: `${column} % ${MICROS_PER_HIGH}`,
});

export const plus = (left: AmountSql, right: AmountSql): AmountSql => ({
  high: `${left.high} + ${right.high}`,
  low: `${left.low} + ${right.low}`,
});

/** A sum as text that `readMicros` reads. It is never added up in SQL, where it could leave 64 bits or become a REAL. */
export const microsSql = ({ high, low }: AmountSql) => `sum(${high}) || '/' || sum(${low})`;

export function readMicros(sum: string): bigint {
  const [high = '0', low = '0'] = sum.split('/');
  return BigInt(high) * MICROS_PER_HIGH + BigInt(low);
}
