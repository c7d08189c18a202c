import {
  ALL_METRICS,
  isMoney,
  MEASURES,
  type Metric,
  OF_ACQUIRED,
  OF_SPEND,
  type RollupTable,
  type Sums,
} from '#catalogue';
import { CURRENCIES } from '#lib/currencies';
import { microsToParts, type Parts, partsToMicros, ratedSql } from '#money';
import {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  isNamed,
  rollupOf,
  type SourceKind,
} from './dimensions.ts';
import { bindFiltered, costConditions, rollupConditions, wholeTable } from './filters.ts';
import { daysUntil, hoursTable } from './hours.ts';
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
import type { ReportFilters } from './query.ts';

// The sums of the performance report. SQL adds up amounts by day and currency; they are then converted and added up exactly.

const AMOUNTS = ['adRevenue', 'purchaseRevenue', 'spend', 'acquiredRevenue', 'attributedRevenue'] as const;
type Amount = (typeof AMOUNTS)[number];
type Count = Exclude<keyof Sums, Amount>;

const COUNTS = [
  'clicks',
  'installs',
  'attributedInstalls',
  'activeDevices',
  'sessions',
  'sessionSeconds',
  'customEvents',
  'adRequests',
  'payers',
  'impressions',
  'purchases',
  'failedPurchases',
] as const satisfies readonly Count[];

/** The name of a measure's sum: `adRevenue` for `ad_revenue`. */
export const sumOf = (measure: string) =>
  measure.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as Amount | Count;

/** The sums of one source for one group. */
export type SumRow = {
  /** The values of the groupings; empty text for none. */
  keys: string[];
  counts: Partial<Record<Count, number>>;
  /** By currency and by the day of the rate. */
  amounts: (AmountRow & { name: Amount; micros: bigint })[];
};

/** A row of `sumsSql`. An amount is a comma-separated list of `currency:rate day:sum`, with sums in the form of `microsSql`. */
type RawRow = { key0?: string; key1?: string } & Partial<
  Record<Amount, string | null> & Record<Count, number | null>
>;

export type Source = {
  kind: SourceKind;
  /** The table's name, or a subquery with its columns. */
  table: string;
  /** More conditions on its rows, each preceded by `AND`. */
  conditions: string;
  day: string;
  rateDay: string;
  currency: string;
  /** The columns behind the sums. */
  counts: Partial<Record<Count, string>>;
  amounts: Partial<Record<Amount, AmountSql>>;
};

const ofAttributed = (column: string) => `iif(creative_id <> '', ${column}, 0)`;

function rollupSource(table: RollupTable): Source {
  const measures: readonly string[] = MEASURES[table];
  const counts = measures.filter((measure) => !isMoney(measure)).map((measure) => [sumOf(measure), measure]);
  const attributed = measures.includes('installs') ? [['attributedInstalls', ofAttributed('installs')]] : [];
  return {
    kind: 'rollup',
    table,
    conditions: '',
    day: 'day',
    rateDay: 'day',
    currency: table === 'rollup_custom' ? "''" : 'currency',
    counts: Object.fromEntries([...counts, ...attributed]),
    amounts: Object.fromEntries(
      measures.filter(isMoney).map((measure) => [sumOf(measure), storedAmount(measure)]),
    ),
  };
}

const COSTS: Source = {
  kind: 'costs',
  table: 'costs',
  conditions: '',
  day: 'day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: { spend: wholeAmount('amount') },
};
export const EARNED = plus(storedAmount('ad_revenue'), storedAmount('purchase_revenue'));
const ACQUIRED: Source = {
  kind: 'acquired',
  table: 'cohort_revenue',
  conditions: '',
  day: 'acquired_day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: {
    acquiredRevenue: EARNED,
    attributedRevenue: { high: ofAttributed(EARNED.high), low: ofAttributed(EARNED.low) },
  },
};

/** One source with the columns that a report groups it by. */
export type Part = {
  source: Source;
  columns: readonly string[];
  /** The stored columns that `columns` use. */
  reads: readonly string[];
  /** The parameter ?7 of `columns`: the keys of the groups that have a row of their own, as a JSON array. */
  kept?: string;
};

/**
 * Adds up one source by its columns (aliased `key0`, `key1`), with one row per group. ?1 is the application, ?2 to ?3 the days, ?4 the
 * reporting currency. Lifetime revenue also needs the team ?5 and the currencies ?6.
 */
