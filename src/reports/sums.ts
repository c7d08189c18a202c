import { CURRENCIES } from '#lib/currencies';
import { type Parts, partsToMicros, ratedSql } from '#money';
import {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  ROLLUP,
  type Rollup,
  type RollupName,
  rollupOf,
} from './dimensions.ts';
import type { Sums } from './metrics.ts';
import {
  type AmountRow,
  type AmountSql,
  type Converter,
  microsSql,
  plus,
  rateDaySql,
  readMicros,
  storedAmount,
  wholeAmount,
} from './money.ts';

// What the performance report adds up: first SQL by day and currency, then exactly, in the reporting currency.

const AMOUNTS = ['adRevenue', 'purchaseRevenue', 'spend', 'acquiredRevenue'] as const;
type Amount = (typeof AMOUNTS)[number];
type Count = Exclude<keyof Sums, Amount>;

const isAmount = (name: string): name is Amount => AMOUNTS.some((amount) => amount === name);
const COUNTS = (Object.keys(ROLLUP.daily.counts) as (Amount | Count)[]).filter(
  (name) => !isAmount(name),
) as Count[];

/** What one source adds up for one group. */
export type SumRow = {
  /** The values of the groupings; empty text for none. */
  keys: string[];
  counts: Partial<Record<Count, number>>;
  /** Each by its currency and the day of its rate. */
  amounts: (AmountRow & { name: Amount; micros: bigint })[];
  /** Whether the acquired devices earned something in a currency of which no rate is known on any day. */
  rateless: boolean;
};

/** As `sumsSql` answers it: amounts are lists of `currency:day of the rate:amount`, the amount as `microsSql` gives it. */
type RawRow = { key0?: string; key1?: string; rateless?: number } & Partial<
  Record<Amount, string | null> & Record<Count, number | null>
>;

export type Source = {
  table: string;
  day: string;
  rateDay: string;
  currency: string;
  /** The columns behind the sums. */
  counts: Partial<Record<Count, string>>;
  amounts: Partial<Record<Amount, AmountSql>>;
};

const rollupSource = ({ table, counts }: Rollup): Source => ({
  table,
  day: 'day',
  rateDay: 'day',
  currency: table === ROLLUP.custom.table ? "''" : 'currency',
  counts: Object.fromEntries(Object.entries(counts).filter(([name]) => !isAmount(name))),
  amounts: Object.fromEntries(
    Object.entries(counts)
      .filter(([name]) => isAmount(name))
      .map(([name, column]) => [name, storedAmount(column)]),
  ),
});
const ROLLUP_SOURCES = Object.fromEntries(
  Object.entries(ROLLUP).map(([name, rollup]) => [name, rollupSource(rollup)]),
) as Record<RollupName, Source>;
export const COSTS: Source = {
  table: 'costs',
  day: 'day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: { spend: wholeAmount('amount') },
};
export const EARNED = plus(storedAmount('ad_revenue'), storedAmount('purchase_revenue'));
const EARNED_ANYTHING = `${EARNED.high} + ${EARNED.low} > 0`;
const ACQUIRED: Source = {
  table: 'cohort_revenue',
  day: 'acquired_day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: { acquiredRevenue: EARNED },
};

/** One source with the columns that a report groups it by, and the statement that adds it up. */
export type Part = {
  source: Source;
  columns: readonly string[];
  /** What the columns know as ?7: the groups that have a row of their own, as a JSON array of keys. */
  kept?: string;
};

/**
 * Adds up one table by these columns (aliased `key0`, `key1`), a row a group, for the application ?1, the days ?2 to ?3, reported
 * in ?4; what was earned over the life of devices also for the team ?5, of the currencies ?6.
 */
export function sumsSql({ source, columns }: Part): string {
  if (source !== ACQUIRED) return groupsSql(source, columns, inPeriod(source));
  // The longest table: a row a day of earning. It is only read where there is spend to hold against it, and by that day only what
  // can be converted. Of the rest what counts is the sum of the reporting currency, and whether there is anything else.
  const ofReporting = (part: string) => `iif(currency = ?4, ${part}, 0)`;
  const own = microsSql({ high: ofReporting(EARNED.high), low: ofReporting(EARNED.low) });
  return `WITH rated AS MATERIALIZED (${ratedSql('?4', '?5', '?6')})
    ${groupsSql(source, columns, `${WITH_SPEND} AND currency IN rated`)}
    UNION ALL
    SELECT ${list(keysOf(columns), `?4 || '::' || ${own}`, `max(currency <> ?4 AND ${EARNED_ANYTHING})`)}
    ${WITH_SPEND} AND currency NOT IN rated ${grouped(aliasesOf(columns))}`;
}

const inPeriod = ({ table, day }: Source, end = '?3') =>
  `FROM ${table} WHERE application_id = ?1 AND ${day} BETWEEN ?2 AND ${end}`;
