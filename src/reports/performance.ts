import * as z from 'zod';
import { currencyCode } from '#http';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import { type Parts, partsToMicros } from '#money';
import {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  givenBy,
  isDimension,
  ROLLUP,
  type Rollup,
  rollupOf,
  type Shown,
} from './dimensions.ts';
import { type MetricValues, metricsOf, type Sums } from './metrics.ts';
import {
  type Converter,
  converterFor,
  microsSql,
  rateDaySql,
  readMicros,
  type Unconverted,
} from './money.ts';
import { readCreativeNames } from './names.ts';
import { checkPeriod, listOf, period, type Reported } from './query.ts';

const groupError = `must be one or two of ${Object.keys(DIMENSIONS).join(', ')}`;

export const PerformanceQuery = z
  .object({
    ...period,
    group_by: z
      .string()
      .default('day')
      .transform(listOf)
      .pipe(
        z
          .array(z.custom<DimensionName>((name) => typeof name === 'string' && isDimension(name), groupError))
          .min(1, groupError)
          .max(2, groupError),
      )
      .refine((names) => rollupOf(names) !== undefined, 'names two groupings that no event has both of'),
    currency: currencyCode().optional(),
  })
  .superRefine(checkPeriod);
export type PerformanceQuery = z.infer<typeof PerformanceQuery>;

export type PerformanceRow = Record<string, string | number | null>;

export type PerformanceReport = {
  data: PerformanceRow[];
  totals: MetricValues;
  currency: string;
  timezone: string;
  unconverted: Unconverted;
};

/** The values of the groupings, the currency and the day of its rate, and sums; amounts as `microsSql` gives them. */
type SumRow = { currency: string; rateDay: string; acquiredRevenue?: string } & Record<string, string | null>;

type Source = { table: string; day: string; rateDay: string; currency: string; sums: Record<string, string> };

const AMOUNTS = ['adRevenue', 'purchaseRevenue', 'spend'] as const;
const isAmount = (name: string) => name === 'acquiredRevenue' || AMOUNTS.some((amount) => amount === name);

