import type { AppContext } from '#http';
import { type Cell, csvHeaders, toCsv } from '#lib/csv';
import type { Performance } from './answers.ts';

/** A report's answer. In CSV, `data` is the table and the other fields are headers. */
type Answer = {
  data: readonly Record<string, unknown>[];
  total_rows?: number;
  currency?: string;
  timezone: string;
  unconverted?: Performance['unconverted'];
  unconverted_currencies?: string[];
  rate_day?: string;
  devices_with_incomplete_history?: number;
  counted_through: string | null;
  uncounted: number | null;
};

/** One row per entry of `days`, which is a table within the row. */
function flatten(row: Record<string, unknown>): Record<string, Cell>[] {
  const { days, ...rest } = row as { days?: Record<string, Record<string, Cell>> } & Record<string, Cell>;
  if (!days) return [rest];
  return Object.entries(days).map(([day, values]) => ({ ...rest, day: Number(day), ...values }));
}

/** The columns of all rows. If any row has an exact amount beside a number, the exact amount is a column too. */
function columnsOf(rows: readonly Record<string, Cell>[], columns: readonly string[]): readonly string[] {
  if (rows.length === 0) return columns;
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  // The last row may sum up all others and then has a column of its own.
  return [...new Set([rows[0], rows.at(-1)].flatMap((row) => Object.keys(row ?? {})))]
    .filter((column) => !column.endsWith('_exact'))
    .flatMap((column) => (found.has(`${column}_exact`) ? [column, `${column}_exact`] : [column]));
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
  if (report.rate_day) c.header('X-Rate-Day', report.rate_day);
  if (report.unconverted_currencies) {
    c.header('X-Unconverted-Currencies', report.unconverted_currencies.join(','));
  }
  if (report.devices_with_incomplete_history !== undefined) {
    c.header('X-Devices-With-Incomplete-History', String(report.devices_with_incomplete_history));
  }
  if (report.total_rows !== undefined) c.header('X-Total-Rows', String(report.total_rows));
  const rows = report.data.flatMap(flatten);
  return c.body(toCsv(columnsOf(rows, columns), rows));
}
