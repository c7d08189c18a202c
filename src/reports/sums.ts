import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { AMOUNTS, type Amount, COUNTS, type Count } from '#catalogue';
import { commaList, toStatement } from '#db';
import { CURRENCIES } from '#lib/currencies';
import { selectRated } from '#money';
import type { SumRow } from './adder.ts';
import { nanosSql, rateDaySql, readNanos } from './money.ts';
import { COSTS, type Part, type Period, rowsIn, type Source } from './sources.ts';

// The sums of the performance report. SQL adds up amounts by day and currency; they are then converted and added up exactly.

/** A row of `sumsSql`. An amount is a comma-separated list of `currency:rate day:sum`, with sums in the form of `nanosSql`. */
type RawRow = { key0?: string; key1?: string } & Partial<
  Record<Amount, string | null> & Record<Count, number | null>
>;

/**
 * SQL that adds up one source by its columns (aliased `key0`, `key1`), with one row per group. Amounts are kept apart by the day whose rate
 * converts them into the reporting currency.
 */
export function sumsSql(part: Part, asked: Asked): SQL {
  const { source } = part;
  if (source.kind !== 'acquired') {
    const rateDay = rateDaySql(source.currency, source.rateDay, asked.reporting);
    return groupsSql(part, rowsIn(source, asked), rateDay);
  }
  // The longest table, with a row per day of revenue. It is only read if there is spend to compare it with: an end before all days makes
  // the range empty, while a condition would be evaluated for every row. Only currencies with a rate are separated by that day.
  const end = sql`iif((SELECT 1 ${rowsIn(COSTS, { ...asked, filters: {} })} LIMIT 1), ${asked.to}, '')`;
  const rateDay = sql`iif(${source.currency} IN rated, ${source.rateDay}, '')`;
  return sql`WITH rated AS MATERIALIZED (${selectRated(asked.teamId, [...CURRENCIES], asked.reporting)})
    ${groupsSql(part, rowsIn(source, asked, end), rateDay)}`;
}

const grouped = (columns: readonly SQLWrapper[]) =>
  columns.length > 0 ? sql`GROUP BY ${commaList(columns)}` : undefined;
const keysOf = (columns: readonly SQLWrapper[]) => columns.map((_, index) => sql.identifier(`key${index}`));
const added = (column: SQLWrapper, alias: SQLWrapper) => sql`sum(${column}) AS ${alias}`;

/** Rows are added up by their stored columns first, so that the keys are built once per group and not once per row. */
function groupsSql({ source, columns, reads }: Part, rows: SQL, storedRateDay: SQL): SQL {
  const [currency, rateDay] = [sql.identifier('currency'), sql.identifier('rateDay')];
  const counts = Object.entries(source.counts).map(([name, stored]) => ({
    name: sql.identifier(name),
    stored,
  }));
  const amounts = Object.entries(source.amounts).map(([name, stored]) => ({
    name: sql.identifier(name),
    parts: { high: sql.identifier(`${name}_high`), low: sql.identifier(`${name}_low`) },
    stored,
  }));
  const stored = [
    ...counts.map((count) => added(count.stored, count.name)),
    ...amounts.flatMap((amount) => [
      added(amount.stored.high, amount.parts.high),
      added(amount.stored.low, amount.parts.low),
    ]),
  ];
  const byCurrency = [
    ...counts.map(({ name }) => added(name, name)),
    ...amounts.map(({ name, parts }) => sql`${nanosSql(parts)} AS ${name}`),
  ];
  const together = [
    ...counts.map(({ name }) => added(name, name)),
    ...amounts.map(
      ({ name }) =>
        sql`group_concat(${currency} || ':' || ${rateDay} || ':' || ${name}) FILTER (WHERE ${name} <> '0/0') AS ${name}`,
    ),
  ];
  const keys = keysOf(columns);
  const keyed = columns.map((column, index) => sql`${column} AS ${sql.identifier(`key${index}`)}`);
  const read = reads.filter((column) => column !== source.currency);
  // A day determines its rate, so it is not grouped by twice: rows in the order of the primary key need no sorting.
  const storedBy = [...read, currency, ...(read.includes(source.rateDay) ? [] : [rateDay])];
  const own = [
    ...read,
    sql`${source.currency} AS ${currency}`,
    sql`${storedRateDay} AS ${rateDay}`,
    ...stored,
  ];
  return sql`SELECT ${commaList([...keys, ...together])}
    FROM (SELECT ${commaList([...keyed, currency, rateDay, ...byCurrency])}
      FROM (SELECT ${commaList(own)} ${rows} ${grouped(storedBy)})
      ${grouped([...keys, currency, rateDay])})
    ${grouped(keys)}`;
}

export type ReadSums = { source: Source; rows: SumRow[] };
export type Asked = Period & { teamId: string; reporting: string };

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
      const sums = sumsSql(part, asked);
      return toStatement(db, maxRows === undefined ? sums : sql`${sums} LIMIT ${maxRows}`);
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
        return { name, currency, rateDay, nanos: readNanos(sum) };
      }),
    ),
  };
}
