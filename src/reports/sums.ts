import { type Parts, partsToMicros } from '#money';
import {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  ROLLUP,
  type Rollup,
  rollupOf,
} from './dimensions.ts';
import type { Sums } from './metrics.ts';
import { type Converter, microsSql, rateDaySql, readMicros } from './money.ts';

// What the performance report adds up: first SQL by day and currency, then exactly, in the reporting currency.

const AMOUNTS = ['adRevenue', 'purchaseRevenue', 'spend', 'acquiredRevenue'] as const;
type Amount = (typeof AMOUNTS)[number];
type Count = Exclude<keyof Sums, Amount>;

const isAmount = (name: string): name is Amount => AMOUNTS.some((amount) => amount === name);
const COUNTS = (Object.keys(ROLLUP.daily.counts) as (Amount | Count)[]).filter(
  (name) => !isAmount(name),
) as Count[];

/** The values of the groupings, the currency, the day of its rate, and sums; amounts as `microsSql` gives them. */
export type SumRow = { currency: string; rateDay: string; key0?: string; key1?: string } & Partial<
  Record<Amount, string> & Record<Count, number>
>;

export const keysOf = ({ key0 = '', key1 = '' }: SumRow) => [key0, key1];

export type Source = {
  table: string;
  day: string;
  rateDay: string;
  currency: string;
  sums: Partial<Record<Amount | Count, string>>;
};

const rollupSource = ({ table, counts }: Rollup): Source => ({
  table,
  day: 'day',
  rateDay: 'day',
  currency: table === ROLLUP.custom.table ? "''" : 'currency',
  sums: counts,
});
export const COSTS: Source = {
  table: 'costs',
  day: 'day',
  rateDay: 'day',
  currency: 'currency',
  sums: { spend: 'amount' },
};
const ACQUIRED: Source = {
  table: 'cohort_revenue',
  day: 'acquired_day',
  rateDay: 'day',
  currency: 'currency',
  sums: { acquiredRevenue: 'ad_revenue + purchase_revenue' },
};

/** Adds up one table by these columns (aliased `key0`, `key1`) for the application ?1, the days ?2 to ?3, reported in ?4. */
export function sumsSql(source: Source, columns: readonly string[]): string {
  const keys = columns.map((column, index) => `${column} AS key${index}`);
  const rateDay = rateDaySql(source.currency, source.rateDay, '?4');
  const sums = Object.entries(source.sums).map(
    ([name, column]) => `${isAmount(name) ? microsSql(column) : `sum(${column})`} AS ${name}`,
  );
  const grouped = [...columns.map((_, index) => `key${index}`), 'currency', 'rateDay'];
  return `SELECT ${[...keys, `${source.currency} AS currency`, `${rateDay} AS rateDay`, ...sums].join(', ')}
    FROM ${source.table} WHERE application_id = ?1 AND ${source.day} BETWEEN ?2 AND ?3
    GROUP BY ${grouped.join(', ')} ORDER BY ${grouped.join(', ')}`;
}

/** The sources of a report with the columns of its groupings in each; null where a source does not have them all. */
export function sourcesOf(names: readonly DimensionName[]) {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const columnsBy = (column: (dimension: Dimension) => string | undefined) => {
    const columns = dimensions.flatMap((dimension) => column(dimension) ?? []);
    return columns.length === dimensions.length ? columns : null;
  };
  const rollup = rollupSource(ROLLUP[rollupOf(names) ?? 'daily']);
  return [
    { source: rollup, columns: columnsBy(({ column }) => column) },
    { source: COSTS, columns: columnsBy(({ cost }) => cost) },
    { source: ACQUIRED, columns: columnsBy(({ acquired }) => acquired) },
  ].flatMap(({ source, columns }) => (columns ? [{ source, columns }] : []));
}

/** The sources of the totals, which do not depend on the groupings. */
export const TOTAL_SOURCES = [rollupSource(ROLLUP.daily), COSTS, ACQUIRED].map((source) => ({
  source,
  columns: [] as string[],
}));

/** Adds up the rows of one group; amounts stay exact to a part of a micro until they are read. */
export class Adder {
  private readonly counts = new Map<Count, number>();
  private readonly parts = new Map<Amount, Parts>();
  private acquiredIsWhole = true;

  /** `list` puts what has no rate on the converter's list; it counts as 0 either way. */
  add(row: SumRow, converter: Converter, list: boolean): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + (row[name] ?? 0));
    for (const name of AMOUNTS) {
      const sum = row[name];
      if (sum === undefined || sum === null) continue;
      const micros = readMicros(sum);
      const parts = converter.convert(micros, row);
      if (name === 'acquiredRevenue') this.acquiredIsWhole &&= parts !== null;
      else if (list && parts === null) converter.list(micros, row);
      this.parts.set(name, (this.parts.get(name) ?? 0n) + (parts ?? 0n));
    }
  }

  sums(): Sums {
    const micros = (name: Amount) => partsToMicros(this.parts.get(name) ?? 0n);
    const counts = Object.fromEntries(COUNTS.map((name) => [name, this.counts.get(name) ?? 0]));
    return {
      ...(counts as Record<Count, number>),
      adRevenue: micros('adRevenue'),
      purchaseRevenue: micros('purchaseRevenue'),
      spend: micros('spend'),
      acquiredRevenue: this.acquiredIsWhole ? micros('acquiredRevenue') : null,
    };
  }
}
