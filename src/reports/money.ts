import { fromMicros } from '#lib/money';
import { convert, type Parts, type RateBook, readRateBook } from '#money';
import type { Reported } from './query.ts';

export type Unconverted = { currency: string; amount: number }[];

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
  list(micros: bigint, { currency }: AmountRow): void {
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
      .map(([currency, micros]) => ({ currency, amount: fromMicros(micros) }));
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

/** A sum of micros as text that `readMicros` reads: whole units and the rest apart, so that no total leaves 64 bits. */
export const microsSql = (amount: string) =>
  `sum((${amount}) / 1000000) || '/' || sum((${amount}) % 1000000)`;

export function readMicros(sum: string): bigint {
  const [units = '0', rest = '0'] = sum.split('/');
  return BigInt(units) * 1_000_000n + BigInt(rest);
}