const rollupSource = ({ table, counts }: Rollup): Source => ({
  table,
  day: 'day',
  rateDay: 'day',
  currency: table === ROLLUP.custom.table ? "''" : 'currency',
  sums: counts,
});
const COSTS: Source = {
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

const COUNTS = Object.keys(ROLLUP.daily.counts).filter((name) => !isAmount(name)) as Exclude<
  keyof Sums,
  (typeof AMOUNTS)[number] | 'acquiredRevenue'
>[];

/** Adds up the rows of one group; amounts stay exact to a part of a micro until they are read. */
class Adder {
  private readonly counts = new Map<string, number>();
  private readonly parts = new Map<string, Parts>();
  private acquired: Parts | null = 0n;

  /** `convert` says what becomes of an amount that has no rate. */
  add(row: SumRow, converter: Converter, convert: Converter['convertOrList']): void {
    for (const name of COUNTS) {
      if (row[name]) this.counts.set(name, (this.counts.get(name) ?? 0) + Number(row[name]));
    }
    for (const name of AMOUNTS) {
      if (!row[name]) continue;
      const parts = convert.call(converter, readMicros(row[name]), row);
      this.parts.set(name, (this.parts.get(name) ?? 0n) + parts);
    }
    if (!row.acquiredRevenue) return;
    const parts = converter.convert(readMicros(row.acquiredRevenue), row);
    this.acquired = this.acquired === null || parts === null ? null : this.acquired + parts;
  }

  sums(): Sums {
    const counts = COUNTS.map((name) => [name, this.counts.get(name) ?? 0]);
    const amounts = AMOUNTS.map((name) => [name, partsToMicros(this.parts.get(name) ?? 0n)]);
    const acquiredRevenue = this.acquired === null ? null : partsToMicros(this.acquired);
    return { ...Object.fromEntries(counts), ...Object.fromEntries(amounts), acquiredRevenue };
  }
}

/**
 * The performance report: what the days `from` to `to` brought, in one row a group and in total.
 * `now` is epoch milliseconds; days that have not begun count for no mean.
 */
export async function reportPerformance(
  db: D1Database,
  application: Reported,
  query: PerformanceQuery,
  now: number,
): Promise<PerformanceReport> {
  const { group_by: names, from, to } = query;
  const reporting = query.currency ?? application.currency;
  const sources = sourcesOf(names);
  const results = await db.batch<SumRow>(
    [...sources, ...TOTAL_SOURCES].map(({ source, columns }) =>
      db.prepare(sumsSql(source, columns)).bind(application.id, from, to, reporting),
    ),
  );
  const rows = results.map(({ results: found }) => found);
  const totalRows = rows.slice(sources.length).flat();
  const converter = await converterFor(db, application, reporting, rows.flat());

  const gives = givenBy(names, ROLLUP[rollupOf(names) ?? 'daily']);
  const shownOf = await groupNamer(db, application.id, names, rows.slice(0, sources.length).flat());
  const groups = new Map<string, { shown: Shown; adder: Adder }>();
  for (const [index, { source }] of sources.entries()) {
    for (const row of rows[index] ?? []) {
      const shown = hasPart(row, names) ? shownOf(row, source) : null;
      if (!shown) continue;
      const key = JSON.stringify(shown);
      const group = groups.get(key) ?? { shown, adder: new Adder() };
      group.adder.add(row, converter, (micros, amount) => converter.convert(micros, amount) ?? 0n);
      groups.set(key, group);
    }
  }
  const total = new Adder();
  for (const row of totalRows) total.add(row, converter, converter.convertOrList);

  const today = dayIn(application.timezone, now);
  const days = daysOf(from, to < today ? to : today);
  const daysIn = countDays(days, names);
  return {
    data: [...groups.values()].sort(byKeys).map(({ shown, adder }) => ({
      ...shown,
      ...metricsOf(adder.sums(), daysIn(shown), gives),
    })),
    totals: metricsOf(total.sums(), days.length, ROLLUP.daily.gives),
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

function byKeys(left: { shown: Shown }, right: { shown: Shown }): number {
  for (const name of Object.keys(left.shown)) {
    const [before, after] = [left.shown[name] ?? '', right.shown[name] ?? ''];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
}

/** Says which group a row belongs to, null for none. */
async function groupNamer(
  db: D1Database,
  applicationId: string,
  names: readonly DimensionName[],
  rows: readonly SumRow[],
) {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const position = dimensions.findIndex(({ column }) => column === 'creative_id');
  const creatives = await readCreativeNames(
    db,
    applicationId,
    position < 0 ? [] : rows.flatMap((row) => row[`key${position}`] ?? []),
  );
  return (row: SumRow, source: Source): Shown | null => {
    const parts = dimensions.map(({ show, showCost }, index) => {
      const value = row[`key${index}`] || null;
      return source === COSTS && showCost ? showCost(value) : show(value, creatives);
    });
    return parts.every((part) => part !== null) ? Object.assign({}, ...parts) : null;
  };
}

/** What has no currency is no group by currency, and requests alone are no group by network. */
function hasPart(row: SumRow, names: readonly DimensionName[]): boolean {
  if (names.includes('currency') && row.currency === '') return false;
  return !(names.includes('media_source') && row.impressions !== undefined && Number(row.impressions) === 0);
}

/** How many of the days a group stands for: those of its day, week or month, else all. */
function countDays(days: readonly string[], names: readonly DimensionName[]) {
  const spans = names.filter((name) => name === 'day' || name === 'week' || name === 'month');
  if (spans.length === 0) return () => days.length;
  const shownOf = (day: string): Shown =>
    Object.assign({}, ...spans.map((name) => DIMENSIONS[name].show(day)));
  const keyOf = (shown: Shown) => JSON.stringify(spans.map((name) => shown[name]));
  const counts = new Map<string, number>();
  for (const day of days) {
    const key = keyOf(shownOf(day));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (shown: Shown) => counts.get(keyOf(shown)) ?? 0;
}
