import { CURRENCIES } from '#lib/currencies';
import { ratedSql } from '#money';
import { AMOUNTS, type Amount, COUNTS, type Count, type SumRow } from './adder.ts';
import { bindFiltered } from './filters.ts';
import { type AmountSql, microsSql, rateDaySql, readMicros } from './money.ts';
import type { ReportFilters } from './query.ts';
import { COSTS, type Part, type Source } from './sources.ts';

// The sums of the performance report. SQL adds up amounts by day and currency; they are then converted and added up exactly.

/** A row of `sumsSql`. An amount is a comma-separated list of `currency:rate day:sum`, with sums in the form of `microsSql`. */
type RawRow = { key0?: string; key1?: string } & Partial<
  Record<Amount, string | null> & Record<Count, number | null>
>;

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
