import { and, between, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type CostDimension, isCostDimension, ofDimensions, type Segment, UNKNOWN_SEGMENT } from '#catalogue';
import { commaList, costs, database, named } from '#db';
import { Dictionary } from '#lib/collections/dictionary';
import { memoize } from '#lib/collections/memoize';
import type { DayRange } from '#lib/time';
import { NANOS_PER_HIGH } from '#rollup';
import { type DimensionName, isNamed, isTime } from '../dimensions.ts';
import { costCondition } from '../filters.ts';
import { costNames } from '../names.ts';
import type { ReportFilters } from '../query.ts';
import type { Chunk } from './chunk.ts';

export type CostScan = CostPeriod & { names: readonly DimensionName[]; reporting: string };

/** The rows of `costs` behind a page, which has at most as many. A day with more is a page of its own. */
const MAX_PAGE_ROWS = 20_000;

/** A row: day and currency, the names and dimensions that are grouped by, the amount in two parts, and the impressions. */
type ScannedCostRow = Partial<Record<'key0' | 'key1' | CostDimension, string>> & {
  day: string;
  currency: string;
  high: number;
  low: number;
  impressions: number | null;
};

/** The other groupings by which spend is known. */
const SPENT_BY: readonly DimensionName[] = ['day', 'week', 'month', 'currency'];

/** Whether spend is known for groups by these dimensions: costs name campaigns, ad sets and creatives, and state some dimensions. */
export const hasCosts = (names: readonly DimensionName[]): boolean =>
  names.every((name) => isNamed(name) || isCostDimension(name) || SPENT_BY.includes(name));

/** The costs that a report reads: those of an application's days, up to and including `to`. */
export type CostPeriod = { applicationId: string; from: string; to: string; filters: ReportFilters };

/** `FROM` and `WHERE` for these costs. */
const costsIn = ({ applicationId, from, to, filters }: CostPeriod): SQL =>
  sql`FROM ${costs} WHERE ${and(
    eq(costs.applicationId, applicationId),
    between(costs.day, from, to),
    costCondition(applicationId, filters),
  )}`;

/** The two parts of an integer number of nanos: whole thousands of units, and the rest. So the sums of millions of rows fit into 64 bits. */
export const partsOf = (nanos: SQLWrapper) => ({
  high: sql`${nanos} / ${PER_HIGH}`,
  low: sql`${nanos} % ${PER_HIGH}`,
});
/** Part of the text, because D1 binds numbers as floating-point, and integers must be divided here. */
const PER_HIGH = sql`${NANOS_PER_HIGH}`.inlineParams();

/**
 * SQL for the spend and impressions by day, currency, names and dimensions, latest day first. If no grouping is by time, amounts in the reporting currency have no day.
 */
export function costsSql(scan: CostScan): SQL {
  const { applicationId, names, reporting } = scan;
  const { currency, campaign, adset, creative } = costs;
  const day = names.some(isTime) ? costs.day : sql`iif(${currency} = ${reporting}, '', ${costs.day})`;
  const sums = partsOf(costs.amount);
  const carried = partsOf(sql`sum(low)`);
  const byName = costNames(applicationId);
  const keys = names.filter(isNamed).map((name, index) => ({
    value: byName[name],
    alias: sql.identifier(`key${index}`),
  }));
  const dimensions = names.filter(isCostDimension).map((name) => costs[name]);
  const plain = [currency, ...dimensions].map(named);
  const groups = [...plain, ...keys.map(({ alias }) => alias)];
  const values = [...plain, ...keys.map(({ value, alias }) => sql`${value} AS ${alias}`)];
  const stored = [currency, ...dimensions, campaign, adset, creative];
  // Names are looked up once per campaign, ad set and creative.
  return sql`SELECT date AS day, ${commaList(groups)}, sum(high) + ${carried.high} AS high, ${carried.low} AS low,
      sum(impressions) AS impressions
    FROM (SELECT date, ${commaList(values)}, high, low, impressions
      FROM (SELECT ${day} AS date, ${commaList(stored)}, sum(${sums.high}) AS high, sum(${sums.low}) AS low,
          sum(${costs.impressions}) AS impressions
        ${costsIn(scan)}
        GROUP BY date, ${commaList(stored)}))
    GROUP BY date, ${commaList(groups)} ORDER BY date DESC`;
}

/** SQL for the number of rows of each day, latest day first. */
export const costDaysSql = (asked: CostPeriod): SQL =>
  sql`SELECT ${costs.day} AS day, count(*) AS count ${costsIn(asked)}
    GROUP BY ${costs.day} ORDER BY ${costs.day} DESC`;

/** Reads the spend on days `from` to `to`, latest days first. The sums of its rows are the two parts of an amount, low part first, and impressions. */
export async function* scanCosts(d1: D1Database, scan: CostScan): AsyncGenerator<Chunk> {
  const db = database(d1);
  const days = await db.all<{ day: string; count: number }>(costDaysSql(scan));
  const segmentOf = segmentsBy(scan.names);
  for (const page of pagesOf(days)) {
    const rows = await db.all<ScannedCostRow>(costsSql({ ...scan, ...page }));
    for (const [day, own] of Map.groupBy(rows, (row) => row.day)) {
      yield toChunk(day || page.to, own, scan.names, segmentOf);
    }
  }
}

function pagesOf(days: readonly { day: string; count: number }[]): DayRange[] {
  const pages: { from: string; to: string; count: number }[] = [];
  for (const { day, count } of days) {
    const page = pages.at(-1);
    if (page && page.count + count <= MAX_PAGE_ROWS) {
      page.from = day;
      page.count += count;
    } else pages.push({ from: day, to: day, count });
  }
  return pages;
}

/** The segment of a row, which has the values of the dimensions that are grouped by: for the same values, the same object. */
function segmentsBy(names: readonly DimensionName[]): (row: ScannedCostRow) => Segment {
  const dimensions = names.filter(isCostDimension);
  const segmentOf = memoize(Number.POSITIVE_INFINITY, (key: string) => {
    const values = key.split('\0');
    return { ...UNKNOWN_SEGMENT, ...ofDimensions(dimensions, (_, index) => values[index] ?? '') };
  });
  return (row) => segmentOf(dimensions.map((name) => row[name] ?? '').join('\0'));
}

/** A chunk of rows of one day. Its columns are those of the groupings by name, each with texts of `costNames`. */
function toChunk(
  day: string,
  rows: readonly ScannedCostRow[],
  names: readonly DimensionName[],
  segmentOf: (row: ScannedCostRow) => Segment,
): Chunk {
  const numbered = <Value>(read: (row: ScannedCostRow) => Value) => {
    const own = new Dictionary<Value>();
    const numbers = Int32Array.from(rows, (row) => own.numberOf(read(row)));
    return { values: own.values, numbers };
  };
  const [first, second] = names.filter(isNamed);
  const columns = new Map([
    ['day', numbered((row) => row.day || day)],
    ['currency', numbered((row) => row.currency)],
    ...(first ? [[first, numbered((row) => row.key0 ?? '')] as const] : []),
    ...(second ? [[second, numbered((row) => row.key1 ?? '')] as const] : []),
  ]);
  const columnOf = (read: (row: ScannedCostRow) => number) => Float64Array.from(rows, read);
  const hasImpressions = rows.some(({ impressions }) => impressions);
  const sums = [
    columnOf(({ low }) => low),
    columnOf(({ high }) => high),
    hasImpressions ? columnOf(({ impressions }) => impressions ?? 0) : null,
  ];
  const segments = numbered(segmentOf);
  return { isOfCosts: true, size: rows.length, columns, segments, sums };
}
