import { OTHER } from './block-scan.ts';
import type { Chunk } from './chunk.ts';
import { DIMENSIONS, type DimensionName, isNamed, isTime } from './dimensions.ts';
import { bindFiltered, costConditions } from './filters.ts';
import { Texts } from './interned.ts';
import type { ReportFilters } from './query.ts';

export type CostScan = {
  applicationId: string;
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
};

/** The rows of `costs` behind a page, which has at most as many. A day with more is a page of its own. */
const MAX_PAGE_ROWS = 20_000;

/** A row: day and currency, the names that are grouped by, and the amount in two parts. */
type CostRow = { day: string; currency: string; key0?: string; key1?: string; high: number; low: number };

/** Whether spend is known for groups by these dimensions. Costs name only campaigns, ad sets and creatives. */
export const hasCosts = (names: readonly DimensionName[]): boolean =>
  names.every((name) => DIMENSIONS[name].of.costs !== undefined);

/**
 * SQL for the spend by day, currency and names, latest day first. ?1 is the application, ?2 to ?3 the days. If no grouping is by time, ?4
 * is the reporting currency, and amounts in it have no day.
 */
export function costsSql(names: readonly DimensionName[], filters: ReportFilters): string {
  const day = names.some(isTime) ? 'day' : "iif(currency = ?4, '', day)";
  const keys = names.filter(isNamed).map((name, index) => `${DIMENSIONS[name].of.costs?.sql} AS key${index}`);
  const named = ['date', 'currency', ...keys.map((_, index) => `key${index}`)].join(', ');
  // Names are looked up once per campaign, ad set and creative.
  return `SELECT ${named.replace('date', 'date AS day')}, sum(high) + sum(low) / 1000000000000 AS high,
      sum(low) % 1000000000000 AS low
    FROM (SELECT ${['date', 'currency', ...keys, 'high', 'low'].join(', ')}
      FROM (SELECT ${day} AS date, currency, campaign, adset, creative, sum(amount / 1000000000000) AS high,
          sum(amount % 1000000000000) AS low
        FROM costs WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3${costConditions(filters)}
        GROUP BY date, currency, campaign, adset, creative))
    GROUP BY ${named} ORDER BY date DESC`;
}

/** SQL for the number of rows of each day, latest day first. */
export const costDaysSql = (filters: ReportFilters): string =>
  `SELECT day, count(*) AS count FROM costs
    WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3${costConditions(filters)} GROUP BY day ORDER BY day DESC`;

/** Reads the spend on days `from` to `to`, latest days first. The sums of its rows are the two parts of an amount, low part first. */
export async function* scanCosts(db: D1Database, scan: CostScan): AsyncGenerator<Chunk> {
  const { applicationId, names, from, to, reporting, filters } = scan;
  const sql = costsSql(names, filters);
  const days = await bindFiltered(db, costDaysSql(filters), [applicationId, from, to], filters).all<{
    day: string;
    count: number;
  }>();
  for (const page of pagesOf(days.results)) {
    const values = [applicationId, page.from, page.to, ...(names.some(isTime) ? [] : [reporting])];
    const { results } = await bindFiltered(db, sql, values, filters).all<CostRow>();
    for (const [day, rows] of Map.groupBy(results, (row) => row.day)) {
      yield toChunk(day || page.to, rows, names.filter(isNamed));
    }
  }
}

function pagesOf(days: readonly { day: string; count: number }[]): { from: string; to: string }[] {
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

/** A chunk of rows of one day. Its columns are those of the groupings by name, each with texts of `COST_NAMES`. */
function toChunk(day: string, rows: readonly CostRow[], named: readonly DimensionName[]): Chunk {
  const columns = ['day', 'currency', ...named];
  const lists = columns.map(() => new Texts());
  const keys = rows.map((row) =>
    [row.day || day, row.currency, row.key0 ?? '', row.key1 ?? '']
      .slice(0, columns.length)
      .map((value, index) => lists[index]?.numberOf(value) ?? 0),
  );
  return {
    isOfCosts: true,
    day,
    columns,
    values: lists.map((list) => list.all),
    read: (reader) => {
      const [key, sums] = [new Int32Array(columns.length), new Float64Array(2)];
      for (const [index, row] of rows.entries()) {
        key.set(keys[index] ?? []);
        if (!reader.row(key)) continue;
        sums[0] = row.low;
        sums[1] = row.high;
        reader.add(OTHER, sums, (row.low === 0 ? 0 : 1) | (row.high === 0 ? 0 : 2));
      }
    },
  };
}
