import type { AppContext } from '#http';
import { type Cell, csvHeaders, toCsv } from '#lib/csv';
import type { Performance } from './answers.ts';
import type { Unconverted } from './engine/unrated.ts';

/** A report's answer. In CSV, `data` is the table and the other fields are headers. */
type Answer = {
  data: readonly Record<string, unknown>[];
  total_rows?: number;
  currency?: string;
  timezone: string;
  unconverted?: Performance['unconverted'];
  unallocated_spend?: Performance['unallocated_spend'];
  rate_day?: string;
  devices_with_incomplete_history?: number;
  counted_through: string | null;
  uncounted: number | null;
};

type Table = Record<string, Record<string, Cell | Unconverted>>;

/** One row per entry of `days`, which is a table within the row. Lists of amounts are JSON. */
function flatten(row: Record<string, unknown>): Record<string, Cell>[] {
  const { days, ...rest } = row as { days?: Table } & Record<string, Cell | Unconverted>;
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
  'before_unconverted',
] as const;
const isLacking = (name: string): boolean => LACKING.some((own) => own === name);

/**
 * The columns of all rows. If any row has an exact amount beside a number, the exact amount is a column too. The last ones are what rows lack:
 * `unconverted` in every table of amounts, so that its columns do not depend on the rates.
 */
function columnsOf(
  rows: readonly Record<string, Cell>[],
  columns: readonly string[],
  hasAmounts: boolean,
): readonly string[] {
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  const lacking = LACKING.filter((name) => found.has(name) || (hasAmounts && name === 'unconverted'));
  if (rows.length === 0) return [...columns.filter((name) => !isLacking(name)), ...lacking];
  // The last row may sum up all others and then has a column of its own.
  return [...new Set([rows[0], rows.at(-1)].flatMap((row) => Object.keys(row ?? {})))]
    .filter((column) => !column.endsWith('_exact') && !isLacking(column))
    .flatMap((column) => (found.has(`${column}_exact`) ? [column, `${column}_exact`] : [column]))
    .concat(lacking);
}

/** The application and period of a report, for the name of its CSV file. */
export type ReportSubject = {
  application: { name: string };
  from: string;
  to: string;
  /** Every event accepted before this time (epoch milliseconds) is in the report; null if unknown. */
  countedThrough: number | null;
  /** How many accepted events may be missing; null if unknown. */
  uncounted: number | null;
};

/**
 * Answers a report as JSON, or its rows as a CSV file and its other fields as headers. `columns` are the header line of a table
 * without rows. `Documented` is the type of the documented answer.
 */
export function answerReport<Documented extends Answer>(
  c: AppContext,
  format: 'json' | 'csv',
  report: Omit<Documented, 'counted_through' | 'uncounted'>,
  columns: readonly string[],
  { application, from, to, countedThrough, uncounted }: ReportSubject,
): Response {
  const through = countedThrough === null ? null : new Date(countedThrough).toISOString();
  if (format === 'json') return c.json({ ...report, counted_through: through, uncounted });
  const name = c.req.path.slice(c.req.path.lastIndexOf('/') + 1);
  for (const [header, value] of Object.entries(csvHeaders([name, application.name, from, to]))) {
    c.header(header, value);
  }
  c.header('X-Timezone', report.timezone);
  if (through) c.header('X-Counted-Through', through);
  if (uncounted !== 0) c.header('X-Uncounted', uncounted === null ? 'unknown' : String(uncounted));
  if (report.currency) c.header('X-Currency', report.currency);
  if (report.unconverted) c.header('X-Unconverted', JSON.stringify(report.unconverted));
  if (report.unallocated_spend) c.header('X-Unallocated-Spend', JSON.stringify(report.unallocated_spend));
  if (report.rate_day) c.header('X-Rate-Day', report.rate_day);
  if (report.devices_with_incomplete_history !== undefined) {
    c.header('X-Devices-With-Incomplete-History', String(report.devices_with_incomplete_history));
  }
  if (report.total_rows !== undefined) c.header('X-Total-Rows', String(report.total_rows));
  const rows = report.data.flatMap(flatten);
  return c.body(
    toCsv(
      columnsOf(rows, columns, report.unconverted !== undefined || columns.includes('unconverted')),
      rows,
    ),
  );
}