export function sumsSql({ source, columns, reads }: Part): string {
  if (source.kind !== 'acquired') {
    const rateDay = rateDaySql(source.currency, source.rateDay, '?4');
    return groupsSql(source, columns, reads, inPeriod(source), rateDay);
  }
  // The longest table, with a row per day of revenue. It is only read if there is spend to compare it with. Only currencies with a rate
  // are separated by that day.
  const from = inPeriod(source, `iif((SELECT 1 ${inPeriod(COSTS)} LIMIT 1), ?3, '')`);
  return `WITH rated AS MATERIALIZED (${ratedSql('?4', '?5', '?6')})
    ${groupsSql(source, columns, reads, from, `iif(currency IN rated, ${source.rateDay}, '')`)}`;
}

// An end before all days makes the range empty. A condition would be evaluated for every row.
const inPeriod = ({ table, day, conditions }: Source, end = '?3') =>
  `FROM ${table} WHERE application_id = ?1 AND ${day} BETWEEN ?2 AND ${end}${conditions}`;
const list = (...parts: (string | readonly string[])[]) => parts.flat().join(', ');
const grouped = (columns: readonly string[]) => (columns.length > 0 ? `GROUP BY ${list(columns)}` : '');
const aliasesOf = (columns: readonly string[]) => columns.map((_, index) => `key${index}`);
const keysOf = (columns: readonly string[]) => columns.map((column, index) => `${column} AS key${index}`);
const partsOf = (name: string): AmountSql => ({ high: `${name}_high`, low: `${name}_low` });

/** Rows are added up by their stored columns first, so that names are looked up once per creative and not once per row. */
function groupsSql(
  source: Source,
  columns: readonly string[],
  reads: readonly string[],
  from: string,
  rateDay: string,
): string {
  const counts = Object.entries(source.counts);
  const amounts = Object.entries(source.amounts);
  const stored = [
    ...counts.map(([name, column]) => `sum(${column}) AS ${name}`),
    ...amounts.flatMap(([name, { high, low }]) => [
      `sum(${high}) AS ${name}_high`,
      `sum(${low}) AS ${name}_low`,
    ]),
  ];
  const byCurrency = [
    ...counts.map(([name]) => `sum(${name}) AS ${name}`),
    ...amounts.map(([name]) => `${microsSql(partsOf(name))} AS ${name}`),
  ];
  const together = [
    ...counts.map(([name]) => `sum(${name}) AS ${name}`),
    ...amounts.map(
      ([name]) =>
        `group_concat(currency || ':' || rateDay || ':' || ${name}) FILTER (WHERE ${name} <> '0/0') AS ${name}`,
    ),
  ];
  const keys = aliasesOf(columns);
  const currency = reads.includes('currency') ? [] : [`${source.currency} AS currency`];
  // A day determines its rate, so it is not grouped by twice: rows in the order of the primary key need no sorting.
  const storedBy = reads.includes(source.rateDay)
    ? [...new Set([...reads, 'currency'])]
    : [...new Set([...reads, 'currency', 'rateDay'])];
  return `SELECT ${list(keys, together)}
    FROM (SELECT ${list(keysOf(columns), 'currency', 'rateDay', byCurrency)}
      FROM (SELECT ${list(reads, currency, `${rateDay} AS rateDay`, stored)} ${from} ${grouped(storedBy)})
      ${grouped([...keys, 'currency', 'rateDay'])})
    ${grouped(keys)}`;
}

export type ReadSums = { source: Source; rows: SumRow[] };
export type Asked = {
  applicationId: string;
  teamId: string;
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
};

