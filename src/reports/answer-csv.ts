import { type AppContext, givingWay } from '#http';
import { type CsvCell, csvHeaders, toCsvInTurns } from '#lib/encoding/csv';
import { isoOrNull } from '#lib/time';
import type { Unconverted } from './engine/unrated.ts';

/** A report's answer. In CSV, `data` is the table, and the other fields are headers if they are single values or lists of amounts. */
type TabularAnswer = {
  data: readonly Record<string, unknown>[];
  timezone: string;
  unconverted?: readonly object[];
};

type DayTable = Record<string, Record<string, CsvCell | Unconverted>>;

/** One row per entry of `days`, which is a table within the row. Lists of amounts are JSON. */
function flatten(row: Record<string, unknown>): Record<string, CsvCell>[] {
  const { days, ...rest } = row as { days?: DayTable } & Record<string, CsvCell | Unconverted>;
  const rows = days
    ? Object.entries(days).map(([day, values]) => ({ ...rest, day: Number(day), ...values }))
    : [rest];
  return rows.map((own) =>
    Object.fromEntries(
      Object.entries(own).map(([name, cell]) => [name, Array.isArray(cell) ? JSON.stringify(cell) : cell]),
    ),
  );
}

/** What the figures of a row lack, and what its earlier figure does. */
export const LACKING = [
  'unconverted',
  'roas_unconverted',
  'cohort_unconverted',
  'incomplete_days',
  'unstated',
  'before_unconverted',
] as const;
const isLacking = (name: string): boolean => LACKING.some((own) => own === name);

/**
 * The columns of all rows. If any row has an exact amount beside a number, the exact amount is a column too. The last ones are what rows lack:
 * `unconverted` in every table of amounts, so that its columns do not depend on the rates.
 */
function columnsOf(
  rows: readonly Record<string, CsvCell>[],
  columns: readonly string[],
  hasAmounts: boolean,
): readonly string[] {
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  const lacking = LACKING.filter((name) => found.has(name) || (hasAmounts && name === 'unconverted'));
  if (rows.length === 0) return [...columns.filter((name) => !isLacking(name)), ...lacking];
  // The last rows may sum up all others and what is in none, and then have columns of their own.
  return [...new Set([rows[0], ...rows.slice(-2)].flatMap((row) => Object.keys(row ?? {})))]
    .filter((column) => !column.endsWith('_exact') && !isLacking(column))
    .flatMap((column) => (found.has(`${column}_exact`) ? [column, `${column}_exact`] : [column]))
    .concat(lacking);
}

/** The application and period of a report, for the name of its CSV file. */
export type ReportSubject = {
  application: { name: string };
  from: string;
  to: string;
  /** Of which devices it is, if that was chosen. */
  attribution?: string | undefined;
  /** Every event accepted before this time (epoch milliseconds) is in the report; null if unknown. */
  countedThrough: number | null;
  /** How many accepted events may be missing; null if unknown. */
  uncounted: number | null;
};

/** `total_rows` as `X-Total-Rows`. */
const headerOf = (field: string) =>
  `X-${field.replaceAll(/(^|_)[a-z]/g, (start) => start.replace('_', '-').toUpperCase())}`;

/** Headers are ASCII, as are all these values. */
function headersOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (Array.isArray(value)) return [[headerOf(name), JSON.stringify(value)]];
      return typeof value === 'string' || typeof value === 'number' ? [[headerOf(name), String(value)]] : [];
    }),
  );
}

/** Answers a report's rows as a CSV file, and its other fields as headers. `columns` are the header line of a table without rows. */
export async function answerCsv(
  c: AppContext,
  { data, ...fields }: TabularAnswer,
  columns: readonly string[],
  { application, from, to, attribution, countedThrough, uncounted }: ReportSubject,
): Promise<Response> {
  const path = c.req.path.slice(c.req.path.lastIndexOf('/') + 1);
  const headers = {
    ...csvHeaders([path, application.name, ...(attribution ? [attribution] : []), from, to]),
    ...headersOf({ ...fields, counted_through: isoOrNull(countedThrough) }),
    ...(uncounted === 0 ? {} : headersOf({ uncounted: uncounted ?? 'unknown' })),
  };
  const rows = data.flatMap(flatten);
  const hasAmounts = fields.unconverted !== undefined || columns.includes('unconverted');
  const text = await toCsvInTurns(columnsOf(rows, columns, hasAmounts), rows, givingWay());
  return c.body(text, 200, headers);
}