// An empty range, where a condition would be asked for every row.
const WITH_SPEND = inPeriod(ACQUIRED, `iif((SELECT 1 ${inPeriod(COSTS)} LIMIT 1), ?3, '')`);
const list = (...parts: (string | readonly string[])[]) => parts.flat().join(', ');
const grouped = (columns: readonly string[]) => (columns.length > 0 ? `GROUP BY ${list(columns)}` : '');
const aliasesOf = (columns: readonly string[]) => columns.map((_, index) => `key${index}`);
const keysOf = (columns: readonly string[]) => columns.map((column, index) => `${column} AS key${index}`);

function groupsSql(source: Source, columns: readonly string[], from: string): string {
  const counts = Object.entries(source.counts);
  const amounts = Object.entries(source.amounts);
  const byCurrency = [
    ...counts.map(([name, column]) => `sum(${column}) AS ${name}`),
    ...amounts.map(([name, amount]) => `${microsSql(amount)} AS ${name}`),
  ];
  const together = [
    ...counts.map(([name]) => `sum(${name}) AS ${name}`),
    ...amounts.map(
      ([name]) =>
        `group_concat(currency || ':' || rateDay || ':' || ${name}) FILTER (WHERE ${name} <> '0/0') AS ${name}`,
    ),
  ];
  const keys = aliasesOf(columns);
  const rateDay = rateDaySql(source.currency, source.rateDay, '?4');
  return `SELECT ${list(keys, together, '0 AS rateless')}
    FROM (SELECT ${list(keysOf(columns), `${source.currency} AS currency`, `${rateDay} AS rateDay`, byCurrency)}
      ${from} ${grouped([...keys, 'currency', 'rateDay'])})
    ${grouped(keys)}`;
}

export type ReadSums = { source: Source; rows: SumRow[] };
export type Asked = { applicationId: string; teamId: string; from: string; to: string; reporting: string };

/** Adds the parts up, in one reading of the database. */
export async function readSums(db: D1Database, parts: readonly Part[], asked: Asked): Promise<ReadSums[]> {
  const results = await db.batch<RawRow>(
    parts.map((part) => {
      const common = [asked.applicationId, asked.from, asked.to, asked.reporting];
      const rates =
        part.source === ACQUIRED || part.kept !== undefined
          ? [asked.teamId, JSON.stringify([...CURRENCIES])]
          : [];
      const kept = part.kept === undefined ? [] : [part.kept];
      return db.prepare(sumsSql(part)).bind(...common, ...rates, ...kept);
    }),
  );
  return parts.map(({ source }, index) => ({ source, rows: (results[index]?.results ?? []).map(sumRow) }));
}

function sumRow(raw: RawRow): SumRow {
  const counts: SumRow['counts'] = {};
  for (const name of COUNTS) if (raw[name] !== undefined) counts[name] = raw[name] ?? 0;
  return {
    keys: [raw.key0 ?? '', raw.key1 ?? ''],
    counts,
    rateless: raw.rateless === 1,
    amounts: AMOUNTS.flatMap((name) =>
      (raw[name]?.split(',') ?? []).map((text) => {
        const [currency = '', rateDay = '', sum = ''] = text.split(':');
        return { name, currency, rateDay, micros: readMicros(sum) };
      }),
    ),
  };
}

/** The sources of a report with the columns of its groupings in each; null where a source does not have them all. */
export function sourcesOf(names: readonly DimensionName[]): Part[] {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const columnsBy = (column: (dimension: Dimension) => string | undefined) => {
    const columns = dimensions.flatMap((dimension) => column(dimension) ?? []);
    return columns.length === dimensions.length ? columns : null;
  };
  return [
    { source: ROLLUP_SOURCES[rollupOf(names) ?? 'daily'], columns: columnsBy(({ column }) => column) },
    { source: COSTS, columns: columnsBy(({ cost }) => cost) },
    { source: ACQUIRED, columns: columnsBy(({ acquired }) => acquired) },
  ].flatMap(({ source, columns }) => (columns ? [{ source, columns }] : []));
}

/** The sources of the totals, which do not depend on the groupings. */
export const TOTAL_SOURCES: Part[] = [ROLLUP_SOURCES.daily, COSTS, ACQUIRED].map((source) => ({
  source,
  columns: [],
}));

/** Adds up the rows of one group; amounts stay exact to a part of a micro until they are read. */
export class Adder {
  private readonly counts = new Map<Count, number>();
  private readonly parts = new Map<Amount, Parts>();
  private acquiredIsWhole = true;

  /** `list` puts what has no rate on the converter's list; it counts as 0 either way. */
  add({ counts, amounts, rateless }: SumRow, converter: Converter, list: boolean): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + (counts[name] ?? 0));
    if (rateless) this.acquiredIsWhole = false;
    for (const amount of amounts) {
      const { name, micros } = amount;
      const parts = converter.convert(micros, amount);
      if (name === 'acquiredRevenue') this.acquiredIsWhole &&= parts !== null;
      else if (list && parts === null) converter.list(micros, amount);
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