/** Reads the sums of all parts in one batch. `maxRows` limits the rows of each part. */
export async function readSums(
  db: D1Database,
  parts: readonly Part[],
  asked: Asked,
  maxRows?: number,
): Promise<ReadSums[]> {
  if (parts.length === 0) return [];
  const results = await db.batch<RawRow>(
    parts.map((part) => {
      const common = [asked.applicationId, asked.from, asked.to, asked.reporting];
      const rates =
        part.source.kind === 'acquired' || part.kept !== undefined
          ? [asked.teamId, JSON.stringify([...CURRENCIES])]
          : [];
      const kept = part.kept === undefined ? [] : [part.kept];
      const sql = maxRows === undefined ? sumsSql(part) : `${sumsSql(part)} LIMIT ${maxRows}`;
      return bindFiltered(db, sql, [...common, ...rates, ...kept], asked.filters);
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
    amounts: AMOUNTS.flatMap((name) =>
      (raw[name]?.split(',') ?? []).map((text) => {
        const [currency = '', rateDay = '', sum = ''] = text.split(':');
        return { name, currency, rateDay, micros: readMicros(sum) };
      }),
    ),
  };
}

/** A source with the conditions of the filters. */
function narrowed(source: Source, filters: ReportFilters, table = source.table): Source {
  const conditions = source.kind === 'costs' ? costConditions(filters) : rollupConditions(filters);
  return { ...source, conditions, table };
}

/** A rollup, or the requested hours of it. */
function rollupTable(
  table: RollupTable,
  names: readonly DimensionName[],
  filters: ReportFilters,
  untilHour: number | undefined,
): string {
  if (table !== 'rollup_hours') return wholeTable(table, names.some(isNamed), filters);
  return names.includes('hour') ? hoursTable(untilHour) : daysUntil(untilHour);
}

/**
 * The sources that these metrics need in a report without segments, with the columns of the groupings. Sources that lack one of the
 * groupings are left out. With `untilHour`, the last day ends at this hour of the clock.
 */
export function sourcesOf(
  names: readonly DimensionName[],
  filters: ReportFilters = {},
  metrics: readonly Metric[] = ALL_METRICS,
  untilHour?: number,
): Part[] {
  const needs = (some: readonly Metric[]) => some.some((metric) => metrics.includes(metric));
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const rollup = untilHour === undefined ? (rollupOf(names) ?? 'rollup_daily') : 'rollup_hours';
  const table = rollupTable(rollup, names, filters, untilHour);
  const sources = [
    narrowed(rollupSource(rollup), filters, table),
    ...(needs(OF_SPEND) ? [narrowed(COSTS, filters)] : []),
    ...(needs(OF_ACQUIRED)
      ? [narrowed(ACQUIRED, filters, wholeTable('cohort_revenue', names.some(isNamed), filters))]
      : []),
  ];
  return sources.flatMap((source): Part[] => {
    const expressions = dimensions.map((dimension) => dimension.of[source.kind]);
    const known = expressions.filter((expression) => expression !== undefined);
    if (known.length < expressions.length) return [];
    const reads = [...new Set(known.flatMap(({ reads: columns }) => columns))];
    return [{ source, columns: known.map(({ sql }) => sql), reads }];
  });
}

/** The sources of the totals, which do not depend on the groupings. */
export const totalSources = (
  filters: ReportFilters = {},
  metrics: readonly Metric[] = ALL_METRICS,
  untilHour?: number,
): Part[] => sourcesOf([], filters, metrics, untilHour);

/** Sums that are all 0. */
export const emptySums = (): Sums => new Adder().sums();

/** Adds up the rows of one group. Amounts stay exact to a fraction of a micro until they are read. */
export class Adder {
  private readonly counts = new Map<Count, number>();
  private readonly parts = new Map<Amount, Parts>();
  /** Amounts that cannot be converted in full. */
  private readonly incomplete = new Set<Amount>();

  /** With `list`, the converter lists amounts without a rate. */
  add({ counts, amounts }: SumRow, converter: Converter, list: boolean): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + (counts[name] ?? 0));
    for (const amount of amounts) {
      const { name, micros } = amount;
      const parts = converter.convert(micros, amount);
      if (parts === null) this.incomplete.add(name);
      if (parts === null && list && !OVER_LIFE.has(name)) converter.list(micros, amount);
      this.parts.set(name, (this.parts.get(name) ?? 0n) + (parts ?? 0n));
    }
  }

  /** Adds existing sums. */
  addSums(sums: Sums): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + sums[name]);
    for (const name of AMOUNTS) {
      const micros = sums[name];
      if (micros === null) this.incomplete.add(name);
      else this.parts.set(name, (this.parts.get(name) ?? 0n) + microsToParts(micros));
    }
  }

  sums(): Sums {
    const micros = (name: Amount) =>
      this.incomplete.has(name) ? null : partsToMicros(this.parts.get(name) ?? 0n);
    const counts = Object.fromEntries(COUNTS.map((name) => [name, this.counts.get(name) ?? 0]));
    const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, micros(name)]));
    return { ...(counts as Record<Count, number>), ...(amounts as Record<Amount, bigint | null>) };
  }
}

/** Revenue of any day, not only of the period, so amounts without a rate are not listed. */
const OVER_LIFE: ReadonlySet<Amount> = new Set(['acquiredRevenue', 'attributedRevenue']);
